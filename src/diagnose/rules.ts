import { type BadgeFacts, certificateLevel, isGoodStatus, learned } from '../model/badge.ts'
import { type Evidence, fileFact } from '../model/evidence.ts'
import type { CauseCode } from './causes.ts'

interface Rule {
  readonly code: CauseCode
  readonly holds: (evidence: Evidence, symptom: Symptom) => boolean
}

const rule = (code: CauseCode, holds: Rule['holds']): Rule => ({ code, holds })

/** What the backend itself shows, asked past the edge. */
const BACKEND_RULES: readonly Rule[] = [
  rule('wrong_port', ({ backend }) => backend.tcp === 'refused' && backend.answeringNeighbours.length > 0),
  rule('nothing_listening', ({ backend }) => backend.tcp === 'refused'),
  rule('backend_timeout', ({ backend }) => backend.tcp === 'timeout' || backend.tcp === 'unreachable'),
  // Such servers say 400 to plain HTTP, or hang up: that is no answer of the service behind them.
  rule('backend_speaks_tls', ({ backend }) => backend.speaksTls),
  rule('backend_timeout', ({ backend }) => backend.health?.kind === 'unhealthy' && backend.health.reason === 'timeout'),
  // It takes connections, and a diagnosis cannot wait as long as the monitor did for an answer.
  rule('backend_timeout', ({ backend }, symptom) => symptom === 'silent' && isUnanswered(backend)),
  rule('backend_503', ({ backend }) => backend.health?.kind === 'unhealthy' && backend.health.httpStatus === 503),
  rule('backend_error', (evidence) => !isBackendWell(evidence)),
]

/**
 * The first that holds names the cause. They stand in the order of the badges: what keeps visitors from any answer, then what
 * makes a bad one, then what only its owner would notice. Within one symptom the first broken link explains those behind it.
 */
const RULES: readonly Rule[] = [
  // Nobody answers at the edge. A configuration that cannot be loaded is why nginx did not come up again.
  rule('edge_config_broken', (evidence, symptom) => symptom === 'edge_closed' && isRefused(evidence)),
  rule('edge_down', (_, symptom) => symptom === 'edge_closed'),

  // nginx runs and says that it has no such host. If the file is gone there is nothing to load.
  rule('file_missing', ({ file }, symptom) => symptom === 'not_served' && file === 'missing'),
  rule('edge_config_broken', (evidence) => isUnloaded(evidence) && isRefused(evidence)),
  rule('not_loaded', (evidence) => isUnloaded(evidence)),
  rule('file_edited', ({ file }, symptom) => symptom === 'not_served' && file === 'edited'),
  rule('tls_failed', ({ visit }) => visit.kind === 'no_answer' && visit.reason === 'handshake_refused'),

  // Somebody else answers. An edit or a loss of the host's own file is why.
  rule('file_missing', (evidence) => isForeign(evidence) && evidence.file === 'missing'),
  rule('file_edited', (evidence) => isForeign(evidence) && evidence.file === 'edited'),
  rule('other_server_answers', (evidence) => isForeign(evidence)),

  // The right block answers and passes requests on to where nothing good comes from.
  rule('file_edited', ({ file, target }, symptom) => isBad(symptom) && file === 'edited' && target.moved),
  rule('upstream_name_unresolved', ({ target }, symptom) => isBad(symptom) && target.kind === 'name_unresolved'),
  rule('upstream_name_unresolved', ({ errorClass }, symptom) => isBad(symptom) && errorClass === 'upstream_unresolved'),
  ...BACKEND_RULES.map(({ code, holds }) =>
    rule(code, (evidence, symptom) => isBackendCalled(evidence, symptom) && holds(evidence, symptom)),
  ),
  // The backend that the file names is well: what nginx runs must be something else.
  rule('not_loaded', ({ configuration }, symptom) => isBad(symptom) && configuration.changedSinceLoad === true),
  rule('not_proxied', ({ target }, symptom) => isBad(symptom) && target.kind === 'none'),
  rule('unknown', (_, symptom) => isBad(symptom) || symptom === 'not_served'),

  // Through the edge all is well; visitors may not get there.
  rule('name_missing', ({ name }) => name.kind === 'missing'),
  rule('name_points_elsewhere', ({ name }) => name.kind === 'elsewhere'),
  rule('records_changed', ({ records }) => records === 'not_ours'),
  rule(
    'certificate_expired',
    ({ tls, at }) => tls.kind === 'certificate' && (tls.notAfter <= at || tls.notBefore > at),
  ),
  rule('certificate_wrong_name', ({ tls }) => tls.kind === 'certificate' && !tls.coversHost),

  // Nobody notices yet.
  rule('certificate_expiring', ({ tls, at }) => tls.kind === 'certificate' && certificateLevel(tls, at) !== 'ok'),
  rule('file_missing', ({ file }) => file === 'missing'),
  rule('file_edited', ({ file }) => file === 'edited'),
  rule('edge_config_broken', (evidence) => isRefused(evidence)),
  rule('not_loaded', ({ configuration }) => configuration.changedSinceLoad === true),
  rule('dns_unknown', ({ name }) => name.kind === 'uncertain'),
  rule('healthy', (_, symptom) => symptom === 'well'),
]

