import { formatEndpoint } from '../../model/address.ts'
import type { EdgeSettings } from '../settings.ts'
import { hostEntry, hostFile, MAX_PARTS, type PemKind, pemGlob, releasedFolder } from './layout.ts'

/** The header of the default server's response. It distinguishes an unknown host from a 404 of a backend. */
export const UNKNOWN_HOST = { header: 'X-Drawbridge-Edge', value: 'no-such-host' }

export type Listening = Pick<EdgeSettings, 'listen' | 'ports'>

/** Directives that may occur only once in the configuration. They are left out when the administrator's files have them. */
export const ROOM_FOR_NAMES = ['server_names_hash_bucket_size', 'map_hash_bucket_size']

/** The file that nginx includes: the default servers, the certificate maps, and the includes of the hosts. */
export function renderBase(settings: Listening & Pick<EdgeSettings, 'folder'>, leftOut: ReadonlySet<string>): string {
  const { folder, ports } = settings
  const room = ROOM_FOR_NAMES.filter((directive) => !leftOut.has(directive)).map((directive) => `${directive} 512;`)
  return `# Made by Drawbridge, which writes it anew when it starts. Do not edit.

${room.join('\n')}

# Upgrades are passed on for WebSockets only.
map $http_upgrade $drawbridge_upgrade { default ""; websocket websocket; }
map $drawbridge_upgrade $drawbridge_connection { default ""; websocket upgrade; }

# The certificate of a host, by the name that the visitor asks for: host -> id, then id -> PEM, in parts where it is long.
map $ssl_server_name $drawbridge_certificate { default ""; include ${folder}/${hostEntry('*')}; }
${pemMaps(folder, 'certificate')}
${pemMaps(folder, 'key')}

# Names that nobody serves are refused.
server {
${listenLines(settings, ports.http, ' default_server')}
  default_type text/plain;
  add_header ${UNKNOWN_HOST.header} ${UNKNOWN_HOST.value} always;
  return 404 "No such host on this edge.\\n";
}

# The one TLS server that holds all certificates. ssl_reject_handshake is for names that no server block has.
server {
${listenLines(settings, ports.https, ' ssl http2 default_server')}
  ssl_certificate data:${pemVariables('certificate')};
  ssl_certificate_key data:${pemVariables('key')};
  ssl_reject_handshake on;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_ciphers ${CIPHERS};
  ssl_prefer_server_ciphers off;
  ssl_session_cache shared:drawbridge:10m;
  ssl_session_timeout 1d;
  ssl_session_tickets off;
  return 421;
}

include ${folder}/${hostFile('*')};
# Hosts that are not managed here any more.
include ${releasedFolder(folder)}/*.conf;
`
}

/** One `listen` line per address. */
export const listenLines = ({ listen }: Listening, port: number, options = ''): string =>
  listen.map((address) => `  listen ${formatEndpoint({ address, port })}${options};`).join('\n')

/** For TLS 1.2. All have forward secrecy and authenticated encryption. */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

const parts = (kind: PemKind): number[] => Array.from({ length: MAX_PARTS[kind] }, (_, index) => index + 1)

const pemVariable = (kind: PemKind, part: number): string => `$drawbridge_${kind}_${part}`

const pemVariables = (kind: PemKind): string =>
  parts(kind)
    .map((part) => pemVariable(kind, part))
    .join('')

const pemMaps = (folder: string, kind: PemKind): string =>
  parts(kind)
    .map(
      (part) =>
        `map $drawbridge_certificate ${pemVariable(kind, part)} { default ""; include ${folder}/${pemGlob(kind, part)}; }`,
    )
    .join('\n')
