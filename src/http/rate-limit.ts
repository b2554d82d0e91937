import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Budget, RateLimits } from '../config/rate-limits.ts'
import { Problem } from '../model/errors.ts'

/** Takes one request off the caller's budget, or refuses with the seconds to wait. */
export type Spend = (request: FastifyRequest, budget: keyof Budget) => Promise<void>

const MINUTE_MS = 60_000
/** Addresses remembered at once; the least recently seen are forgotten first, so memory stays bounded. */
const MOST_ADDRESSES = 20_000

export async function createBudgets(app: FastifyInstance, limits: RateLimits): Promise<Spend> {
  await app.register(rateLimit, { global: false, cache: MOST_ADDRESSES })
  const limiter = (budget: keyof Budget) =>
    app.createRateLimit({
      timeWindow: MINUTE_MS,
      max: ({ caller }: FastifyRequest) => limits[caller.network][budget],
      keyGenerator: ({ caller }: FastifyRequest) => `${budget} ${caller.network} ${household(caller.address)}`,
    })
  const limiters = {
    plan: limiter('plan'),
    diagnose: limiter('diagnose'),
    read: limiter('read'),
    failedCredential: limiter('failedCredential'),
  }
  return async (request, budget) => {
    const verdict = await limiters[budget](request)
    if (verdict.isAllowed || !verdict.isExceeded) return
    const retryAfter = Math.max(1, verdict.ttlInSeconds)
    throw new Problem('rate_limited', `Over ${verdict.max} requests of this kind came from this address in a minute.`, {
      retryAfter,
    })
  }
}

/** One IPv6 customer has a whole /64 of addresses: they share a budget. */
function household(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':')
  const missing = 8 - groups.length - (tail ? tail.split(':').length : 0)
  const full = address.includes('::')
    ? [...groups, ...Array(Math.max(0, missing)).fill('0'), ...tail.split(':')]
    : groups
  return full.slice(0, 4).join(':')
}
