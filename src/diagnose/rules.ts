import { type Badge, type BadgeFacts, badgeOf, certificateLevel, isGoodStatus, mergeFacts } from '../model/badge.ts'
import { type ErrorClass, type Evidence, fileFact } from '../model/evidence.ts'
import type { CauseCode } from './causes.ts'

interface Rule {
  readonly code: CauseCode
  readonly holds: (evidence: Evidence, symptom: Symptom) => boolean
}

const rule = (code: CauseCode, holds: Rule['holds']): Rule => ({ code, holds })

/** Rules for direct requests to the backend, without the edge. */
const BACKEND_RULES: readonly Rule[] = [
  rule('wrong_port', ({ backend }) => backend.tcp === 'refused' && backend.answeringNeighbours.length > 0),
  rule('nothing_listening', ({ backend }) => backend.tcp === 'refused'),
  rule('backend_timeout', ({ backend }) => backend.tcp === 'timeout' || backend.tcp === 'unreachable'),
  // A TLS server answers plain HTTP with 400 or closes the connection. That is not an answer of the service behind it.
  rule('backend_speaks_tls', ({ backend }) => backend.speaksTls),
  rule('backend_timeout', ({ backend }) => backend.health?.kind === 'unhealthy' && backend.health.reason === 'timeout'),
  // The backend accepts connections, but a diagnosis waits less time for an answer than the monitor.
  rule('backend_timeout', ({ backend }, symptom) => symptom === 'silent' && isUnanswered(backend)),
  rule('backend_503', ({ backend }) => backend.health?.kind === 'unhealthy' && backend.health.httpStatus === 503),
  rule('backend_error', (evidence) => !isBackendWell(evidence)),
]

/**
 * The first matching rule decides the cause. The order is that of the badges: first problems that keep visitors from any
 * answer, then those that cause a bad answer, then those that only the owner notices. Within one symptom the first broken
 * link explains the links after it.
 */
const RULES: readonly Rule[] = [
  // Whatever else is wrong: nothing can mend it before the blocked run is resolved. Public readers never have this evidence.
  rule('blocked', ({ exposure }) => exposure?.state === 'blocked'),

  // The edge does not answer. A broken configuration explains why nginx does not start.
  rule('edge_config_broken', (evidence, symptom) => symptom === 'edge_closed' && isRefused(evidence)),
  rule('edge_down', (_, symptom) => symptom === 'edge_closed'),

  // nginx runs, but does not serve the host. If the file is missing, a reload does not help.
  rule('file_missing', ({ file }, symptom) => symptom === 'not_served' && file === 'missing'),
  rule('edge_config_broken', (evidence) => isUnloaded(evidence) && isRefused(evidence)),
  rule('not_loaded', (evidence) => isUnloaded(evidence)),
  rule('file_edited', ({ file }, symptom) => symptom === 'not_served' && file === 'edited'),
  rule('tls_failed', ({ visit }) => visit.kind === 'no_answer' && visit.reason === 'handshake_refused'),

  // Another server block answers. An edited or missing file of the host explains it.
  rule('file_missing', (evidence) => isForeign(evidence) && evidence.file === 'missing'),
  rule('file_edited', (evidence) => isForeign(evidence) && evidence.file === 'edited'),
  rule('other_server_answers', (evidence) => isForeign(evidence)),

  // The right block answers, but its backend does not give a good answer.
  rule('file_edited', ({ file, target }, symptom) => isBad(symptom) && file === 'edited' && target.moved),
  rule('upstream_name_unresolved', ({ target }, symptom) => isBad(symptom) && target.kind === 'name_unresolved'),
  rule('upstream_name_unresolved', ({ errorClass }, symptom) => isBad(symptom) && errorClass === 'upstream_unresolved'),
  ...BACKEND_RULES.map(({ code, holds }) =>
    rule(code, (evidence, symptom) => isBackendRelevant(evidence, symptom) && holds(evidence, symptom)),
  ),
  // A unix socket, or a backend that the configuration does not tell: only nginx itself says why it gets no answer.
  rule('nothing_listening', (evidence, symptom) => isBad(symptom) && isLogged(evidence, ['connection_refused'])),
  rule('backend_timeout', (evidence, symptom) => isBad(symptom) && isLogged(evidence, NO_ANSWER)),
  // The backend in the file works, so nginx must run an older configuration.
  rule('not_loaded', ({ configuration }, symptom) => isBad(symptom) && configuration.changedSinceLoad === true),
  rule('not_proxied', ({ target }, symptom) => isBad(symptom) && target.kind === 'none'),
  rule('unknown', (_, symptom) => isBad(symptom) || symptom === 'not_served'),

  // Nobody could ask the edge for the host. What is said below is about a host that works.
  rule('edge_config_broken', (evidence) => evidence.listenGap !== undefined && isRefused(evidence)),
  rule(
    'not_loaded',
    ({ listenGap, configuration }) => listenGap !== undefined && configuration.changedSinceLoad === true,
  ),
  rule('unknown', ({ listenGap }) => listenGap !== undefined),

  // The host works through the edge, but visitors may not reach the edge.
  rule('name_missing', ({ name }) => name.kind === 'missing'),
  rule('name_points_elsewhere', ({ name }) => name.kind === 'elsewhere'),
  rule('records_changed', ({ records }) => records === 'not_ours'),
  rule(
    'certificate_expired',
    ({ tls, at }) => tls.kind === 'certificate' && (tls.notAfter <= at || tls.notBefore > at),
  ),
  rule('certificate_wrong_name', ({ tls }) => tls.kind === 'certificate' && !tls.coversHost),

  // Visitors do not notice these problems yet.
  rule('certificate_expiring', ({ tls, at }) => tls.kind === 'certificate' && certificateLevel(tls, at) !== 'ok'),
  rule('file_missing', ({ file }) => file === 'missing'),
  rule('file_edited', ({ file }) => file === 'edited'),
  rule('edge_config_broken', (evidence) => isRefused(evidence)),
  rule('not_loaded', ({ configuration }) => configuration.changedSinceLoad === true),
  rule('dns_unknown', ({ name }) => name.kind === 'uncertain'),
  // What the monitor knows counts as well: a host whose badge is not RUNNING is not healthy.
  rule('healthy', (evidence, symptom) => symptom === 'well' && badgeOf(factsAfter(evidence)) === 'RUNNING'),
]

