import { type TProperties, type TSchema, Type } from 'typebox'
import { NO_ANSWER_REASONS } from '../../model/badge.ts'
import { BACKEND_PROTOCOLS, ERROR_CLASSES } from '../../model/evidence.ts'
import { MOST_STRAY_FILES, MOST_STRAY_LINES } from '../../model/host-status.ts'
import { RUN_ID_GRAMMAR, STORE_ID_GRAMMAR } from '../../model/run.ts'
import { EDGE_POINTS } from '../contract.ts'
import { MOST_STORES } from '../fences/fence-table.ts'
import { EntryShape } from '../record/entry.ts'

/** Every object is closed: a member that is not listed is an error. Every text and every list has a bound. */
export const closed = <Members extends TProperties>(members: Members) =>
  Type.Object(members, { additionalProperties: false })

export const text = (longest: number) => Type.String({ maxLength: longest })
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values] })

/** A configuration of tens of thousands of hosts changes in one generation. */
const MOST_FILES = 500_000
export const list = <T extends TSchema>(schema: T, most = MOST_FILES) => Type.Array(schema, { maxItems: most })

const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Milliseconds = Type.Integer({ minimum: 0, maximum: 600_000 })
export const Sentence = text(4_096)
export const SystemPath = text(4_096)
export const Line = Type.Integer({ minimum: 0 })

export const Host = text(253)
export const Port = Type.Integer({ minimum: 1, maximum: 65_535 })
export const Address = text(45)
const Endpoint = closed({ address: Address, port: Port })
const Place = closed({ address: Address, port: Port, tls: Type.Boolean() })

export const SystemPaths = list(SystemPath, 1_000)

const RunId = Type.String({ pattern: RUN_ID_GRAMMAR })
const StoreId = Type.String({ pattern: STORE_ID_GRAMMAR })
const Fence = closed({ host: Host, epoch: Whole, number: Whole, store: Type.Optional(StoreId) })
const Floor = closed({ store: StoreId, epoch: Whole })

export const Pair = closed({ certificatePem: text(65_536), keyPem: text(16_384) })
export { CertificateId } from '../record/entry.ts'

const DRIFT_FIELDS = ['backend', 'name', 'proof', 'certificate', 'challenge', 'block', 'record', 'owner'] as const
const Revision = Type.String({ pattern: '^[0-9a-f]{32}$' })

export const ListQuestion = closed({ hosts: Type.Optional(list(Host)) })

const StrayLines = list(
  closed({
    file: Type.String({ pattern: '^current/[a-z0-9/-]{1,40}/[\\w.?-]{1,255}$' }),
    lines: list(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), MOST_STRAY_LINES),
  }),
  MOST_STRAY_FILES,
)

export const HostList = closed({
  generation: text(200),
  number: nullable(Whole),
  hosts: list(
    closed({
      host: Host,
      entry: nullable(EntryShape),
      revision: nullable(Revision),
      fence: nullable(Fence),
      drift: list(
        closed({
          field: oneOf(DRIFT_FIELDS),
          expected: Type.Optional(text(300)),
          found: Type.Optional(text(300)),
          file: SystemPath,
          line: nullable(Line),
        }),
        20,
      ),
      file: SystemPath,
      line: nullable(Line),
    }),
  ),
  stray: StrayLines,
})

