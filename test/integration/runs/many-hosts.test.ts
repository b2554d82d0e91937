import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AuditTrail } from '../../../src/audit/trail.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import type { ChosenCertificate, Receipt } from '../../../src/model/receipt.ts'
import { BY_SCHEDULE, type StepName } from '../../../src/model/run.ts'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { begin } from '../../../src/runs/engine/begin.ts'
import { STEP_LIMITS_SECONDS, VERIFY_MORE_MS } from '../../../src/runs/engine/limits.ts'
import { recover } from '../../../src/runs/engine/recover.ts'
import { Runs } from '../../../src/runs/engine/runs.ts'
import type { Step } from '../../../src/runs/engine/step.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { Lease } from '../../../src/store/ports/leases.ts'
import { storeOfFile } from '../../support/fresh.ts'
import { appliedPlan } from '../../support/saga.ts'
import { until } from '../../support/until.ts'

const LEASE_MS = 400

const { store } = await storeOfFile()

const certificate = (hash: string): ChosenCertificate => ({
  fingerprint: hash,
  certificateFile: `/etc/certificates/${hash}.pem`,
  keyFile: `/etc/certificates/${hash}.key`,
  source: 'issued',
  names: ['*.lab.test'],
  notBefore: 0,
  notAfter: 1_000_000,
  ours: true,
})

const receiptOf = (host: string): Receipt => ({
  version: 2,
  records: [{ name: host, type: 'A', ttl: 60, value: '127.0.45.23' }],
  certificate: certificate('old'),
})

const appliedPlans = async (count: number): Promise<Plan[]> => {
  const plans: Plan[] = []
  for (let i = 0; i < count; i += 1) {
    const plan = await appliedPlan(store, 0)
    await store.setExposureReceipt(plan.host, plan.planId, receiptOf(plan.host), 1)
    plans.push(plan)
  }
  return plans
}

/** Runs whose only effect waits for `work`. Notes the leases that each beat renews. */
function instance(name: string, work: () => Promise<void>, step: StepName = 'certificate', clock = systemClock) {
  const renewed: string[][] = []
  const renewLeases = (leases: readonly Lease[], now: number, ttlMs: number) => {
    renewed.push(leases.map((lease) => lease.name))
    return store.renewLeases(leases, now, ttlMs)
  }
  const only: Step = {
    name: step,
    before: async () => null,
    do: async () => {
      await work()
      return certificate('new')
    },
    undo: async () => undefined,
  }
  const runs = new Runs({
    store: { ...store, renewLeases },
    trail: new AuditTrail(store),
    log: createLog('fatal', [], { write: () => undefined }),
    instance: name,
    leaseMs: LEASE_MS,
    crashPoint: () => undefined,
    publish: (_host, commit) => commit(),
    clock,
    raiseFences: async () => undefined,
    stepsFor: async () => [only],
  })
  const parts = { store, runs, instance: name, log: createLog('fatal', [], { write: () => undefined }) }
  return { runs, renewed, parts: { ...parts, clock: systemClock } }
}

const renewal = (plans: readonly Plan[], name: string) => {
  const [plan] = plans
  if (!plan) throw new Error('There is no plan.')
  const beginning = { action: 'renew', plan, members: plans.slice(1), origin: BY_SCHEDULE, instance: name } as const
  return store.transaction((session) => begin({ ...beginning, leaseMs: LEASE_MS, at: systemClock.now() }, session))
}

test('a run over many hosts renews one lease; the others run out, and its claims still keep everybody away', async () => {
  const plans = await appliedPlans(3)
  const ending = Promise.withResolvers<void>()
  const { runs, renewed } = instance('me', () => ending.promise)
  const carried = await renewal(plans, 'me')
  const result = runs.start(carried)
  const [own, ...further] = carried.leases
  const hasRunOut = async ({ name }: Lease) => (await store.findLease(name, systemClock.now())) === undefined
  await until('the leases of the others have run out', async () =>
    (await Promise.all(further.map(hasRunOut))).every(Boolean),
  )
  expect(own && (await hasRunOut(own))).toBe(false)
  expect(new Set(renewed.flat())).toEqual(new Set([own?.name]))

  await expect(renewal(plans.slice(1), 'another')).rejects.toMatchObject({ code: 'plan_busy' })
  const other = instance('another', async () => undefined)
  expect(await recover(other.parts)).toEqual({ finished: [], failed: [] })

  ending.resolve()
  expect(await result).toMatchObject({ outcome: { kind: 'succeeded' } })
  for (const { host } of plans)
    expect(await store.findExposure(host)).toMatchObject({ receipt: { certificate: { fingerprint: 'new' } } })
  expect((await renewal(plans.slice(1), 'another')).leases).toHaveLength(2)
})

test('the verification of a run may take longer with each of its hosts, because it asks for each of them', async () => {
  const plans = await appliedPlans(3)
  const set: number[] = []
  const clock: Clock = {
    ...systemClock,
    after: (ms, ...given) => {
      set.push(ms)
      return systemClock.after(ms, ...given)
    },
  }
  const { runs } = instance('me', async () => undefined, 'verify', clock)
  expect(await runs.start(await renewal(plans, 'me'))).toMatchObject({ outcome: { kind: 'succeeded' } })
  expect(set).toContain(STEP_LIMITS_SECONDS.verify * 1000 + 2 * VERIFY_MORE_MS)
})

/** A timer of 1 ms that notes how late it is, less the time that the kernel kept the thread waiting for a processor. */
class LoopWatch {
  #longest = 0
  #beats = 0
  #last = { at: performance.now(), waitedMs: waitedMs() }
  readonly #timer = setInterval(() => this.#beat(), 1)

  /** After one more beat: work that never lets a timer run would not be seen. */
  async longestMs(): Promise<number> {
    const seen = this.#beats
    await until('the timer has run', () => this.#beats > seen)
    return Math.round(this.#longest)
  }

  #beat(): void {
    this.#beats += 1
    const beat = { at: performance.now(), waitedMs: waitedMs() }
    this.#longest = Math.max(this.#longest, beat.at - this.#last.at - (beat.waitedMs - this.#last.waitedMs))
    this.#last = beat
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** The second field of `schedstat` in proc(5), in milliseconds, of this thread. */
const waitedMs = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6

test.runIf(process.env.CAMPAIGN)(
  '10,000 hosts: how long a renewal keeps the event loop',
  { timeout: 600_000 },
  async () => {
    const plans = await appliedPlans(10_000)
    const { runs, renewed } = instance('me', () => until('the lease was renewed', () => renewed.length > 2))
    const longest = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
      using watch = new LoopWatch()
      return [await work(), await watch.longestMs()]
    }
    const [carried, begin] = await longest(() => renewal(plans, 'me'))
    const [, rest] = await longest(() => runs.start(carried))
    console.log(
      `${plans.length} hosts: the longest stretch of the event loop was ${begin} ms in begin, ${rest} ms after it`,
    )
    expect(carried.leases).toHaveLength(plans.length)
  },
)
