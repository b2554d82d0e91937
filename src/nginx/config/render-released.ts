import { createHash } from 'node:crypto'
import type { OutsideFile } from '../../estate/layout.ts'
import { releasedFile, releasedPlace } from '../../estate/layout.ts'
import type { Listening } from './sockets.ts'
import { withWrittenName } from './written-block.ts'

interface Standing {
  readonly host: string
  /** The present configuration file of the host. */
  readonly text: string
  /** The certificate and key of the host. Undefined without TLS. */
  readonly pair: { readonly certificatePem: string; readonly keyPem: string } | undefined
}

/**
 * The files of a host that is no longer managed: its texts in the edge's folder, made independent of that folder. The certificate
 * and key become two files of their own, and the variables of the base file get definitions of their own.
 */
export function renderReleased({ host, text, pair }: Standing, { ports }: Listening, folder: string): OutsideFile[] {
  const path = (ending: 'crt' | 'key' | 'conf') => releasedFile(host, ending)
  const tls = `  ssl_certificate ${releasedPlace(folder, path('crt'))};\n  ssl_certificate_key ${releasedPlace(folder, path('key'))};\n`
  const header = `# ${host}: was made by Drawbridge and is not managed by it any more. Drawbridge does not change this file.`
  const content = `${header}\n${withWrittenName(host, renderAlone(host, text, ports.https, pair && tls))}`
  const files: OutsideFile[] = [{ path: path('conf'), content, secret: false }]
  if (!pair) return files
  return [
    { path: path('crt'), content: pair.certificatePem, secret: false },
    { path: path('key'), content: pair.keyPem, secret: true },
    ...files,
  ]
}

/** A block that listens for HTTPS without a certificate gets one. The base file's variables do not count as a certificate. */
function withTls(text: string, port: number, tls: string): string {
  const listen = new RegExp(`^(\\s*listen\\s+[^;\\s]*?:?${port})(?: ssl)?(;)`, 'gm')
  const block = text.replaceAll(/^\s*ssl_certificate(?:_key)? data:\$drawbridge_[^;\n]*;\n/gm, '')
  if (!listen.test(block) || /^\s*ssl_certificate\s/m.test(block)) return block
  return block.replace(listen, '$1 ssl$2').replace(/^server\s*\{\n/, (start) => `${start}${tls}`)
}

/**
 * Server blocks of a host that need nothing of the edge: the http block of any nginx can include them. `tls`: the directives that
 * name its certificate and key. Undefined without TLS.
 */
export function renderAlone(host: string, text: string, httpsPort: number, tls: string | undefined): string {
  const own = `$released_${createHash('sha256').update(host).digest('hex').slice(0, 12)}`
  const blocks = text
    .split(/^(?=server\b)/m)
    .map((block) => (tls === undefined ? block : withTls(block, httpsPort, tls)))
  const body = blocks
    .join('')
    .replace(/^# [^\n]*made by Drawbridge[^\n]*\n(?:# [^\n]*\n)*/, '')
    .replaceAll('$drawbridge_upgrade', `${own}_upgrade`)
    .replaceAll('$drawbridge_connection', `${own}_connection`)
  return `map $http_upgrade ${own}_upgrade { default ""; websocket websocket; }
map ${own}_upgrade ${own}_connection { default ""; websocket upgrade; }
${body.startsWith('\n') ? '' : '\n'}${body}`
}
