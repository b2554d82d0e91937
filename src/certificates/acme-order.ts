import { setTimeout as sleep } from 'node:timers/promises'
import { type Authorization, crypto, type Order } from 'acme-client'
import type { Ask } from './acme-account.ts'
import { AcmeProblem, problemType } from './acme-problem.ts'
import { type ChallengeResponder, IssueFault } from './contract.ts'
import type { Proofs } from './proofs.ts'

const SLOWEST_POLL_MS = 5_000
/** An authority that refuses for these reasons did not look at the proof. */
const REFUSALS = new Set(['caa', 'rejectedIdentifier'])

export interface Patience {
  /** How long the authority may take to decide. */
  readonly decisionMs: number
  /** The first pause between two looks at an order. */
  readonly pollMs: number
}

export const placeOrder = (ask: Ask, names: readonly string[]): Promise<Order> =>
  ask((client) => client.createOrder({ identifiers: names.map((value) => ({ type: 'dns', value })) }))

/** The order as it stands; undefined when the authority has none for us at that address. */
export async function lookAtOrder(ask: Ask, url: string): Promise<Order | undefined> {
  try {
    return await ask((client) => client.getOrder({ url } as Order))
  } catch (error) {
    const isGone = error instanceof AcmeProblem && [400, 403, 404].includes(error.status)
    if (isGone) return undefined
    throw error
  }
}

/** Shows a proof for each name that still needs one and waits for the verdict. */
export async function authorizeOrder(
  ask: Ask,
  order: Order,
  type: ChallengeResponder['type'],
  shown: Proofs,
  patience: Patience,
): Promise<Order> {
  if (order.status !== 'pending') return order
  const authorizations = await authorizationsOf(ask, order)
  const open = authorizations.filter(({ status }) => status === 'pending')
  const challenges = open.map((authorization) => challengeOf(authorization, type))
  for (const { host, challenge } of challenges) {
    // The key authorization is the same for every type; asked for dns-01, acme-client gives its digest.
    const keyAuthorization = await ask((client) =>
      client.getChallengeKeyAuthorization({ ...challenge, type: 'http-01' }),
    )
    await shown.show(host, challenge.token, keyAuthorization)
  }
  for (const { challenge } of challenges) {
    if (challenge.status === 'pending') await ask((client) => client.completeChallenge(challenge))
  }
  return untilDecided(ask, order, 'pending', patience)
}

/** From `ready` (or later) to `valid`. */
export async function finalizeOrder(
  ask: Ask,
  order: Order,
  names: readonly string[],
  keyPem: string,
  patience: Patience,
): Promise<Order> {
  if (order.status === 'ready') {
    const [, csr] = await crypto.createCsr({ altNames: [...names] }, keyPem)
    const finalized = await ask((client) => client.finalizeOrder(order, csr))
    return untilDecided(ask, finalized, 'processing', patience)
  }
  return order.status === 'processing' ? untilDecided(ask, order, 'processing', patience) : order
}

export const downloadChain = (ask: Ask, order: Order): Promise<string> => ask((client) => client.getCertificate(order))

/** Why an order that ended `invalid` did. */
export async function whyInvalid(ask: Ask, order: Order): Promise<IssueFault> {
  const authorizations = await authorizationsOf(ask, order)
  const failed = authorizations.find(({ status }) => status === 'invalid')
  const reason = problemType(failed?.challenges.find(({ error }) => error)?.error ?? order.error) ?? 'no reason given'
  const names = failed?.identifier.value ?? order.identifiers.map(({ value }) => value).join(', ')
  return failed && !REFUSALS.has(reason)
    ? new IssueFault('challenge_failed', `The certificate authority did not see the proof for ${names} (${reason}).`)
    : new IssueFault('rejected', `The certificate authority refuses a certificate for ${names} (${reason}).`)
}

async function authorizationsOf(ask: Ask, order: Order): Promise<Authorization[]> {
  const each = order.authorizations.map((url) =>
    ask((client) => client.getAuthorizations({ ...order, authorizations: [url] })),
  )
  return (await Promise.all(each)).flat()
}

/** Tokens go into file names, addresses and configuration: nothing but RFC 8555's alphabet may. */
function challengeOf({ identifier, challenges }: Authorization, type: ChallengeResponder['type']) {
  const challenge = challenges.find((candidate) => candidate.type === type)
  if (!challenge || !/^[\w-]{1,256}$/.test(challenge.token))
    throw new IssueFault('rejected', `The certificate authority offers no ${type} challenge for ${identifier.value}.`)
  return { host: identifier.value, challenge }
}

async function untilDecided(ask: Ask, order: Order, undecided: Order['status'], patience: Patience): Promise<Order> {
  const giveUpAt = performance.now() + patience.decisionMs
  let pause = patience.pollMs
  let latest = order
  while (latest.status === undecided) {
    if (performance.now() + pause > giveUpAt)
      throw new IssueFault(
        'unavailable',
        `The certificate authority did not decide on its order within ${patience.decisionMs / 1000} s.`,
      )
    await sleep(pause)
    latest = await ask((client) => client.getOrder(order))
    pause = Math.min(pause * 1.5, SLOWEST_POLL_MS)
  }
  return latest
}
