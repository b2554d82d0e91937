import { type Static, type TSchema, Type } from 'typebox'
import * as shape from './shapes.ts'
import { SiteAnswer, SiteQuestion, TakenOut } from './site-shapes.ts'

/** What the two sides must have in common. A change of a shape that the other side refuses needs a new number. */
export const PROTOCOL = 1

/** Where the agent listens, if its configuration does not say. */
export const PATH_OF = (verb: string): string => `/v${PROTOCOL}/${verb}`

const { closed } = shape
const Nothing = closed({})
const small = 64 * 1024
const large = 64 * 1024 * 1024

const verb = <Ask extends TSchema, Answer extends TSchema>(ask: Ask, answer: Answer, sizes: Sizes = {}) => ({
  ask,
  answer,
  mostAsked: sizes.asked ?? small,
  mostAnswered: sizes.answered ?? small,
  /** Without what the agent itself waits for, such as a test of nginx. */
  limitMs: sizes.limitMs ?? 15_000,
})

interface Sizes {
  readonly asked?: number
  readonly answered?: number
  readonly limitMs?: number
}

/** A test of nginx is ended after 60 s, a reload after 10 s. A copy of nginx in which a site is rehearsed has 60 s to start. */
const TEST_MS = 75_000
const CHANGE_MS = 330_000

/** Everything that a service may ask of an agent. Each may be repeated. */
export const VERBS = {
  describe: verb(Nothing, shape.Description),
  prepare: verb(Nothing, Nothing, { limitMs: CHANGE_MS }),
  'assert-valid': verb(Nothing, Nothing, { limitMs: TEST_MS }),
  'assert-no-debug-log': verb(Nothing, Nothing),
  examine: verb(Nothing, shape.Findings, { limitMs: TEST_MS }),

  /** The public half of a new key, whose certificate is installed next. Only over TLS. */
  'prepare-key': verb(Nothing, Type.String({ maxLength: 1_000 })),
  'install-certificate': verb(Type.String({ maxLength: 8_192 }), Nothing),

  /** The services let this edge go. An older agent does not know this verb. */
  retire: verb(Nothing, Nothing),

  generation: verb(Nothing, Type.String({ maxLength: 200 })),
  list: verb(Nothing, shape.Entries, { answered: large }),
  /** An older agent does not know this verb. */
  stray: verb(Nothing, shape.StrayLines, { answered: 1024 * 1024 }),
  'fences-of': verb(Type.Array(shape.Host, { maxItems: 500_000 }), shape.Fences, { asked: large, answered: large }),
  hash: verb(shape.Paths, shape.FileHashes, { asked: large, answered: large }),
  read: verb(shape.Paths, shape.EdgeFiles, { asked: large, answered: large }),
  /** The files that go when the host's entry consists of `wanted` alone. `certificate`: the id of the pair that it then has. */
  removals: verb(
    closed({ host: shape.Host, wanted: shape.Paths, certificate: shape.nullable(Type.String({ maxLength: 32 })) }),
    shape.Paths,
  ),
  'unused-certificates': verb(Nothing, shape.Paths, { answered: large }),
  released: verb(closed({ host: shape.Host, certificate: Type.Optional(shape.Pair) }), shape.EdgeFiles, {
    asked: 256 * 1024,
    answered: 4 * 1024 * 1024,
  }),

  /** The hand-written site of a host, as it would be adopted. An older agent knows neither this verb nor the next. */
  'find-site': verb(SiteQuestion, SiteAnswer, { answered: 16 * 1024 * 1024, limitMs: TEST_MS }),
  /** The record by which a change takes that site out of its files. */
  'taken-out': verb(TakenOut, shape.EdgeFiles, { answered: 4 * 1024 * 1024 }),

  fence: verb(shape.Fences, Nothing, { asked: large }),
  /** An older agent does not know this verb. */
  'raise-floor': verb(shape.Floor, Nothing),
  /** Nor these. */
  unsettled: verb(Nothing, shape.UnsettledRuns, { answered: 2 * 1024 * 1024 }),
  settle: verb(shape.RunIds, Nothing, { asked: 1024 * 1024 }),
  /** Answered with lines of `ChangeLine`. */
  change: verb(shape.Change, Nothing, { asked: large, limitMs: CHANGE_MS }),
  /** What became of a change. One that has not arrived is refused when it does. */
  verdict: verb(closed({ id: Type.String({ pattern: '^[0-9a-f]{32}$' }) }), shape.Verdict, { limitMs: 20_000 }),
  /** The same, and one that is not entered yet is refused. An older agent does not know this verb. */
  withdraw: verb(closed({ id: Type.String({ pattern: '^[0-9a-f]{32}$' }) }), shape.Verdict, { limitMs: 20_000 }),
  'try-out': verb(shape.EdgeFiles, Nothing, { asked: large }),
  'forget-tried': verb(Nothing, Nothing),

  ask: verb(closed(shape.Question), shape.EdgeAnswer),
  'foreign-listeners': verb(closed(shape.Question), Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 }), {
    limitMs: 30_000,
  }),
  handshake: verb(closed({ host: shape.Host }), shape.Handshake),

  look: verb(closed({ since: shape.nullable(Type.String({ maxLength: 1_000 })) }), shape.Look, {
    answered: large,
    limitMs: 60_000,
  }),
  answers: verb(shape.Asked, shape.nullable(shape.Match)),
  where: verb(closed({ host: shape.Host }), shape.Where),
  'load-state': verb(shape.SystemPaths, shape.LoadState, { asked: 4 * 1024 * 1024, answered: 4 * 1024 * 1024 }),
  'newest-error': verb(closed({ host: shape.Host, since: Type.Number() }), shape.NewestError),
  'local-address': verb(closed({ name: shape.Host }), shape.nullable(Type.String({ maxLength: 45 }))),
  preflight: verb(closed({ host: shape.Host, tls: Type.Boolean() }), shape.ProxyFact, { limitMs: TEST_MS }),
  visit: verb(shape.Visit, shape.EdgeAnswer, { limitMs: 75_000 }),
  'view-visit': verb(shape.ViewVisit, shape.EdgeAnswer, { limitMs: 75_000 }),
  'view-handshake': verb(shape.ViewHandshake, shape.Handshake, { limitMs: 75_000 }),
  'forget-session': verb(closed({ host: shape.Host }), Nothing),
} as const

export type Verb = keyof typeof VERBS
export type Asked<V extends Verb> = Static<(typeof VERBS)[V]['ask']>
export type Answered<V extends Verb> = Static<(typeof VERBS)[V]['answer']>

export type WireChange = Static<typeof shape.Change>
export type WireVerdict = Static<typeof shape.Verdict>
export type WireDescription = Static<typeof shape.Description>
export type WireLook = Static<typeof shape.Look>
export type WireChangeLine = Static<typeof shape.ChangeLine>
