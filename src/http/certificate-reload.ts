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
 * Serves new certificate files as soon as they are there. Polled by name: renewal tools replace files and links, which
 * watching an inode would miss. A pair that does not fit, as between the writing of the two, leaves the old one in use.
 */
export function reloadOnChange(server: Server, files: TlsFiles, log: Log, intervalMs = 2000): () => void {
  const reload = () => {
    try {
      const pair = readTlsFiles(files)
      createSecureContext(pair)
      server.setSecureContext(pair)
      log.info({ certificateFile: files.certificateFile }, "The listener's certificate was loaded anew")
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      log.error(
        { certificateFile: files.certificateFile, code },
        "The listener's new certificate cannot be used; the old one stays",
      )
    }
  }
  const paths = [files.certificateFile, files.keyFile]
  for (const path of paths) watchFile(path, { interval: intervalMs, persistent: false }, reload)
  return () => {
    for (const path of paths) unwatchFile(path, reload)
  }
}
