import { setTimeout as sleep } from 'node:timers/promises'
import { type Authorization, type Client, crypto, type Order } from 'acme-client'
import { type ChallengeResponder, IssueFault } from '../contract.ts'
import type { Ask } from './account.ts'
import { AcmeProblem, problemType } from './problem.ts'
import type { Proofs } from './proofs.ts'
import { isToken, soundAuthorization, soundChain, soundOrder } from './shapes.ts'

const SLOWEST_POLL_MS = 5_000
/** An authority that refuses for these reasons did not look at the proof. */
const REFUSALS = new Set(['caa', 'rejectedIdentifier'])

export interface OrderParts {
  readonly ask: Ask
  readonly names: readonly string[]
  /** The certificate that this one renews (RFC 9773). */
  readonly replaces?: string | undefined
  readonly proofs: Proofs
  /** Milliseconds: how long the authority may take to decide, and the first pause between two looks. */
  readonly patience: { readonly decisionMs: number; readonly pollMs: number }
}

export function placeOrder({ ask, names, replaces }: OrderParts): Promise<Order> {
  const identifiers = names.map((value) => ({ type: 'dns', value }))
  const request = { identifiers, ...(replaces !== undefined && { replaces }) }
  return askForOrder(ask, (client) => client.createOrder(request))
}

/** The order as it stands; undefined when the authority has none for us at that address. */
export async function lookAtOrder({ ask }: OrderParts, url: string): Promise<Order | undefined> {
  try {
    return await askForOrder(ask, (client) => client.getOrder({ url } as Order))
  } catch (error) {
    const isGone = error instanceof AcmeProblem && [400, 403, 404].includes(error.status)
    if (isGone) return undefined
    throw error
  }
}

/** Shows a proof for each name that still needs one and waits for the verdict. */
export async function authorizeOrder(
  parts: OrderParts,
  order: Order,
  type: ChallengeResponder['type'],
): Promise<Order> {
  const { ask, names, proofs } = parts
  if (order.status !== 'pending') return order
  const open = (await authorizationsOf(ask, order)).filter(({ status }) => status === 'pending')
  const challenges = open.map((authorization) => challengeOf(authorization, type, names))
  for (const { host, challenge } of challenges) {
    // The key authorization is the same for every type; asked for dns-01, acme-client gives its digest.
    const keyAuthorization = await ask((client) =>
      client.getChallengeKeyAuthorization({ ...challenge, type: 'http-01' }),
    )
    await proofs.show(host, challenge.token, keyAuthorization)
  }
  for (const { challenge } of challenges) {
    if (challenge.status === 'pending') await ask((client) => client.completeChallenge(challenge))
  }
  return untilDecided(parts, order)
}

/** From `ready`, or from where a crash left it, to `valid`. */
export async function finalizeOrder(parts: OrderParts, order: Order, keyPem: string): Promise<Order> {
  if (order.status !== 'ready') return untilDecided(parts, order)
  const [, csr] = await crypto.createCsr({ altNames: [...parts.names] }, keyPem)
  return untilDecided(parts, await askForOrder(parts.ask, (client) => client.finalizeOrder(order, csr)))
}

export const downloadChain = ({ ask }: OrderParts, order: Order): Promise<string> =>
  ask(async (client) => soundChain(await client.getCertificate(order)))

/** Why an order that ended `invalid` did. */
export async function whyInvalid({ ask, names }: OrderParts, order: Order): Promise<IssueFault> {
  const failed = (await authorizationsOf(ask, order)).filter(({ status }) => status === 'invalid')
  const [first] = failed
  const reason = problemType(first?.challenges.find(({ error }) => error)?.error ?? order.error) ?? 'no reason given'
  const what = names.join(', ')
  const unproven = names.map(bareName).filter((name) => failed.some(({ identifier }) => identifier.value === name))
  const [kind, sentence] =
    first && !REFUSALS.has(reason)
      ? (['challenge_failed', `The certificate authority did not see the proof for ${what} (${reason}).`] as const)
      : (['rejected', `The certificate authority refuses a certificate for ${what} (${reason}).`] as const)
  return new IssueFault(kind, sentence, undefined, [...new Set(unproven)])
}

const bareName = (name: string): string => name.replace(/^\*\./, '')

const askForOrder = (ask: Ask, question: (client: Client) => Promise<Order>): Promise<Order> =>
  ask(async (client) => soundOrder(await question(client)))

async function authorizationsOf(ask: Ask, order: Order): Promise<Authorization[]> {
  const each = order.authorizations.map((url) =>
    ask(async (client) => {
      const authorizations = await client.getAuthorizations({ ...order, authorizations: [url] })
      return authorizations.map(soundAuthorization)
    }),
  )
  return (await Promise.all(each)).flat()
}

/** Only for a name that was ordered: the authority is not to choose what is written into the zone. */
function challengeOf(
  { identifier, challenges }: Authorization,
  type: ChallengeResponder['type'],
  names: readonly string[],
) {
  const host = names.map(bareName).find((name) => name === identifier.value)
  const challenge = challenges.find((candidate) => candidate.type === type && isToken(candidate.token))
  if (!host || !challenge)
    throw new IssueFault('rejected', `The certificate authority offers no ${type} challenge for ${names.join(', ')}.`)
  return { host, challenge }
}

/** Waits as long as the order is where only the authority can move it on from. */
async function untilDecided({ ask, patience }: OrderParts, order: Order): Promise<Order> {
  const giveUpAt = performance.now() + patience.decisionMs
  let pause = patience.pollMs
  let latest = order
  while (latest.status === 'pending' || latest.status === 'processing') {
    if (performance.now() + pause > giveUpAt) throw undecided(patience.decisionMs)
    await sleep(pause)
    latest = await askForOrder(ask, (client) => client.getOrder(order))
    pause = Math.min(pause * 1.5, SLOWEST_POLL_MS)
  }
  return latest
}

const undecided = (limitMs: number): IssueFault =>
  new IssueFault('unavailable', `The certificate authority did not decide on the order within ${limitMs / 1000} s.`)
