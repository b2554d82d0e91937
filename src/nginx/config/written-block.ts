import { serverName } from '../../estate/reading/text/written-names.ts'
import { OWN_TLS } from './own-tls.ts'

/** Server blocks with the name of their host in the form for nginx. */
export const withWrittenName = (host: string, text: string): string =>
  text.replaceAll(nameLine(host), () => nameLine(serverName(host)))

/**
 * The server blocks of an entry in the form for nginx. Their TLS server has all certificates, because another server may be the
 * default server.
 */
export const writtenBlock = (host: string, text: string): string =>
  withWrittenName(
    host,
    inTlsServer(text, (server) =>
      server.includes('\n  ssl_certificate ')
        ? server
        : server
            .replaceAll(/^( {2}listen \S+);$/gm, (_, listen: string) => `${listen} ssl;`)
            .replace(nameLine(host), (name) => `${name}${OWN_TLS}\n`),
    ),
  )

/** Inverse of `writtenBlock`. An edited block that is not recognized stays unchanged. */
export const plainBlock = (host: string, text: string): string =>
  inTlsServer(
    text.replaceAll(nameLine(serverName(host)), () => nameLine(host)),
    (server) =>
      server
        .replace(`${nameLine(host)}${OWN_TLS}\n`, () => nameLine(host))
        .replaceAll(/^( {2}listen \S+) ssl;$/gm, (_, listen: string) => `${listen};`),
  )

const nameLine = (name: string): string => `\n  server_name ${name};\n`

/** Changes the last server of an entry with TLS. */
function inTlsServer(text: string, change: (server: string) => string): string {
  const at = text.lastIndexOf('\nserver {\n')
  return at < 0 || !text.includes(CHOSEN_BY_NAME) ? text : text.slice(0, at) + change(text.slice(at))
}

/** In the header of server blocks with TLS. */
export const CHOSEN_BY_NAME = '\n# Its certificate is chosen by name in drawbridge.conf.'
