import type { Evidence } from '../model/evidence.ts'
import { shown } from '../model/foreign-text.ts'
import type { Words } from './audience.ts'

interface CauseTexts {
  readonly sentence: (evidence: Evidence, words: Words) => string
  readonly advice: (evidence: Evidence, words: Words) => string
}

type Text = string | CauseTexts['sentence']

const cause = (sentence: Text, advice: Text): CauseTexts => ({ sentence: told(sentence), advice: told(advice) })

const told = (text: Text): CauseTexts['sentence'] => (typeof text === 'string' ? () => text : text)

/**
 * Every cause that a diagnosis can name: what is so, and what to do about it. `docs/diagnosis.md` documents the table and a
 * test holds the two together. No text of a file or a log ever stands in a sentence, and no name that others chose in advice.
 */
export const CAUSES = {
  healthy: cause(
    ({ host }) => `Everything between the name and the backend of ${host} is well.`,
    'There is nothing to do.',
  ),
  nothing_listening: cause(
    (_, { backend }) => `Nothing listens on ${backend}: the connection is refused.`,
    (_, { machine }) =>
      `Start the service on ${machine}, and see that it listens on that address, not on localhost alone.`,
  ),
  wrong_port: cause(
    ({ backend: { answeringNeighbours } }, { backend, inside }) =>
      `Nothing listens on ${backend}, but ${inside(portsBeside(answeringNeighbours), 'a port beside it answers HTTP')}.`,
    'If the service moved, move it back, or remove the exposure and plan it anew with the port that it has now.',
  ),
  backend_timeout: cause(
    ({ backend: { tcp } }, { backend }) =>
      tcp === 'open'
        ? `A connection to ${backend} is taken, but no answer comes in time.`
        : `No connection to ${backend} comes about: ${tcp === 'unreachable' ? 'it cannot be reached' : 'nobody answers'}.`,
    ({ backend: { tcp } }, { machine }) =>
      tcp === 'open'
        ? 'The service hangs or is overloaded: look at its own log, and start it again if need be.'
        : `See whether ${machine} is up, and whether a firewall between it and the edge drops the connection.`,
  ),
  backend_503: cause(
    ({ path }, { backend }) =>
      `The backend on ${backend} itself answers HTTP 503 on ${path}: it says that it is not ready.`,
    'Look at the service: it is starting, overloaded, under maintenance, or misses something that it needs.',
  ),
  backend_error: cause(
    (evidence, { backend }) => `The backend on ${backend} ${wrongAnswer(evidence)}.`,
    ({ path }) => `Look at the service's own log, and whether ${path} is the right path to ask.`,
  ),
  backend_speaks_tls: cause(
    (_, { backend }) => `The backend on ${backend} speaks TLS, and the edge talks plain HTTP to it.`,
    'Let the service listen for plain HTTP on that port, or give the port on which it does.',
  ),
  upstream_name_unresolved: cause(
    ({ target }, { inside }) =>
      inside(
        `The name of the backend${target.target ? `, ${shown(target.target.host)},` : ''} does not resolve.`,
        'The name of the backend does not resolve.',
      ),
    'Correct the name in proxy_pass, give it an address in DNS, or look at the resolver that nginx uses.',
  ),
  certificate_expired: cause(
    ({ tls, at }) => certificateTimes(tls, at),
    'Renew the certificate; see whether the clock of the edge is right.',
  ),
  certificate_wrong_name: cause(
    ({ host, tls }, { inside }) =>
      inside(
        `The certificate that is served does not cover ${host}; it is for ${certificateNames(tls)}.`,
        `The certificate that is served does not cover ${host}.`,
      ),
    'Install a certificate that covers the name, or correct the one that its server block names.',
  ),
  certificate_expiring: cause(
    ({ tls }) =>
      `The certificate still is valid${tls.kind === 'certificate' ? ` until ${time(tls.notAfter)}` : ''}, but should have been renewed by now.`,
    'See why it was not renewed: the log of the service tells what the certificate authority said.',
  ),
  tls_failed: cause(
    ({ host }) => `The edge refuses the TLS handshake for ${host}: it has no certificate to show for the name.`,
    'Give the server block of the host a certificate that can be loaded.',
  ),
  records_changed: cause(
    ({ host }) => `The name leads here, but the zone does not hold exactly the records that were applied for ${host}.`,
    (_, { inside }) =>
      inside(
        'Somebody changed the record, a wildcard answers in its place, or the TXT record beside it that marks its owner is gone. Put the records back as they were applied.',
        'Tell the administrator of the zone.',
      ),
  ),
  name_points_elsewhere: cause(
    ({ host, name }, { addresses }) =>
      `The edge is well, but ${host} leads to ${addresses(name.kind === 'elsewhere' ? name.found : [])} and not to it.`,
    'Let the DNS record of the name lead to the edge again, or remove the exposure if the name was moved on purpose.',
  ),
  name_missing: cause(
    ({ host }) => `The edge is well, but DNS has no address for ${host}: no visitor finds it.`,
    'Restore the DNS record of the name, or remove the exposure and apply it anew.',
  ),
  dns_unknown: cause(
    ({ name }, { inside }) =>
      inside(
        `The edge is well, but where the name leads is not certain: ${name.kind === 'uncertain' ? name.reason : 'no answer came'}.`,
        'The edge is well, but where the name leads is not certain: the DNS server gave no answer to rely on.',
      ),
    'Look at the DNS server of the zone.',
  ),
  other_server_answers: cause(
    ({ host, block }, { inside }) =>
      block.kind === 'other'
        ? `Another server block answers for ${host}: ${OTHERS[block.how]}${inside(` (${placeOf(block.answering)})`, '')}.`
        : `Another server block answers for ${host}.`,
    'See which names and listen lines its own block has, and those of the block that answers.',
  ),
  file_edited: cause(
    ({ target, configuration }) =>
      `The file of the host was edited since it was applied${target.moved ? ': it names another backend than the plan' : ''}${configuration.changedSinceLoad ? ', and nginx has not loaded the edit' : ''}.`,
    'See what was changed in the file, and take the edit back by hand; then let nginx load it (nginx -s reload). Until then the exposure cannot be removed.',
  ),
  file_missing: cause(
    'A file of the host that was applied is gone from the edge.',
    'Put the same file back where it stood, then let nginx load it (nginx -s reload). Until then the exposure cannot be removed.',
  ),
  not_loaded: cause(
    ({ isKnown }) =>
      isKnown === false
        ? 'The host stands in the configuration on disk, but nginx does not serve it: it has not loaded what is on disk.'
        : 'The file of the host was changed after nginx loaded its configuration: what runs is not what is on disk.',
    'Test the configuration (nginx -t) and let nginx load it (nginx -s reload).',
  ),
  edge_down: cause(
    ({ edge }) =>
      `nginx does not answer on the edge: the connection ${edge === 'refused' ? 'is refused' : 'does not come about'}.`,
    'Start nginx on the edge, and see that it listens on the address and ports that are configured.',
  ),
  edge_config_broken: cause(
    ({ configuration: { refusal, broken } }, { inside }) =>
      inside(
        `nginx cannot load the configuration on disk: ${refusal ?? brokenPlace(broken)}.`,
        'nginx cannot load the configuration on disk.',
      ),
    'Repair it where nginx -t points, then let nginx load it (nginx -s reload).',
  ),
  not_proxied: cause(
    ({ visit }) =>
      `The server block of the host passes requests to no backend: nginx itself ${visit.kind === 'answer' ? `answers HTTP ${visit.httpStatus}` : 'hangs up'}.`,
    'Add a proxy_pass to the block, or see what it is meant to serve.',
  ),
  unknown: cause(
    (evidence) => `${visitorsLot(evidence)}, and every other link that could be looked at is well.`,
    'Look again; if it stays, the error log of nginx and the log of the service tell more.',
  ),
} as const satisfies Record<string, CauseTexts>

