import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { orderLock } from '../../../src/certificates/acme/job.ts'
import type { AcmeLimits } from '../../../src/certificates/budget/budget.ts'
import { orderBudget } from '../../../src/certificates/budget/order-budget.ts'
import { IssueFault, type OrderBudget } from '../../../src/certificates/contract.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { ledgerBook } from '../../support/acme/ledger-book.ts'

const names = ['app.lab.test']

function bench(limits: Partial<AcmeLimits> = {}) {
  const ledger = ledgerBook()
  let now = 1_800_000_000_000
  const terms = { limits: { renewalsExempt: true, ...limits }, backoff: { firstSeconds: 5, longestSeconds: 60 } }
  const budgetAt = (directory: string) =>
    orderBudget({ directory, ledger, ...terms, domainOf: () => 'lab.test', now: () => now })
  return {
    ledger,
    budget: budgetAt('https://ca.test/dir'),
    budgetAt,
    pass: (seconds: number) => (now += seconds * 1000),
  }
}

describe('a budget', () => {
  test('counts an order from the moment before it is placed', async () => {
    const { budget, ledger } = bench({ certificatesPerDomain: { count: 1, perSeconds: 3_600 } })
    await budget.spend({ names })
    const further = budget.spend({ names: ['www.lab.test'] })
    await expect(further).rejects.toMatchObject({ kind: 'over_budget', retryAfter: 3_600 })
    expect(ledger.lines.map(({ kind }) => kind)).toEqual(['ordered'])
  })

  test('gives a failure the seconds after which another try may be made, twice as many each time', async () => {
    const { budget, pass } = bench()
    const fail = async () => (await budget.failed({ names }, new IssueFault('unavailable', 'It is silent.'))).retryAfter
    expect(await fail()).toBe(5)
    await expect(budget.spend({ names })).rejects.toMatchObject({ kind: 'over_budget' })
    pass(5)
    expect(await budget.check({ names })).toMatchObject({ kind: 'free', failures: 1 })
    expect(await fail()).toBe(10)
    for (const _ of Array(9)) await fail()
    expect(await fail()).toBe(60)
    await budget.issued(names)
    expect(await budget.check({ names })).toMatchObject({ kind: 'free', failures: 0 })
  })

  test('obeys what the authority says, for every name at that directory and for no other directory', async () => {
    const { budget, budgetAt, pass } = bench()
    const told = await budget.failed({ names }, new IssueFault('rate_limited', 'Too many.', 3_600))
    expect(told).toMatchObject({ kind: 'rate_limited', message: 'Too many.', retryAfter: 3_600 })
    expect(await budget.check({ names: ['www.lab.test'] })).toMatchObject({ reason: 'paused', retryAfter: 3_600 })
    expect(await budgetAt('https://other.test/dir').check({ names })).toMatchObject({ kind: 'free', failures: 0 })
    pass(3_600)
    expect(await budget.check({ names: ['www.lab.test'] })).toMatchObject({ kind: 'free' })
  })

  test('counts the certificate of an order once, however often the order is resumed, and the failures after it', async () => {
    const { budget, ledger, pass } = bench()
    await budget.spend({ names })
    const silent = new IssueFault('unavailable', 'It is silent.')
    for (const rest of [5, 10, 20]) {
      await budget.issued(names)
      expect(await budget.failed({ names }, silent)).toMatchObject({ retryAfter: rest })
      pass(rest)
    }
    await budget.spend({ names })
    await budget.issued(names)
    expect(await budget.check({ names })).toMatchObject({ kind: 'free', failures: 0 })
    expect(ledger.lines.filter(({ kind }) => kind === 'issued')).toHaveLength(2)
  })

  test('lets a renewal pass that the authority exempts, until a renewal itself is told to wait', async () => {
    const { budget } = bench()
    const renewal = { names: ['old.lab.test'], replaces: 'aki.serial' }
    await budget.failed({ names }, new IssueFault('rate_limited', 'Too many.', 3_600))
    expect(await budget.check(renewal)).toMatchObject({ kind: 'free' })
    await budget.failed({ names: ['older.lab.test'], replaces: 'aki.other' }, new IssueFault('rate_limited', 'No.', 60))
    expect(await budget.check(renewal)).toMatchObject({ reason: 'paused', retryAfter: 60 })
  })
})

