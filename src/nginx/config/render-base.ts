import { EDGE_NAME } from '../../edge/contract/visit.ts'
import { ANSWER, QUESTION, UNKNOWN_HOST } from '../../edge/record/proof.ts'
import { releasedFolder } from '../../estate/layout.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { formatEndpoint } from '../../model/address.ts'
import type { EntryOptions } from '../../model/exposure.ts'
import { http2Line, OWN_TLS, parts, pemVariable, tlsAlone } from './own-tls.ts'
import { PEM_KINDS, pemFolder, shardGlob } from './shards.ts'
import { type Listening, nginxName, socketsOf } from './sockets.ts'

/** The variables of the entries for upgrades. */
export const UPGRADE_MAPS = `map $http_upgrade $drawbridge_upgrade { default ""; websocket websocket; }
map $drawbridge_upgrade $drawbridge_connection { default ""; websocket upgrade; }`

/** One version of all files that nginx reads for Drawbridge's hosts. */
interface Generation {
  readonly number: number
  /** The absolute path of its files. */
  readonly folder: string
  /** Whether there are hosts of each kind as lines. */
  readonly serves: { readonly http: boolean; readonly https: boolean }
}

/**
 * The file that nginx includes: the default servers, the servers of all hosts, and the includes of a generation. It must not
 * contain a directive that may occur only once in nginx's configuration: the administrator may add the same directive at any time.
 */
export function renderBase(
  settings: Listening & Pick<EdgeSettings, 'folder'>,
  { number, folder, serves }: Generation,
): string {
  const include = (kind: string) => `include ${folder}/${shardGlob(kind)};`
  return `${headerOf(number)}
# nginx fixes map_hash_bucket_size and map_hash_max_size at the first map: directives with these names must stand before this file.
${sharedLine(settings)}

# Upgrades are passed on for WebSockets only.
${UPGRADE_MAPS}

# Hosts as lines: where each is proxied to, its answer to the question of its plan, and its ACME challenges.
map $host $drawbridge_backend { default ""; ${include('backends')} }
map $host $drawbridge_proof { default ""; ${include('answers')} }
map "${variableOf(QUESTION)}:$drawbridge_proof" $drawbridge_answer {
  default "";
  "~^([0-9a-f]{32}):\\1:(?<drawbridge_answered>[0-9a-f]{32})$" $drawbridge_answered;
}
map "$host $uri" $drawbridge_challenge { default ""; ${include('challenges')} }

# The certificate of a host, by the name that the visitor asks for: host -> id, then id -> PEM, in parts where it is long.
map $ssl_server_name $drawbridge_certificate { default ""; ${include('tls/hosts')} }
${pemMaps(include)}

# The first servers of ours, and so the default servers where nobody else is: names that nobody serves are refused. Not by
# default_server, which nginx takes only once for an address.
server {
${listenLines(settings, 'http')}
  server_name ${EDGE_NAME};
  default_type text/plain;
  add_header ${UNKNOWN_HOST.header} ${UNKNOWN_HOST.value} always;
  return 404 "No such host on this edge.\\n";
}

server {
${listenLines(settings, 'https', { alone: tlsAlone(settings.hasHttp2) })}${http2Line(settings.hasHttp2)}
  server_name ${EDGE_NAME};
${OWN_TLS}
  ssl_reject_handshake on;
  return 421;
}
${serves.http ? plainServer(settings, include('names-http')) : ''}${serves.https ? secureServers(settings, include('names-https')) : ''}
${include('blocks')}
# Hosts that are not managed here any more.
include ${releasedFolder(settings.folder)}/*.conf;
`
}

/** The first line names the generation. */
const headerOf = (number: number): string =>
  `# Made by Drawbridge: generation ${number}. It is written anew with every change. Do not edit.`

/** All hosts without TLS. */
const plainServer = (settings: Listening, names: string): string => `
server {
${listenLines(settings, 'http')}
  ${names}
${proxied('http', settings.ports.http)}
  location / { proxy_pass $drawbridge_backend; }
  location ^~ /.well-known/acme-challenge/ {
${CHALLENGE}    proxy_pass $drawbridge_backend;
  }
}
`

/** All hosts with TLS, and their redirects from HTTP. */
const secureServers = (settings: Listening, names: string): string => `
server {
${listenLines(settings, 'http')}
  ${names}
  add_header ${ANSWER} $drawbridge_answer always;
  location / { ${redirect(settings)} }
  location ^~ /.well-known/acme-challenge/ {
${CHALLENGE}    ${redirect(settings)}
  }
}
server {
${listenLines(settings, 'https', { alone: tlsAlone(settings.hasHttp2) })}${http2Line(settings.hasHttp2)}
  ${names}
${OWN_TLS}
${proxied('https', settings.ports.https)}
  location / { proxy_pass $drawbridge_backend; }
}
`