export type CauseCode = keyof typeof CAUSES

export const CAUSE_CODES = Object.keys(CAUSES) as readonly CauseCode[]

const OTHERS = {
  exact: 'one in another file has the same name and comes first',
  leading_wildcard: 'one with a wildcard name takes it where its own block does not listen',
  trailing_wildcard: 'one with a wildcard name takes it where its own block does not listen',
  regex: 'one whose name is a pattern takes it where its own block does not listen',
  default: 'the default server takes it where its own block does not listen',
} as const

const time = (at: number): string => new Date(at).toISOString()

const portsBeside = (ports: readonly number[]): string =>
  ports.length === 1 ? `port ${ports[0]} beside it answers HTTP` : `ports ${ports.join(', ')} beside it answer HTTP`

function wrongAnswer({ backend: { health }, path, target }: Evidence): string {
  if (health?.kind === 'unhealthy' && health.httpStatus !== undefined)
    return `answers HTTP ${health.httpStatus} on ${path}`
  return target.target?.protocol === 'https'
    ? 'does not answer HTTP over TLS'
    : 'takes connections, but does not answer in HTTP'
}

function certificateTimes(tls: Evidence['tls'], at: number): string {
  if (tls.kind !== 'certificate') return 'The certificate that is served is not valid now.'
  return tls.notBefore > at
    ? `The certificate that is served is not valid before ${time(tls.notBefore)}.`
    : `The certificate that is served expired at ${time(tls.notAfter)}.`
}

const MOST_NAMES = 5

function certificateNames(tls: Evidence['tls']): string {
  const names = tls.kind === 'certificate' ? tls.names : []
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  return names.length === 0 ? 'no DNS name at all' : `${names.slice(0, MOST_NAMES).map(shown).join(', ')}${more}`
}

function brokenPlace([first]: Evidence['configuration']['broken']): string {
  if (!first) return 'it does not pass the test'
  return `${first.sentence} (${placeOf(first)})`
}

const placeOf = ({ path, line }: { readonly path: string; readonly line: number | null }): string =>
  `${shown(path)}${line === null ? '' : `, line ${line}`}`

function visitorsLot({ visit }: Evidence): string {
  if (visit.kind === 'answer') return `Through the edge the host answers HTTP ${visit.httpStatus}`
  return visit.kind === 'unknown'
    ? 'What visitors get could not be seen in time'
    : 'Through the edge the host does not answer'
}