describe('a clock that was ahead by a year and is set right', () => {
  const YEAR = 365 * 86_400
  const ofNames = { count: 2, perSeconds: 7_200 }
  const issueTwice = async (budget: OrderBudget) => {
    for (const _ of Array(2)) {
      await budget.spend({ names })
      await budget.issued(names)
    }
  }

  test('leaves the pause after a failure as long as it is', async () => {
    const { budget, pass } = bench()
    pass(YEAR)
    for (const _ of Array(3)) await budget.failed({ names }, new IssueFault('unavailable', 'It is silent.'))
    pass(-YEAR)
    expect(await budget.check({ names })).toMatchObject({ reason: 'backoff', retryAfter: 20 })
    pass(19)
    expect(await budget.check({ names })).toMatchObject({ reason: 'backoff', retryAfter: 1 })
    pass(1)
    expect(await budget.check({ names })).toMatchObject({ kind: 'free', failures: 3 })
  })

  test('leaves a limit as it is: what was spent then was spent when it was first seen', async () => {
    const { budget, pass } = bench({ certificatesPerNames: ofNames })
    pass(YEAR)
    await issueTwice(budget)
    pass(-YEAR)
    expect(await budget.check({ names })).toMatchObject({ reason: 'limit', retryAfter: 3_600 })
    pass(-60)
    expect(await budget.check({ names })).toMatchObject({ reason: 'limit', retryAfter: 3_600 })
    pass(3_600)
    expect(await budget.check({ names })).toMatchObject({ kind: 'free' })
  })

  test('or before the next line that was written, as every other instance finds', async () => {
    const { budget, budgetAt, pass } = bench({ certificatesPerNames: ofNames })
    pass(YEAR)
    await issueTwice(budget)
    pass(-YEAR)
    await budget.spend({ names: ['www.lab.test'] })
    pass(3_600)
    expect(await budgetAt('https://ca.test/dir').check({ names })).toMatchObject({ kind: 'free' })
  })

  test('takes a pause for over, and notes the next one', async () => {
    const { budget, pass } = bench()
    const limited = new IssueFault('rate_limited', 'Too many.', 3_600)
    pass(YEAR)
    await budget.failed({ names }, limited)
    pass(-YEAR)
    const others = { names: ['www.lab.test'] }
    expect(await budget.check(others)).toMatchObject({ kind: 'free' })
    await budget.failed({ names }, limited)
    expect(await budget.check(others)).toMatchObject({ reason: 'paused', retryAfter: 3_600 })
  })
})

test('the order lock lets one order be placed after the other, and a refusal does not block the next', async () => {
  const withLock = orderLock(systemClock)
  const told: string[] = []
  const work = (name: string) => async () => {
    told.push(`${name} begins`)
    await turn()
    told.push(`${name} ends`)
    if (name === 'a') throw new IssueFault('rejected', 'No.')
    return name
  }
  const all = await Promise.allSettled([withLock(work('a')), withLock(work('b'))])
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(told).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})

test('the order lock fails all waiting orders when the authority does not answer the first, and none that comes later', async () => {
  const withLock = orderLock(systemClock)
  let asked = 0
  const silent = async () => {
    asked += 1
    await turn()
    throw new IssueFault('unavailable', 'It did not answer in time.')
  }
  const all = await Promise.allSettled([withLock(silent), withLock(silent), withLock(silent)])
  expect(all.every(({ status }) => status === 'rejected')).toBe(true)
  expect(asked).toBe(1)
  await expect(withLock(silent)).rejects.toThrow('in time')
  expect(asked).toBe(2)
})