export function causeOf(evidence: Evidence): CauseCode {
  const symptom = symptomOf(evidence)
  return RULES.find(({ holds }) => holds(evidence, symptom))?.code ?? 'unknown'
}

const isBad = (symptom: Symptom): boolean => symptom === 'silent' || symptom === 'bad_status'

const isUnanswered = ({ tcp, health }: Evidence['backend']): boolean => tcp === 'open' && health === null

/** By what is on disk, or by what nginx runs: the entry that was applied did not answer for itself. */
const isForeign = ({ block, visit }: Evidence): boolean =>
  block.kind === 'other' || (visit.kind === 'answer' && visit.entry === 'other')

/** The block stands on disk, and the edge says that it serves no such host. */
const isUnloaded = ({ isKnown, block }: Evidence): boolean => isKnown === false && block.kind === 'own'

/** What stands on disk would not load: nginx said so when it was told to, or the text itself shows it. */
const isRefused = ({ configuration }: Evidence): boolean =>
  configuration.refusal !== null || configuration.broken.length > 0

/** Of several that share the work one may be away unnoticed. */
const isBackendCalled = ({ target }: Evidence, symptom: Symptom): boolean =>
  symptom !== 'well' || target.furtherTargets === 0

/** What a visitor meets: a cause is named for its symptom first. */
type Symptom = 'edge_closed' | 'not_served' | 'silent' | 'bad_status' | 'well' | 'unknown'

function symptomOf(evidence: Evidence): Symptom {
  const { edge, managed } = evidence
  if (edge !== 'open' && edge !== 'unknown') return 'edge_closed'
  const { answer } = factsAfter(evidence)
  if (!answer) return 'unknown'
  if (answer.httpStatus !== null) return isGoodStatus(answer.httpStatus, managed) ? 'well' : 'bad_status'
  if (answer.reason === 'unknown_host' || answer.reason === 'handshake_refused') return 'not_served'
  return answer.reason === 'refused' || answer.reason === 'unreachable' ? 'edge_closed' : 'silent'
}

/** What is known of a host after a look. */
export const factsAfter = (evidence: Evidence): BadgeFacts => learned(evidence.known, factsIn(evidence))

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

/** Nothing is known against it. Other hosts than ours need not say 2xx on `/`: a redirect or a login is well, too. */
export function isBackendWell({ backend: { health }, managed }: Pick<Evidence, 'backend' | 'managed'>): boolean {
  if (health === null || health.kind === 'healthy') return true
  return health.httpStatus !== undefined && isGoodStatus(health.httpStatus, managed)
}