/**
 * How serious a cause is. `warning`: visitors notice nothing yet, or nobody can tell. Colours, words and exit codes of every
 * interface follow from it.
 */
export const CAUSE_LEVELS = ['good', 'warning', 'bad'] as const
export type CauseLevel = (typeof CAUSE_LEVELS)[number]

export const levelOf = (code: CauseCode, badge: Badge): CauseLevel => {
  if (code === 'healthy') return 'good'
  if (code === 'blocked') return 'bad'
  return badge === 'RUNNING' || badge === 'PENDING' ? 'warning' : 'bad'
}

export function causeOf(evidence: Evidence): CauseCode {
  const symptom = symptomOf(evidence)
  return RULES.find(({ holds }) => holds(evidence, symptom))?.code ?? 'unknown'
}

const isBad = (symptom: Symptom): boolean => symptom === 'silent' || symptom === 'bad_status'

const NO_ANSWER: readonly ErrorClass[] = ['connect_timeout', 'no_route', 'upstream_timeout']

const isLogged = ({ target, errorClass }: Evidence, classes: readonly ErrorClass[]): boolean =>
  target.target === null && target.kind !== 'none' && errorClass !== null && classes.includes(errorClass)

const isUnanswered = ({ tcp, health }: Evidence['backend']): boolean => tcp === 'open' && health === null

/** The applied entry does not answer, according to the files on disk or to the running nginx. */
const isForeign = ({ block, visit }: Evidence): boolean =>
  block.kind === 'other' || (visit.kind === 'answer' && visit.entry === 'other')

/** The block is on disk, but the running edge does not serve the host. */
const isUnloaded = ({ isKnown, block }: Evidence): boolean => isKnown === false && block.kind === 'own'

/** nginx itself refused the configuration on disk. A file that only Drawbridge does not understand may be valid. */
const isRefused = ({ configuration }: Evidence): boolean => configuration.refusal !== null

/**
 * With several servers in an upstream, visitors do not notice when one of them fails. A backend that somebody wrote into the entry
 * by hand is not the one of the plan: that it does not answer is a consequence of the edit.
 */
const isBackendRelevant = ({ file, target }: Evidence, symptom: Symptom): boolean =>
  !(file === 'edited' && target.moved) && (symptom !== 'well' || target.furtherTargets === 0)

/** What a visitor experiences. */
type Symptom = 'edge_closed' | 'not_served' | 'silent' | 'bad_status' | 'well' | 'unknown'

function symptomOf(evidence: Evidence): Symptom {
  const { edge, managed } = evidence
  if (edge !== 'open' && edge !== 'unknown') return 'edge_closed'
  const { answer, goodStatuses } = factsAfter(evidence)
  if (!answer) return 'unknown'
  if (answer.httpStatus !== null) return isGoodStatus(answer.httpStatus, managed, goodStatuses) ? 'well' : 'bad_status'
  if (answer.reason === 'unknown_host' || answer.reason === 'handshake_refused') return 'not_served'
  return answer.reason === 'refused' || answer.reason === 'unreachable' ? 'edge_closed' : 'silent'
}

/** The facts about a host after an inspection. */
export const factsAfter = (evidence: Evidence): BadgeFacts => mergeFacts(evidence.known, factsIn(evidence))

function factsIn({ managed, visit, records, tls, at, file }: Evidence): BadgeFacts {
  return {
    managed,
    answer:
      visit.kind === 'unknown'
        ? null
        : visit.kind === 'answer'
          ? { httpStatus: visit.httpStatus, reason: null, entry: visit.entry }
          : { httpStatus: null, reason: visit.reason },
    dns: records,
    certificate: tls.kind === 'certificate' ? (tls.coversHost ? certificateLevel(tls, at) : 'wrong_name') : null,
    file: fileFact(file),
  }
}

/** No problem is known. Hosts that Drawbridge did not create may answer `/` with a redirect or a login. */
export function isBackendWell(evidence: Pick<Evidence, 'backend' | 'managed' | 'known'>): boolean {
  const { managed, known } = evidence
  const { health } = evidence.backend
  if (health === null || health.kind === 'healthy') return true
  return (
    health.httpStatus !== undefined &&
    isGoodStatus(health.httpStatus, managed, managed ? undefined : known?.goodStatuses)
  )
}
