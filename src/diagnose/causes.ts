import { escapeText } from '../model/escape-text.ts'
import type { Evidence } from '../model/evidence.ts'
import type { Remedy } from './acts.ts'
import type { Words } from './audience.ts'

export interface CauseTexts {
  readonly sentence: (evidence: Evidence, words: Words) => string
  /** What to do where Drawbridge itself can do nothing about the cause. */
  readonly advice: (evidence: Evidence, words: Words) => string
  /** What Drawbridge can do about it for a managed host. */
  readonly remedy?: Remedy
}

type Text = string | CauseTexts['sentence']

const cause = (sentence: Text, advice: Text, remedy?: Remedy): CauseTexts => ({
  sentence: asFunction(sentence),
  advice: asFunction(advice),
  ...(remedy && { remedy }),
})

const asFunction = (text: Text): CauseTexts['sentence'] => (typeof text === 'string' ? () => text : text)

/**
 * Every cause that a diagnosis can name, with its sentence and its advice. `docs/diagnosis.md` documents the table, and a
 * test compares the two. A sentence never quotes a file or a log. Advice never contains a name from outside.
 */
export const CAUSES = {
  healthy: cause(
    ({ host }) => `Every link from the DNS name to the backend of ${host} works.`,
    'Nothing needs to be done.',
  ),
  blocked: cause(
    (evidence) =>
      `The last run of ${evidence.host} failed and could not be undone, so no run can change the host. ${visitorResult(evidence)}.`,
    'Ask the administrator of this service to resolve the last run of the host.',
    'resolve',
  ),
  nothing_listening: cause(
    (_, { backend }) => `Nothing listens on ${backend}: the connection is refused.`,
    ({ target }, { machine }) =>
      target.target === null
        ? 'Start the service behind nginx, such as php-fpm, and make sure that it listens on the socket that nginx uses.'
        : `Start the service on ${machine}. Make sure that it listens on that address, not only on localhost.`,
  ),
  wrong_port: cause(
    ({ backend: { answeringNeighbours } }, { backend, inside }) =>
      `Nothing listens on ${backend}, but ${inside(portsBeside(answeringNeighbours), 'another port of the same server answers HTTP')}.`,
    ({ managed }, { inside }) =>
      managed
        ? inside(
            'If the service changed its port, change it back, or change the exposure to the new port.',
            'If the service changed its port, change it back.',
          )
        : 'If the service changed its port, change it back, or correct the port in proxy_pass.',
  ),
  backend_timeout: cause(
    ({ backend: { tcp } }, { backend }) =>
      tcp === 'open'
        ? `${capitalized(backend)} accepts connections, but does not answer in time.`
        : `The connection to ${backend} fails: ${tcp === 'unreachable' ? 'the network cannot reach it' : 'the attempt times out'}.`,
    ({ backend: { tcp } }, { machine }) =>
      tcp === 'open'
        ? 'The service hangs or is overloaded. Read its log, and restart it if necessary.'
        : `Check that ${machine} is up, and that no firewall between it and the edge drops the connection.`,
  ),
  backend_503: cause(
    ({ path }, { backend }) =>
      `The backend on ${backend} answers HTTP 503 on ${path}: it reports that it is not ready.`,
    'Check the service. It is starting, overloaded, in maintenance, or a dependency is missing.',
  ),
  backend_error: cause(
    (evidence, { backend }) => `The backend on ${backend} ${wrongAnswer(evidence)}.`,
    ({ path }) => `Read the log of the service. Check that ${path} is the right path.`,
  ),
  backend_speaks_tls: cause(
    (_, { backend }) => `The backend on ${backend} expects TLS, but the edge sends plain HTTP.`,
    'Configure the service to accept plain HTTP on that port, or plan again with its plain HTTP port.',
  ),
  upstream_name_unresolved: cause(
    ({ target }, { inside }) =>
      inside(
        `The name of the backend${target.target ? `, ${escapeText(target.target.host)},` : ''} does not resolve.`,
        'The name of the backend does not resolve.',
      ),
    'Correct the name in proxy_pass, add an address for it in DNS, or check the resolver that nginx uses.',
  ),
  certificate_expired: cause(
    ({ tls, at }) => certificateTimes(tls, at),
    ({ managed }) =>
      managed
        ? 'Place a newer certificate in one of the certificate folders. Check that the clock of the edge is right.'
        : 'Renew the certificate. Check that the clock of the edge is right.',
    'renew',
  ),
  certificate_wrong_name: cause(
    ({ host, tls }, { inside }) =>
      inside(
        `The served certificate does not cover ${host}. It covers ${certificateNames(tls)}.`,
        `The served certificate does not cover ${host}.`,
      ),
    'Install a certificate that covers the name, or correct ssl_certificate in the server block of the host.',
    'restore',
  ),
  certificate_expiring: cause(
    ({ tls }) =>
      `The certificate is valid${tls.kind === 'certificate' ? ` until ${time(tls.notAfter)}` : ''}, but its renewal is overdue.`,
    ({ managed }) =>
      managed
        ? 'Place a newer certificate in one of the certificate folders: Drawbridge did not order this one.'
        : 'Find out why it was not renewed. Drawbridge does not renew the certificates of hosts that it did not create.',
    'renew',
  ),
  tls_failed: cause(
    ({ host }) => `The edge refuses the TLS handshake for ${host}: it has no certificate for the name.`,
    'Configure a certificate that nginx can load in the server block of the host.',
    'restore',
  ),
  records_changed: cause(
    ({ host }) =>
      `The name points to the edge, but the zone does not have exactly the records that were applied for ${host}.`,
    'Check the records of the name and its owner mark (a TXT record), and whether a wildcard answers instead.',
    'repair',
  ),
  name_points_elsewhere: cause(
    ({ host, name }, { addresses }) =>
      `The edge works, but ${host} points to ${addresses(name.kind === 'elsewhere' ? name.found : [])} and not to the edge.`,
    'Change the DNS record back to the edge, or remove the server block if the name was moved on purpose.',
    'repair',
  ),
  name_missing: cause(
    // Others may have the name of a host that was not made here, so that nobody can tell whether visitors reach it.
    ({ host, managed }) =>
      managed
        ? `The edge works, but DNS has no address for ${host}, so visitors cannot reach it.`
        : `The edge serves ${host}, but the DNS server of Drawbridge has no address for it. Visitors reach it only if theirs has one.`,
    'Add the DNS record of the name again, or remove the server block if the name is not used any more.',
    'repair',
  ),
  dns_unknown: cause(
    ({ name }, { inside }) =>
      inside(
        `The edge works, but it is not known where the name points: ${name.kind === 'uncertain' ? name.reason : 'DNS gave no answer'}.`,
        'The edge works, but it is not known where the name points: the DNS server gave no reliable answer.',
      ),
    'Check the DNS server of the zone.',
  ),
  other_server_answers: cause(
    ({ host, block }, { inside }) =>
      block.kind === 'other'
        ? `Another server block answers for ${host}: ${OTHERS[block.how]}${inside(` (${placeOf(block.answering)})`, '')}.`
        : `Another server block answers for ${host}.`,
    "Compare server_name and listen of the host's own block with those of the block that answers.",
  ),
  file_edited: cause(
    ({ target, configuration }) =>
      `The entry of the host on the edge was edited after the apply${target.moved ? ' and names another backend than the plan' : ''}${configuration.changedSinceLoad ? ', and nginx has not loaded the edit' : ''}.`,
    'Undo the edit by hand, then reload nginx (nginx -s reload). Until then the exposure cannot be removed.',
    'repair',
  ),
  file_missing: cause(
    'A file that was applied for the host is missing on the edge.',
    'Put the file back at its old path, then reload nginx (nginx -s reload). Until then the exposure cannot be removed.',
    'repair',
  ),
  not_loaded: cause(
    ({ isKnown }) =>
      isKnown === false
        ? 'The host is in the configuration on disk, but nginx does not serve it: nginx has not loaded the configuration on disk.'
        : 'The file of the host was changed after nginx loaded its configuration, so nginx runs an older version.',
    'Test the configuration (nginx -t) and reload nginx (nginx -s reload).',
  ),
  edge_down: cause(
    ({ edge }) => `nginx does not answer on the edge: the connection ${edge === 'refused' ? 'is refused' : 'fails'}.`,
    'Start nginx on the edge. Check that it listens on the configured address and ports.',
  ),
  edge_config_broken: cause(
    ({ configuration: { refusal } }, { inside }) =>
      inside(
        `nginx cannot load the configuration on disk: ${refusal ?? 'it is not valid'}.`,
        'nginx cannot load the configuration on disk.',
      ),
    'Repair the configuration where nginx -t reports the error, then reload nginx (nginx -s reload).',
  ),
  not_proxied: cause(
    ({ visit }) =>
      `The server block of the host has no backend. nginx itself ${visit.kind === 'answer' ? `answers HTTP ${visit.httpStatus}` : 'closes the connection'}.`,
    'Check what the block is meant to serve. If it should have a backend, add a proxy_pass for / to it.',
  ),
  unknown: cause(
    (evidence) => `${visitorResult(evidence)}.${evidence.listenGap ? '' : otherLinks(evidence)}`,
    ({ listenGap }) =>
      listenGap
        ? UNASKED[listenGap].advice
        : 'Diagnose the host again. If the problem stays, read the error log of nginx and the log of the service.',
  ),
} as const satisfies Record<string, CauseTexts>

