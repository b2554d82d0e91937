import { type TProperties, type TSchema, Type } from 'typebox'
import { NO_ANSWER_REASONS } from '../../model/badge.ts'
import { MOST_STRAY_FILES, MOST_STRAY_LINES } from '../../model/host-status.ts'
import { HIGHEST_NUMBER, RUN_ID_GRAMMAR, STORE_ID_GRAMMAR } from '../../model/run.ts'
import { EDGE_POINTS } from '../contract/change.ts'
import { MOST_TOUCHED } from '../contract/list.ts'
import { MOST_STORES } from '../fences/fence-table.ts'
import { CertificateId, EntryShape } from '../record/entry.ts'

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

export const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Milliseconds = Type.Integer({ minimum: 0, maximum: 600_000 })
export const Sentence = text(4_096)
export const SystemPath = text(4_096)
export const Line = Type.Integer({ minimum: 0 })

export const Host = text(253)
export const Port = Type.Integer({ minimum: 1, maximum: 65_535 })
export const Address = text(45)
const RunId = Type.String({ pattern: RUN_ID_GRAMMAR })
const StoreId = Type.String({ pattern: STORE_ID_GRAMMAR })
const FenceNumber = Type.Integer({ minimum: 0, maximum: HIGHEST_NUMBER })
const Fence = closed({ host: Host, epoch: Whole, number: FenceNumber, store: Type.Optional(StoreId) })
const Floor = closed({ store: StoreId, epoch: Whole })

export const Pair = closed({ certificatePem: text(65_536), keyPem: text(16_384) })

/** The last moment that a date can be. */
const LAST_MOMENT = 8_640_000_000_000_000
const Revision = Type.String({ pattern: '^[0-9a-f]{32}$' })

/** `hosts`: default all. `certificates`: which of these the edge has. `unsettled`: the runs that are not settled. */
export const ListQuestion = closed({
  hosts: Type.Optional(list(Host)),
  certificates: Type.Optional(list(CertificateId, 10_000)),
  unsettled: Type.Optional(Type.Literal(true)),
})

const StrayLines = list(
  closed({
    file: Type.String({ pattern: '^current/[a-z0-9/-]{1,40}/[\\w.?-]{1,255}$' }),
    lines: list(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), MOST_STRAY_LINES),
  }),
  MOST_STRAY_FILES,
)

const UnsettledRuns = list(closed({ run: RunId, store: StoreId, since: Whole }), 10_000)

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
          field: Type.String({ pattern: '^[a-z][A-Za-z.]{0,40}$' }),
          expected: Type.Optional(text(300)),
          found: Type.Optional(text(300)),
          added: Type.Optional(Whole),
          absent: Type.Optional(Whole),
          since: Type.Optional(Type.Integer({ minimum: 0, maximum: LAST_MOMENT })),
          alsoTouches: Type.Optional(list(Host, MOST_TOUCHED)),
          alsoTouchesMore: Type.Optional(Whole),
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
  certificates: Type.Optional(list(CertificateId, 10_000)),
  unsettled: Type.Optional(UnsettledRuns),
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
const Question = { host: Host, path: text(2_048), tls: Type.Boolean(), proof: Type.Optional(text(65)) }
const EdgeAnswer = Type.Union([
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
const Handshake = Type.Union([
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

/** An address and port of the edge. Default: its own address, as a visitor of the host would. */
const VisitedPlace = Type.Optional(closed({ address: Address, port: Port, limitMs: Milliseconds }))
const MOST_VISITS = 64
/**
 * What is asked of the edge's own web server, and of no other. `answer`: sends a request; with `full` over kept connections, and with a
 * full TLS handshake if it is true. `certificate`: only a TLS handshake. `others`: at which other addresses another server answers.
 * `forget`: drops the TLS sessions of hosts that are no longer served.
 */
export const Visit = closed({
  questions: list(
    Type.Union([
      closed({ kind: Type.Literal('answer'), ...Question, at: VisitedPlace, full: Type.Optional(Type.Boolean()) }),
      closed({ kind: Type.Literal('certificate'), host: Host, at: VisitedPlace }),
      closed({ kind: Type.Literal('others'), ...Question }),
    ]),
    MOST_VISITS,
  ),
  forget: Type.Optional(list(Host, 1_000)),
})
/** In the order of the questions. */
export const VisitAnswers = list(
  Type.Union([EdgeAnswer, Handshake, closed({ kind: Type.Literal('others'), listeners: list(text(100), 1_000) })]),
  MOST_VISITS,
)

/** `prepared`: answered when the edge is prepared, with a fault if it cannot be. */
export const DescribeQuestion = closed({ prepared: Type.Optional(Type.Literal(true)) })
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
