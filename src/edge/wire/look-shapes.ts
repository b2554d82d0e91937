import { Type } from 'typebox'
import { BACKEND_PROTOCOLS, ERROR_CLASSES } from '../../model/evidence.ts'
import {
  Address,
  closed,
  Host,
  Line,
  list,
  nullable,
  oneOf,
  Port,
  Sentence,
  SystemPath,
  text,
  Whole,
} from './shapes.ts'
import { SiteAnswer, SiteQuestion } from './site-shapes.ts'

const Place = closed({ address: Address, port: Port, tls: Type.Boolean() })
const SystemPaths = list(SystemPath, 1_000)

const HOW = ['exact', 'leading_wildcard', 'trailing_wildcard', 'regex', 'default'] as const
const served = {
  configPath: SystemPath,
  line: Line,
  listen: list(
    closed({
      address: text(300),
      port: nullable(Port),
      tls: Type.Boolean(),
      defaultServer: Type.Boolean(),
      proxyProtocol: Type.Optional(Type.Literal(true)),
      quic: Type.Optional(Type.Literal(true)),
    }),
    1_000,
  ),
  tls: Type.Boolean(),
  proxyPass: nullable(text(4_096)),
  unresolved: Type.Boolean(),
  target: nullable(closed({ protocol: oneOf(BACKEND_PROTOCOLS), host: text(300), port: Port })),
  furtherTargets: Whole,
}
export const MOST_PLACES = 10_000
const Located = { path: SystemPath, line: nullable(Line) }

/** What has changed since the map that the caller knows. `whole`: all hosts, because the agent does not know that map any more. */
const Served = closed({
  fingerprint: text(1_000),
  changedAt: nullable(Type.Number()),
  whole: Type.Boolean(),
  hosts: list(closed({ host: text(300), ...served })),
  gone: list(text(300)),
  broken: list(closed({ ...Located, sentence: Sentence }), MOST_PLACES),
  debugLogs: list(closed(Located), MOST_PLACES),
  patterns: list(
    closed({
      name: text(4_096),
      kind: oneOf(['wildcard', 'pattern']),
      configPath: SystemPath,
      line: Line,
      tls: Type.Boolean(),
    }),
    1_000,
  ),
})
const Match = closed({ how: oneOf([...HOW, 'unknown']), configPath: SystemPath, line: Line })
/** What the web server does for a host, as text to be shown. */
const Shown = closed({ path: SystemPath, line: nullable(Line), text: text(262_144) })
const LoadState = closed({
  changedSinceLoad: nullable(list(SystemPath, 1_000)),
  refusal: nullable(Sentence),
})
const NewestError = nullable(oneOf(ERROR_CLASSES))
const ProxyFact = Type.Union([
  closed({ kind: oneOf(['not_required', 'free', 'unknown']) }),
  closed({ kind: Type.Literal('taken'), how: oneOf(HOW), file: SystemPath, line: Line }),
  closed({
    kind: Type.Literal('broken'),
    reason: Sentence,
    file: Type.Optional(SystemPath),
    line: Type.Optional(Line),
  }),
  closed({ kind: Type.Literal('unprepared'), reason: Sentence }),
])

/** What doctor tells of the edge. */
const Findings = list(
  closed({
    subject: text(200),
    status: oneOf(['ok', 'warning', 'fault']),
    sentence: Sentence,
    fix: Type.Optional(Sentence),
  }),
  1_000,
)

/**
 * What to look at. `served`: what the web server reads, since a map that the caller knows. `conflict`: whether an entry of the host would
 * conflict with it. `block`: what answers for the host at a place. `newestError`: of the host, in the log. `loaded`: which of these files
 * changed after they were loaded. `name`: its address in the hosts file. `text`: of a host, to be shown. `site`: the hand-written site of a
 * host, as it would be adopted. `valid`, `noDebugLog`: a fault if it is not so. `findings`: those of doctor.
 */
export const LookQuestion = closed({
  served: Type.Optional(closed({ since: nullable(text(1_000)) })),
  conflict: Type.Optional(closed({ host: Host, tls: Type.Boolean() })),
  block: Type.Optional(closed({ host: Host, place: Place })),
  newestError: Type.Optional(closed({ host: Host, since: Type.Number() })),
  loaded: Type.Optional(SystemPaths),
  name: Type.Optional(Host),
  text: Type.Optional(Host),
  site: Type.Optional(SiteQuestion),
  valid: Type.Optional(Type.Literal(true)),
  noDebugLog: Type.Optional(Type.Literal(true)),
  findings: Type.Optional(Type.Literal(true)),
})
/** What was asked for, and nothing else. */
export const LookAnswer = closed({
  served: Type.Optional(Served),
  conflict: Type.Optional(ProxyFact),
  block: Type.Optional(nullable(Match)),
  newestError: Type.Optional(NewestError),
  loaded: Type.Optional(LoadState),
  name: Type.Optional(nullable(Address)),
  text: Type.Optional(nullable(Shown)),
  site: Type.Optional(SiteAnswer),
  valid: Type.Optional(Type.Literal(true)),
  noDebugLog: Type.Optional(Type.Literal(true)),
  findings: Type.Optional(Findings),
})