/** What else a host has that answers badly for no known reason. */
const otherLinks = ({ name: { kind } }: Evidence): string =>
  kind === 'missing' || kind === 'elsewhere'
    ? ' Its name does not point to the edge, either.'
    : ' Every other link that could be checked works.'

export type CauseCode = keyof typeof CAUSES

export const CAUSE_CODES = Object.keys(CAUSES) as readonly CauseCode[]

const OTHERS = {
  exact: 'it has the same server_name and comes first',
  leading_wildcard: "its wildcard server_name matches on an address where the host's own block does not listen",
  trailing_wildcard: "its wildcard server_name matches on an address where the host's own block does not listen",
  regex: "its server_name pattern matches on an address where the host's own block does not listen",
  default: "it is the default server of an address where the host's own block does not listen",
} as const

/** Why nobody could ask the edge for the host. */
const UNASKED = {
  name: {
    sentence: 'The address at which nginx listens for the host is not known: its listen has a name',
    advice: 'Write the address into the listen directive instead of the name. Then the host can be asked.',
  },
  unix_socket: {
    sentence: 'nginx listens for the host only on a unix socket, where Drawbridge does not ask',
    advice: 'Ask the host through the program that connects to the unix socket. Drawbridge cannot.',
  },
  proxy_protocol: {
    sentence: 'nginx listens for the host only with the PROXY protocol, which Drawbridge does not speak',
    advice: 'Ask the host through the proxy before it, or add a listen without proxy_protocol on an internal address.',
  },
  quic: {
    sentence: 'nginx listens for the host only with QUIC, which Drawbridge does not speak',
    advice: 'Add a listen with ssl on the same port: visitors need it before they can use HTTP/3.',
  },
} as const

