import type { Clock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
import { type ChallengeResponder, IssueFault } from '../contract.ts'
import type { AccountSession } from './account.ts'
import type { Proofs } from './challenges.ts'
import { certificateRequest } from './csr.ts'
import { AcmeProblem, problemType } from './problem.ts'
import { type Authorization, isToken, notAcme, type Order, readAuthorization, readOrder } from './resources.ts'

const MAX_POLL_PAUSE_MS = 5_000
/** Reasons for which an authority refuses a name without checking the challenge. */
const REFUSALS = new Set(['caa', 'rejectedIdentifier'])

/** What every step of an order needs. */
export interface OrderContext {
  readonly session: AccountSession
  readonly names: readonly string[]
  /** The certificate that this one renews (RFC 9773). */
  readonly replaces?: string | undefined
  readonly proofs: Proofs
  /** Milliseconds: how long the authority may take to decide, and the first pause between two requests for the order. */
  readonly polling: { readonly decisionMs: number; readonly pollMs: number }
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
}

/** Not repeatable: each call places an order. */
export async function placeOrder({ session, names, replaces, clock }: OrderContext): Promise<Order> {
  const identifiers = names.map((value) => ({ type: 'dns', value }))
  const request = { identifiers, ...(replaces !== undefined && { replaces }) }
  return readOrder(await session.post((await session.endpoints()).newOrder, request), clock.now())
}

/** The current state of the order; undefined when the authority has no order of this account at that URL. */
export async function findOrder(context: OrderContext, url: string): Promise<Order | undefined> {
  try {
    return await fetchOrder(context, url)
  } catch (error) {
    const isGone = error instanceof AcmeProblem && [400, 403, 404].includes(error.status)
    if (isGone && error.retryAfter === undefined) return undefined
    throw error
  }
}

/** Publishes a proof for each name that is not authorized yet and waits for the authority's decision. */
export async function authorizeOrder(
  context: OrderContext,
  order: Order,
  type: ChallengeResponder['type'],
): Promise<Order> {
  const { session, names, proofs, signal } = context
  if (order.status !== 'pending') return order
  const open = (await authorizationsOf(session, order)).filter(({ status }) => status === 'pending')
  const challenges = open.map((authorization) => challengeOf(authorization, type, names))
  for (const { host, token } of challenges) {
    await proofs.publish(host, token, await session.keyAuthorization(token), signal)
  }
  for (const { url, status } of challenges) {
    if (status === 'pending') await session.post(url, {})
  }
  return waitForDecision(context, order)
}

/** From `ready`, or from the state that a crash left, to `valid` or `invalid`. */
export async function finalizeOrder(context: OrderContext, order: Order, keyPem: string): Promise<Order> {
  if (order.status !== 'ready') return waitForDecision(context, order)
  const { session, names, clock } = context
  const csr = certificateRequest(keyPem, names).toString('base64url')
  const answer = await session.post(order.finalize, { csr })
  return waitForDecision(context, readOrder(answer, clock.now(), order.url))
}

export async function downloadChain({ session }: OrderContext, { certificate }: Order): Promise<string> {
  if (certificate === undefined) throw notAcme()
  const { body } = await session.read(certificate)
  if (!body.includes('-----BEGIN CERTIFICATE-----')) throw notAcme()
  return body
}

/** Why an order ended `invalid`. */
export async function reasonInvalid({ session, names }: OrderContext, order: Order): Promise<IssueFault> {
  const failed = (await authorizationsOf(session, order)).filter(({ status }) => status === 'invalid')
  const [first] = failed
  const reason = problemType(first?.challenges.find(({ error }) => error)?.error ?? order.error) ?? 'no reason given'
  const subject = names.join(', ')
  const unproven = names.map(bareName).filter((name) => failed.some(({ host }) => host === name))
  const [kind, sentence] =
    first && !REFUSALS.has(reason)
      ? ([
          'challenge_failed',
          `The certificate authority did not accept the challenge for ${subject} (${reason}).`,
        ] as const)
      : (['rejected', `The certificate authority refused a certificate for ${subject} (${reason}).`] as const)
  return new IssueFault(kind, sentence, undefined, [...new Set(unproven)])
}

const bareName = (name: string): string => name.replace(/^\*\./, '')

const fetchOrder = async ({ session, clock }: OrderContext, url: string): Promise<Order> =>
  readOrder(await session.read(url), clock.now(), url)

const authorizationsOf = (session: AccountSession, order: Order): Promise<Authorization[]> =>
  Promise.all(order.authorizations.map(async (url) => readAuthorization(await session.read(url))))

/** Only for a name that was ordered: the authority must not choose what is written into the zone. */
function challengeOf(
  authorization: Authorization,
  type: ChallengeResponder['type'],
  names: readonly string[],
): { readonly host: string; readonly token: string; readonly url: string; readonly status: unknown } {
  const host = names.map(bareName).find((name) => name === authorization.host)
  const challenge = authorization.challenges.find((offered) => offered.type === type && isToken(offered.token))
  if (!host || !challenge || !isToken(challenge.token))
    throw new IssueFault('rejected', `The certificate authority offers no ${type} challenge for ${names.join(', ')}.`)
  return { host, token: challenge.token, url: challenge.url, status: challenge.status }
}

/**
 * Polls while only the authority can change the state of the order. A Retry-After longer than the next pause is obeyed; one
 * that ends after the time limit ends the wait at once, and the next call resumes the order.
 */
async function waitForDecision(context: OrderContext, order: Order): Promise<Order> {
  const { polling, signal, clock } = context
  const { pollMs, decisionMs } = polling
  const latest = await poll(
    (attempt) => (attempt === 1 ? order : fetchOrder(context, order.url)),
    ({ status }) => status !== 'pending' && status !== 'processing',
    {
      firstMs: pollMs,
      factor: 2,
      longestMs: MAX_POLL_PAUSE_MS,
      withinMs: decisionMs,
      signal,
      clock,
      atLeastMs: ({ retryAfter = 0 }) => retryAfter * 1000,
    },
  )
  if (latest.status === 'pending' || latest.status === 'processing') throw undecided(decisionMs)
  return latest
}

const undecided = (limitMs: number): IssueFault =>
  new IssueFault('unavailable', `The certificate authority did not decide on the order within ${limitMs / 1000} s.`)
