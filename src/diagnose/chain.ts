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

/** One link between a visitor and the backend. `ok` null: not asked, or not to be told, and `detail` says why. */
export interface Link {
  readonly link: (typeof LINKS)[number]
  readonly ok: boolean | null
  readonly detail: string
}

type Look = (evidence: Evidence, words: Words) => readonly [ok: boolean | null, detail: string]

const NO_TIME = 'There was no time left to look.'

const LOOKS: Readonly<Record<Link['link'], Look>> = {
  dns: ({ name, records }, { addresses, inside }) => {
    switch (name.kind) {
      case 'here':
        if (records === 'not_ours')
          return [false, 'The name leads to the edge, but the zone does not hold exactly what was applied.']
        return [true, inside(`The name leads to the edge (${addresses(name.found)}).`, 'The name leads to the edge.')]
      case 'elsewhere':
        return [false, `The name leads to ${addresses(name.found)}.`]
      case 'missing':
        return [false, 'The name has no address in DNS.']
      case 'uncertain':
        return [null, inside(`${name.reason}.`, 'The DNS server gave no answer to rely on.')]
      case 'not_judged':
        return [
          null,
          inside(
            `The name has an address (${addresses(name.found)}); whether it leads here nobody can tell.`,
            'The name has an address; whether it leads here nobody can tell.',
          ),
        ]
      case 'not_asked':
        return [null, name.why === 'no_time' ? NO_TIME : 'The zone is not managed here, and no resolver is configured.']
    }
  },
  edge: ({ edge }) => [isOpen(edge), connection(edge, 'The edge')],
  tls: ({ tls, at }) => {
    if (tls.kind === 'not_used') return [null, 'The host is served without TLS.']
    if (tls.kind === 'unknown') return [null, 'No handshake came about.']
    if (tls.kind === 'refused') return [false, 'The edge refuses the handshake for this name.']
    const until = new Date(tls.notAfter).toISOString()
    if (!tls.coversHost) return [false, 'The certificate is for other names.']
    if (tls.notBefore > at)
      return [false, `The certificate is not valid before ${new Date(tls.notBefore).toISOString()}.`]
    return tls.notAfter <= at
      ? [false, `The certificate expired at ${until}.`]
      : [true, `The certificate covers the name and is valid until ${until}.`]
  },
  server_block: ({ block, isKnown, file, configuration, visit }) => {
    if (file === 'missing') return [false, 'A file of the host is gone.']
    if (isKnown === false) return [false, 'nginx says that it serves no such host.']
    if (block.kind === 'other') return [false, 'The server block of somebody else answers.']
    if (block.kind === 'none') return [false, 'No server block on disk answers for the host.']
    if (block.kind === 'unknown') return [null, 'The configuration could not be read.']
    if (visit.kind === 'answer' && visit.entry === 'other')
      return [false, 'nginx runs another server block for the host than the one on disk.']
    if (file === 'edited') return [false, 'Its own server block answers, but was edited since it was applied.']
    if (configuration.changedSinceLoad) return [false, 'Its own server block was changed after nginx loaded it.']
    return [true, 'Its own server block answers.']
  },
  proxy_pass: ({ target }, { backend }) => {
    switch (target.kind) {
      case 'found':
        return [
          !target.moved,
          `Requests are passed on to ${backend}${target.moved ? ', which is not what was planned' : ''}.`,
        ]
      case 'none':
        return [null, 'Requests are passed on to no backend; nginx answers by itself.']
      case 'variable':
        return [null, 'Only a request would tell where requests are passed on to.']
      case 'name_unresolved':
        return [false, 'The name of the backend does not resolve.']
      case 'unknown':
        return [null, 'There is no server block to read it from.']
    }
  },
  backend_tcp: ({ backend: { tcp } }) => [isOpen(tcp), connection(tcp, 'The backend')],
  backend_health: (evidence) => {
    const { health, speaksTls } = evidence.backend
    if (speaksTls) return [false, 'It speaks TLS where plain HTTP is spoken to it.']
    if (health === null)
      return [
        null,
        evidence.backend.tcp === 'open' ? 'No answer came in the time of a diagnosis.' : 'It was not asked.',
      ]
    const answer = health.httpStatus === undefined ? 'No HTTP answer came' : `It answered HTTP ${health.httpStatus}`
    return [isBackendWell(evidence), `${answer} on ${evidence.path} after ${health.latencyMs} ms.`]
  },
  error_log: ({ errorClass }) =>
    errorClass === null
      ? [null, 'The newest part of the error log has no recent line about this host.']
      : [null, `The newest line about this host is of the class ${errorClass}.`],
}

export const chainOf = (evidence: Evidence, words: Words): Link[] =>
  LINKS.map((link) => {
    const [ok, detail] = LOOKS[link](evidence, words)
    return { link, ok, detail }
  })

const isOpen = (reach: Evidence['edge']): boolean | null => (reach === 'unknown' ? null : reach === 'open')

function connection(reach: Evidence['edge'], who: string): string {
  switch (reach) {
    case 'open':
      return `${who} takes connections.`
    case 'refused':
      return `${who} refuses connections.`
    case 'timeout':
      return `${who} does not answer.`
    case 'unreachable':
      return `${who} cannot be reached.`
    case 'unknown':
      return `${who} was not asked.`
  }
}
