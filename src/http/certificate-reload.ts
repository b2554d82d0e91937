import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type Server } from 'node:tls'
import type { Log } from '../runtime/log.ts'

export interface TlsFiles {
  readonly certificateFile: string
  readonly keyFile: string
}

export const readTlsFiles = ({ certificateFile, keyFile }: TlsFiles): { cert: Buffer; key: Buffer } => ({
  cert: readFileSync(certificateFile),
  key: readFileSync(keyFile),
})

/**
 * Loads the certificate files again when they change. The files are polled by name, because renewal tools replace files
 * and links, and a watch on an inode would miss that. A pair that does not match, as between two writes, is not used.
 */
export function reloadOnChange(server: Server, files: TlsFiles, log: Log, intervalMs = 2000): () => void {
  const reload = () => {
    try {
      const pair = readTlsFiles(files)
      createSecureContext(pair)
      server.setSecureContext(pair)
      log.info(
        { event: 'listener_certificate_loaded', certificateFile: files.certificateFile },
        'The new certificate of the listener was loaded.',
      )
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      log.error(
        { event: 'listener_certificate_refused', certificateFile: files.certificateFile, code },
        'The new certificate of the listener cannot be used; the old one stays in use.',
      )
    }
  }
  const paths = [files.certificateFile, files.keyFile]
  for (const path of paths) watchFile(path, { interval: intervalMs, persistent: false }, reload)
  return () => {
    for (const path of paths) unwatchFile(path, reload)
  }
}