const ChangeId = Type.String({ pattern: '^[0-9a-f]{32}$' })
const PlanId = text(69)
const Wanted = Type.Union([
  EntryShape,
  oneOf(['absent', 'same', 'before', 'released']),
  closed({ asIn: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
])

/** One change. `heldForMs`: after this time the agent does not enter it. */
const NewChange = closed({
  id: ChangeId,
  heldForMs: nullable(Whole),
  run: Type.Optional(closed({ run: RunId, store: StoreId })),
  items: list(
    closed({
      host: Host,
      fence: Fence,
      expected: Type.Union([oneOf(['absent', 'any']), closed({ revision: Revision })]),
      wanted: Wanted,
      mend: Type.Optional(Type.Boolean()),
      takesOver: Type.Optional(closed({ plan: PlanId, text: Type.Optional(text(100)) })),
    }),
  ),
  settles: Type.Optional(list(RunId, 10_000)),
  floor: Type.Optional(Floor),
})
/** What became of a change. One that has not arrived is refused when it does. `withdraw`: one that is not entered yet is refused. */
const KnownChange = closed({ id: ChangeId, withdraw: Type.Boolean() })
export const Change = Type.Union([NewChange, KnownChange])

export const Challenge = closed({
  host: Host,
  fence: Fence,
  token: text(256),
  answer: nullable(text(513)),
  heldForMs: nullable(Whole),
})

export const UnsettledRuns = list(closed({ run: RunId, store: StoreId, since: Whole }), 10_000)

const FAULT_KINDS = [
  'config_broken',
  'change_invalid',
  'changed_meanwhile',
  'changed_elsewhere',
  'write_failed',
  'not_reloaded',
  'unavailable',
  'logs_keys',
  'fenced',
  'away',
] as const
export const WireFault = closed({ kind: oneOf(FAULT_KINDS), sentence: Sentence })

/** `late`: the lease had ended before the change was entered. `unknown`: the agent has not seen it, and will refuse it. */
export const Verdict = Type.Union([
  closed({
    state: Type.Literal('done'),
    hosts: list(
      Type.Union([
        closed({
          host: Host,
          state: Type.Literal('serving'),
          generation: Whole,
          revision: text(32),
          released: Type.Optional(SystemPath),
        }),
        closed({ host: Host, state: Type.Literal('refused'), fault: WireFault }),
      ]),
    ),
  }),
  closed({ state: Type.Literal('refused'), fault: WireFault }),
  closed({ state: oneOf(['late', 'running', 'unknown']) }),
])
/** A line of the answer to `change`: moments, and the verdict as the last one. */
export const ChangeLine = Type.Union([closed({ point: oneOf(EDGE_POINTS) }), closed({ verdict: Verdict })])

const Instant = text(40)
export const Question = { host: Host, path: text(2_048), tls: Type.Boolean(), proof: Type.Optional(text(65)) }
export const EdgeAnswer = Type.Union([
  closed({
    kind: Type.Literal('answer'),
    httpStatus: Type.Integer({ minimum: 0, maximum: 999 }),
    latencyMs: Type.Number({ minimum: 0 }),
    entry: Type.Optional(oneOf(['ours', 'other'])),
    certificate: Type.Optional(
      closed({
        fingerprint: text(95),
        names: list(text(300), 1_000),
        issuer: Type.Optional(text(100)),
        coversHost: Type.Boolean(),
        notBefore: Instant,
        notAfter: Instant,
      }),
    ),
  }),
  closed({ kind: Type.Literal('no_answer'), reason: oneOf(NO_ANSWER_REASONS) }),
])
export const Handshake = Type.Union([
  closed({
    kind: Type.Literal('certificate'),
    fingerprint: text(95),
    serial: text(80),
    names: list(text(300), 1_000),
    coversHost: Type.Boolean(),
    notBefore: Type.Number(),
    notAfter: Type.Number(),
  }),
  closed({ kind: oneOf(['refused', 'unknown']) }),
])
export const Visit = closed({ ...Question, listenAddress: Endpoint, full: Type.Boolean(), limitMs: Milliseconds })
export const ViewVisit = closed({ ...Question, listenAddress: Endpoint, limitMs: Milliseconds })
export const ViewHandshake = closed({ host: Host, listenAddress: Endpoint, limitMs: Milliseconds })
export const Asked = closed({ host: Host, place: Place })

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
export const Look = closed({
  fingerprint: text(1_000),
  changedAt: nullable(Type.Number()),
  whole: Type.Boolean(),
  hosts: list(closed({ host: text(300), ...served })),
  gone: list(text(300)),
  broken: list(closed({ ...Located, sentence: Sentence }), MOST_PLACES),
  debugLogs: list(closed(Located), MOST_PLACES),
  // Absent: an agent of an earlier version does not tell them.
  patterns: Type.Optional(
    list(
      closed({
        name: text(4_096),
        kind: oneOf(['wildcard', 'pattern']),
        configPath: SystemPath,
        line: Line,
        tls: Type.Boolean(),
      }),
      1_000,
    ),
  ),
})
export const Match = closed({ how: oneOf([...HOW, 'unknown']), configPath: SystemPath, line: Line })
/** What nginx does for a host, as text to be shown. */
export const Shown = closed({ path: SystemPath, line: nullable(Line), text: text(262_144) })
export const Where = closed({ path: SystemPath, line: nullable(Line) })
export const LoadState = closed({
  changedSinceLoad: nullable(list(SystemPath, 1_000)),
  refusal: nullable(Sentence),
})
export const NewestError = nullable(oneOf(ERROR_CLASSES))
export const ProxyFact = Type.Union([
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
export const Findings = list(
  closed({
    subject: text(200),
    status: oneOf(['ok', 'warning', 'fault']),
    sentence: Sentence,
    fix: Type.Optional(Sentence),
  }),
  1_000,
)

export const Description = closed({
  protocol: Type.Integer({ minimum: 1 }),
  version: text(50),
  server: text(32),
  /** Differs after every start of the agent. */
  boot: text(32),
  pid: Whole,
  /** The highest epoch of any store that has changed this edge. */
  epoch: Whole,
  /** That of each store. */
  floors: list(Floor, MOST_STORES),
  generation: nullable(Whole),
  rights: closed({ user: Whole, signalsNginx: Type.Boolean(), writesFolder: Type.Boolean() }),
  nginx: closed({
    isRunning: Type.Boolean(),
    folder: SystemPath,
    address: Address,
    listen: list(Address, 1_000),
    ports: closed({ http: Port, https: Port }),
  }),
})
