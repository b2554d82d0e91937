import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../../model/errors.ts'
import { LruCache } from '../../primitives/lru-cache.ts'

/** Requests per address and minute. */
export interface Budget {
  readonly plan: number
  readonly diagnose: number
  readonly read: number
  readonly failedCredential: number
}

export interface RateLimits {
  readonly public: Budget
  readonly internal: Budget
}

export interface Budgets {
  /** Takes one request off the caller's budget, or refuses with the seconds to wait. */
  spend(request: FastifyRequest, budget: keyof Budget): Promise<void>
  /** Refuses a caller whose failed credentials are spent: were the next one looked at, guessing would cost nothing. */
  refuseGuesser(request: FastifyRequest): void
}

const MINUTE_MS = 60_000
/** Addresses remembered at once; the least recently seen are forgotten first, so memory stays bounded. */
const MOST_ADDRESSES = 20_000

export async function createBudgets(app: FastifyInstance, limits: RateLimits): Promise<Budgets> {
  await app.register(rateLimit, { global: false, cache: MOST_ADDRESSES })
  const limiter = (budget: keyof Budget) =>
    app.createRateLimit({
      timeWindow: MINUTE_MS,
      max: ({ caller }: FastifyRequest) => limits[caller.network][budget],
      keyGenerator: (request: FastifyRequest) => `${budget} ${keyOf(request)}`,
    })
  const limiters = {
    plan: limiter('plan'),
    diagnose: limiter('diagnose'),
    read: limiter('read'),
    failedCredential: limiter('failedCredential'),
  }
  const guessers = new LruCache<string, number>(MOST_ADDRESSES)
  return {
    async spend(request, budget) {
      const verdict = await limiters[budget](request)
      if (verdict.isAllowed || !verdict.isExceeded) return
      const retryAfter = Math.max(1, verdict.ttlInSeconds)
      if (budget === 'failedCredential') guessers.set(keyOf(request), Date.now() + retryAfter * 1000)
      throw overBudget(verdict.max, retryAfter)
    },
    refuseGuesser(request) {
      const waitMs = (guessers.get(keyOf(request)) ?? 0) - Date.now()
      if (waitMs > 0) throw overBudget(limits[request.caller.network].failedCredential, Math.ceil(waitMs / 1000))
    },
  }
}

const overBudget = (max: number, retryAfter: number): Problem =>
  new Problem('rate_limited', `Over ${max} requests of this kind came from this address in a minute.`, { retryAfter })

const keyOf = ({ caller }: FastifyRequest): string => `${caller.network} ${household(caller.address)}`

/** The part of a caller's address that budgets and bounds count by: one IPv6 customer has a whole /64 of addresses. */
export function household(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':')
  const missing = 8 - groups.length - (tail ? tail.split(':').length : 0)
  const full = address.includes('::')
    ? [...groups, ...Array(Math.max(0, missing)).fill('0'), ...tail.split(':')]
    : groups
  return full.slice(0, 4).join(':')
}