const time = (at: number): string => new Date(at).toISOString()

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const portsBeside = (ports: readonly number[]): string =>
  ports.length === 1 ? `port ${ports[0]} answers HTTP` : `ports ${ports.join(', ')} answer HTTP`

function wrongAnswer({ backend: { health }, path, target }: Evidence): string {
  if (health?.kind === 'unhealthy' && health.httpStatus !== undefined)
    return `answers HTTP ${health.httpStatus} on ${path}`
  return target.target?.protocol === 'https'
    ? 'does not answer HTTP over TLS'
    : 'accepts connections, but does not answer with HTTP'
}

function certificateTimes(tls: Evidence['tls'], at: number): string {
  if (tls.kind !== 'certificate') return 'The served certificate is not valid now.'
  return tls.notBefore > at
    ? `The served certificate is not valid before ${time(tls.notBefore)}.`
    : `The served certificate expired at ${time(tls.notAfter)}.`
}

const MOST_NAMES = 5

function certificateNames(tls: Evidence['tls']): string {
  const names = tls.kind === 'certificate' ? tls.names : []
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  return names.length === 0 ? 'no DNS name' : `${names.slice(0, MOST_NAMES).map(escapeText).join(', ')}${more}`
}

const placeOf = ({ path, line }: { readonly path: string; readonly line: number | null }): string =>
  `${escapeText(path)}${line === null ? '' : `, line ${line}`}`

function visitorResult({ visit, listenGap }: Evidence): string {
  if (listenGap) return UNASKED[listenGap].sentence
  if (visit.kind === 'answer') return `The host answers HTTP ${visit.httpStatus} through the edge`
  return visit.kind === 'unknown'
    ? 'The request through the edge did not finish in time'
    : 'The host does not answer through the edge'
}