const redirect = ({ ports: { https } }: Listening): string =>
  `return 308 https://$host${https === 443 ? '' : `:${https}`}$request_uri;`

const CHALLENGE = `    default_type text/plain;
    if ($drawbridge_challenge != "") { return 200 $drawbridge_challenge; }
`

const proxied = (scheme: 'http' | 'https', port: number): string =>
  `  add_header ${ANSWER} $drawbridge_answer always;
  ${maxBody()}
${proxySettings('$host', port === (scheme === 'https' ? 443 : 80) ? '$host' : `$host:${port}`, scheme, '  ')}
  proxy_set_header ${QUESTION} "";
  proxy_hide_header ${ANSWER};
  # What nginx does by itself where proxy_pass has no variable.
  proxy_redirect $drawbridge_backend/ /;`

export const maxBody = (size = '64m'): string => `client_max_body_size ${size};`

/** This edge is the first hop that a backend may trust, so the forwarding headers of visitors are replaced. */
export const proxySettings = (
  host: string,
  authority: string,
  scheme: 'http' | 'https',
  indent: string,
  { timeouts: { connect = 5, send = 60, read = 300 } = {}, websocket = true }: EntryOptions = {},
): string =>
  [
    'proxy_http_version 1.1;',
    `proxy_connect_timeout ${connect}s;`,
    `proxy_send_timeout ${send}s;`,
    `proxy_read_timeout ${read}s;`,
    `proxy_set_header Host ${host};`,
    `proxy_set_header Upgrade ${websocket ? '$drawbridge_upgrade' : '""'};`,
    `proxy_set_header Connection ${websocket ? '$drawbridge_connection' : '""'};`,
    'proxy_set_header X-Real-IP $remote_addr;',
    'proxy_set_header X-Forwarded-For $remote_addr;',
    `proxy_set_header X-Forwarded-Host ${authority};`,
    `proxy_set_header X-Forwarded-Proto ${scheme};`,
    'proxy_set_header Forwarded "";',
    'proxy_set_header Proxy "";',
    `proxy_hide_header ${UNKNOWN_HOST.header};`,
  ]
    .map((line) => indent + line)
    .join('\n')

/** The variable in which nginx keeps a header of the request. */
export const variableOf = (header: string): string => `$http_${header.toLowerCase().replaceAll('-', '_')}`

/**
 * One `listen` line per address. `alone`: the options at an address that only our servers use. At a shared address TLS is the only
 * option. Other options would change the administrator's servers. Without TLS, our servers would answer in plain text after the
 * administrator's servers are removed.
 */
const listenLines = (listening: Listening, scheme: 'http' | 'https', { alone = '' } = {}): string =>
  socketsOf(listening)
    [scheme].map(({ address, isShared }) => {
      const options = isShared ? (scheme === 'https' ? ' ssl' : '') : alone
      return `  listen ${formatEndpoint({ address, port: listening.ports[scheme] })}${options};`
    })
    .join('\n')

/** Records the sockets that we share with the administrator's servers: nginx cannot leave such a socket before it is closed. */
const sharedLine = (listening: Listening): string => {
  const { http, https } = socketsOf(listening)
  const named = (sockets: typeof http, port: number) =>
    sockets.filter(({ isShared }) => isShared).map(({ address }) => `${nginxName(address)}:${port}`)
  const shared = [...named(http, listening.ports.http), ...named(https, listening.ports.https)]
  return `${SHARED}${shared.join(' ') || 'none'}`
}
const SHARED = '# Shared with servers of others: '

/**
 * The sockets that we shared with the administrator's servers when the base file was written. Undefined for a file of an earlier
 * version.
 */
export function sharedIn(base: string): ReadonlySet<string> | undefined {
  const line = base.split('\n').find((one) => one.startsWith(SHARED))
  return line === undefined ? undefined : new Set(line.slice(SHARED.length).split(' '))
}

const pemMaps = (include: (kind: string) => string): string =>
  PEM_KINDS.flatMap((kind) =>
    parts(kind).map(
      (part) =>
        `map $drawbridge_certificate ${pemVariable(kind, part)} { default ""; ${include(pemFolder(kind, part))} }`,
    ),
  ).join('\n')
