import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../../model/errors.ts'
import type { Clock } from '../../primitives/clock.ts'
import { LruCache } from '../../primitives/lru-cache.ts'
import { COUNT_WINDOW_MS, type RequestCountStore } from '../../store/ports/request-counts.ts'
import { LocalCounts } from './local-counts.ts'
import { SharedCounts } from './shared-counts.ts'

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
  /** Counts one request against the caller's budget. Throws `rate_limited` when the budget is spent. */
  spend(request: FastifyRequest, budget: keyof Budget): Promise<void>
  /** Refuses a caller with too many failed credentials before the next credential is verified, so that guessing is slow. */
  refuseAfterFailures(request: FastifyRequest): void
}

/** The number of addresses in memory. The least recently seen address is dropped first. */
const MOST_ADDRESSES = 20_000

/** `shared`: counts requests of all instances. Undefined where there is only one. */
export async function createBudgets(
  app: FastifyInstance,
  limits: () => RateLimits,
  clock: Clock,
  shared: RequestCountStore | undefined,
): Promise<Budgets> {
  const everywhere = shared && new SharedCounts(shared, COUNT_WINDOW_MS, clock)
  const store = class extends LocalCounts {
    constructor() {
      super(clock, MOST_ADDRESSES)
    }
  }
  await app.register(rateLimit, { global: false, store })
  const limiter = (budget: keyof Budget) =>
    app.createRateLimit({
      timeWindow: COUNT_WINDOW_MS,
      max: ({ caller }: FastifyRequest) => limits()[caller.network][budget],
      keyGenerator: (request: FastifyRequest) => `${budget} ${keyOf(request)}`,
    })
  const limiters = {
    plan: limiter('plan'),
    diagnose: limiter('diagnose'),
    read: limiter('read'),
    failedCredential: limiter('failedCredential'),
  }
  const refusedUntil = new LruCache<string, number>(MOST_ADDRESSES)
  return {
    async spend(request, budget) {
      const verdict = await limiters[budget](request)
      const isOverHere = !verdict.isAllowed && verdict.isExceeded
      const endsAt = isOverHere ? undefined : await endOfShared(everywhere, request, budget, limits())
      if (!isOverHere && endsAt === undefined) return
      const secondsLeft = endsAt === undefined && !verdict.isAllowed ? verdict.ttlInSeconds : 0
      const retryAfter = Math.max(1, secondsLeft, Math.ceil(((endsAt ?? 0) - clock.now()) / 1000))
      if (budget === 'failedCredential') refusedUntil.set(keyOf(request), clock.monotonic() + retryAfter * 1000)
      throw overBudget(limits()[request.caller.network][budget], retryAfter)
    },
    refuseAfterFailures(request) {
      const waitMs = (refusedUntil.get(keyOf(request)) ?? Number.NEGATIVE_INFINITY) - clock.monotonic()
      if (waitMs > 0) throw overBudget(limits()[request.caller.network].failedCredential, Math.ceil(waitMs / 1000))
    },
  }
}

/**
 * When the budget of the caller on all instances is spent, the time until which it is. Reads are many and cheap: they do not wait for
 * their own count, so a burst of them may pass.
 */
async function endOfShared(
  counts: SharedCounts | undefined,
  request: FastifyRequest,
  budget: keyof Budget,
  limits: RateLimits,
): Promise<number | undefined> {
  if (!counts) return undefined
  const counted = `${budget} ${keyOf(request)}`
  const added = counts.add(counted)
  if (budget !== 'read') await added
  const known = counts.find(counted)
  return known && known.requests > limits[request.caller.network][budget] ? known.windowEnd : undefined
}

const overBudget = (max: number, retryAfter: number): Problem =>
  new Problem('rate_limited', `This address sent more than ${max} requests of this kind in one minute.`, { retryAfter })

const keyOf = ({ caller }: FastifyRequest): string => `${caller.network} ${addressGroup(caller.address)}`

/** The part of an address that rate limits use. One IPv6 customer has a whole /64 network. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':')
  const missing = 8 - groups.length - (tail ? tail.split(':').length : 0)
  const full = address.includes('::')
    ? [...groups, ...Array(Math.max(0, missing)).fill('0'), ...tail.split(':')]
    : groups
  return full.slice(0, 4).join(':')
}
