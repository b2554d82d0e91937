import { escapeText } from '../model/escape-text.ts'
import type { Evidence } from '../model/evidence.ts'
import type { Words } from './audience.ts'
import { isBackendWell } from './rules.ts'

export const LINKS = [
  'dns',
  'edge',
  'tls',
  'server_block',
  'proxy_pass',
  'backend_tcp',
  'backend_health',
  'error_log',
] as const

/** One link between a visitor and the backend. `ok` is null when it was not checked or is not known; `detail` says why. */
export interface Link {
  readonly link: (typeof LINKS)[number]
  readonly ok: boolean | null
  readonly detail: string
}

type DescribeLink = (evidence: Evidence, words: Words) => readonly [ok: boolean | null, detail: string]

const NO_TIME = 'No time was left to check this link.'

const GAPS: Readonly<Record<NonNullable<Evidence['listenGap']>, string>> = {
  name: 'nginx listens for the host by a name, so its address is not known and the host was not asked.',
  proxy_protocol:
    'nginx expects the PROXY protocol for the host, which Drawbridge does not speak, so the host was not asked.',
  quic: 'nginx listens for the host only with QUIC, which Drawbridge does not speak, so the host was not asked.',
  unix_socket: 'nginx listens for the host only on a unix socket, so the host was not asked.',
}

const DESCRIPTIONS: Readonly<Record<Link['link'], DescribeLink>> = {
  dns: ({ name, records }, { addresses, inside }) => {
    switch (name.kind) {
      case 'here':
        if (records === 'not_ours')
          return [false, 'The name points to the edge, but the zone does not have exactly the applied records.']
        return [true, inside(`The name points to the edge (${addresses(name.found)}).`, 'The name points to the edge.')]
      case 'elsewhere':
        return [false, `The name points to ${addresses(name.found)}.`]
      case 'missing':
        return [false, 'The name has no address in DNS.']
      case 'uncertain':
        return [null, inside(`${name.reason}.`, 'The DNS server gave no reliable answer.')]
      case 'not_judged':
        return [
          null,
          inside(
            `The name has an address (${addresses(name.found)}). It is not known whether this is the address of the edge.`,
            'The name has an address. It is not known whether this is the address of the edge.',
          ),
        ]
      case 'not_asked':
        return [
          null,
          name.why === 'no_time'
            ? NO_TIME
            : 'The zone is not managed by this installation, and no resolver is configured.',
        ]
    }
  },
  edge: ({ edge, listenGap }) => (listenGap ? [null, GAPS[listenGap]] : [isOpen(edge), connection(edge, 'The edge')]),
  tls: ({ tls, at }) => {
    if (tls.kind === 'not_used') return [null, 'The host is served without TLS.']
    if (tls.kind === 'unknown') return [null, 'No TLS handshake was made.']
    if (tls.kind === 'refused') return [false, 'The edge refuses the TLS handshake for this name.']
    const until = new Date(tls.notAfter).toISOString()
    if (!tls.coversHost) return [false, 'The certificate does not cover the name.']
    if (tls.notBefore > at)
      return [false, `The certificate is not valid before ${new Date(tls.notBefore).toISOString()}.`]
    return tls.notAfter <= at
      ? [false, `The certificate expired at ${until}.`]
      : [true, `The certificate covers the name and is valid until ${until}.`]
  },
  server_block: (evidence, { inside }) => {
    const [ok, detail] = blockLink(evidence)
    const [first] = evidence.configuration.broken
    if (!first) return [ok, detail]
    const place = `${escapeText(first.path)}${first.line === null ? '' : `, line ${first.line}`}`
    const part = inside(` (${first.sentence}: ${place})`, '')
    return [ok, `${detail} Drawbridge does not understand a part of nginx's configuration${part}. nginx may accept it.`]
  },
  proxy_pass: ({ target }, { backend }) => {
    switch (target.kind) {
      case 'found':
        return [
          !target.moved,
          `nginx proxies requests to ${backend}${protocolOf(target)}${target.moved ? ', which is not the planned backend' : ''}.`,
        ]
      case 'none':
        return [null, 'The server block has no backend. nginx itself answers.']
      case 'variable':
        return [null, 'The backend depends on the request, or the configuration does not tell it with certainty.']
      case 'name_unresolved':
        return [false, 'The name of the backend does not resolve.']
      case 'unknown':
        return [null, 'There is no server block to read.']
    }
  },
  backend_tcp: ({ backend: { tcp } }) => [isOpen(tcp), connection(tcp, 'The backend')],
  backend_health: (evidence) => {
    const { health, speaksTls } = evidence.backend
    if (speaksTls) return [false, 'The backend expects TLS, but the edge sends plain HTTP.']
    if (health === null)
      return [
        null,
        evidence.backend.tcp === 'open'
          ? 'The backend did not answer within the time of a diagnosis.'
          : 'The backend was not asked.',
      ]
    const answer =
      health.httpStatus === undefined
        ? 'The backend gave no HTTP answer'
        : `The backend answered HTTP ${health.httpStatus}`
    return [isBackendWell(evidence), `${answer} on ${evidence.path} after ${health.latencyMs} ms.`]
  },
  error_log: ({ errorClass }) =>
    errorClass === null
      ? [null, 'The end of the error log has no recent line about this host.']
      : [null, `The newest error log line about this host has the class ${errorClass}.`],
}

/** Other protocols than HTTP are named. */
function protocolOf({ proxyPass }: Evidence['target']): string {
  const [, protocol] = /^(fastcgi|s?uwsgi|scgi|grpcs?|memcached):/.exec(proxyPass ?? '') ?? []
  return protocol === undefined ? '' : ` (${protocol})`
}

function blockLink({
  block,
  isKnown,
  file,
  configuration,
  visit,
}: Evidence): readonly [ok: boolean | null, detail: string] {
  if (file === 'missing') return [false, 'A file of the host is missing.']
  if (isKnown === false) return [false, 'The running nginx does not serve this host.']
  if (block.kind === 'other') return [false, 'Another server block answers.']
  if (block.kind === 'none') return [false, 'No server block on disk answers for the host.']
  if (block.kind === 'unknown') return [null, 'It is not known which server block answers.']
  if (visit.kind === 'answer' && visit.entry === 'other')
    return [false, 'The running nginx uses another server block for the host than the one on disk.']
  if (file === 'edited') return [false, 'The own server block of the host answers, but it was edited after the apply.']
  if (configuration.changedSinceLoad)
    return [false, 'The own server block of the host was changed after nginx loaded it.']
  return [true, 'The own server block of the host answers.']
}

export const chainOf = (evidence: Evidence, words: Words): Link[] =>
  LINKS.map((link) => {
    const [ok, detail] = DESCRIPTIONS[link](evidence, words)
    return { link, ok, detail }
  })

const isOpen = (result: Evidence['edge']): boolean | null => (result === 'unknown' ? null : result === 'open')

function connection(result: Evidence['edge'], who: string): string {
  switch (result) {
    case 'open':
      return `${who} accepts connections.`
    case 'refused':
      return `${who} refuses connections.`
    case 'timeout':
      return `${who} does not answer in time.`
    case 'unreachable':
      return `${who} cannot be reached.`
    case 'unknown':
      return `${who} was not asked.`
  }
}
