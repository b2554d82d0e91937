import { type Static, type TSchema, Type } from 'typebox'
import { CertificateId } from '../record/entry.ts'
import { LookAnswer, LookQuestion } from './look-shapes.ts'
import * as shape from './shapes.ts'

/** What the two sides must have in common. A change of a shape that the other side refuses needs a new number. */
export const PROTOCOL = 3

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
export const CHANGE_MS = 330_000

/**
 * Everything that a service may ask of an agent. Each may be repeated. The first four only look, and are all that plans, diagnosis and
 * monitor use. Runs change the edge by the next three. The last three belong to enrolment.
 */
export const VERBS = {
  describe: verb(shape.DescribeQuestion, shape.Description),
  list: verb(shape.ListQuestion, shape.HostList, { asked: large, answered: large }),
  look: verb(LookQuestion, LookAnswer, { asked: 4 * 1024 * 1024, answered: large, limitMs: TEST_MS }),
  visit: verb(shape.Visit, shape.VisitAnswers, { asked: 1024 * 1024, answered: 4 * 1024 * 1024, limitMs: TEST_MS }),

  /** Answered with lines of `ChangeLine`. */
  change: verb(shape.Change, Nothing, { asked: large, answered: large, limitMs: CHANGE_MS }),
  /** A certificate with its key. Answered with its id. */
  certificate: verb(shape.Pair, CertificateId, { asked: 256 * 1024 }),
  challenge: verb(shape.Challenge, Nothing, { limitMs: CHANGE_MS }),

  /** The public half of a new key, whose certificate is installed next. Only over TLS. */
  'prepare-key': verb(Nothing, Type.String({ maxLength: 1_000 })),
  'install-certificate': verb(Type.String({ maxLength: 8_192 }), Nothing),
  /** The services let this edge go. */
  retire: verb(Nothing, Nothing),
} as const

export type Verb = keyof typeof VERBS
export type Asked<V extends Verb> = Static<(typeof VERBS)[V]['ask']>
export type Answered<V extends Verb> = Static<(typeof VERBS)[V]['answer']>

export type WireChange = Extract<Static<typeof shape.Change>, { readonly items: unknown }>
export type WireVerdict = Static<typeof shape.Verdict>
export type WireDescription = Static<typeof shape.Description>
export type WireLook = Static<typeof LookAnswer>
export type WireServed = NonNullable<WireLook['served']>
export type WireVisit = Static<typeof shape.Visit>['questions'][number]
export type WireVisitAnswer = Static<typeof shape.VisitAnswers>[number]
export type WireChangeLine = Static<typeof shape.ChangeLine>
