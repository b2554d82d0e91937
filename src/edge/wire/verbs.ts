import { type Static, type TSchema, Type } from 'typebox'
import * as shape from './shapes.ts'
import { SiteAnswer, SiteQuestion } from './site-shapes.ts'

/** What the two sides must have in common. A change of a shape that the other side refuses needs a new number. */
export const PROTOCOL = 2

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

  /** The services let this edge go. */
  retire: verb(Nothing, Nothing),

  generation: verb(Nothing, Type.String({ maxLength: 200 })),
  list: verb(shape.ListQuestion, shape.HostList, { asked: large, answered: large }),
  /** Answered with lines of `ChangeLine`. */
  change: verb(shape.Change, Nothing, { asked: large, answered: large, limitMs: CHANGE_MS }),
  /** A certificate with its key. Answered with its id. */
  certificate: verb(shape.Pair, shape.CertificateId, { asked: 256 * 1024 }),
  'has-certificate': verb(shape.CertificateId, Type.Boolean()),
  challenge: verb(shape.Challenge, Nothing, { limitMs: CHANGE_MS }),
  unsettled: verb(Nothing, shape.UnsettledRuns, { answered: 2 * 1024 * 1024 }),

  show: verb(closed({ host: shape.Host }), shape.nullable(shape.Shown), { answered: 1024 * 1024 }),
  /** The hand-written site of a host, as it would be adopted. */
  'find-site': verb(SiteQuestion, SiteAnswer, { answered: 16 * 1024 * 1024, limitMs: TEST_MS }),

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

export type WireChange = Extract<Static<typeof shape.Change>, { readonly items: unknown }>
export type WireVerdict = Static<typeof shape.Verdict>
export type WireDescription = Static<typeof shape.Description>
export type WireLook = Static<typeof shape.Look>
export type WireChangeLine = Static<typeof shape.ChangeLine>
