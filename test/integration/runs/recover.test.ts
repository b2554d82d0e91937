import { afterEach, expect, test } from 'vitest'
import { AuditTrail } from '../../../src/audit/trail.ts'
import { EdgeFault } from '../../../src/edge/contract/fault.ts'
import { hostLease, LEFT_OPEN, NOBODY, type Run, runHolder } from '../../../src/model/run.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { begin, type Carried } from '../../../src/runs/engine/begin.ts'
import { problemOf, type RunResult } from '../../../src/runs/engine/ending.ts'
import { recover, takeUp } from '../../../src/runs/engine/recover.ts'
import { resolve } from '../../../src/runs/engine/resolve.ts'
import { Runs, type RunsParts } from '../../../src/runs/engine/runs.ts'
import { StepFault } from '../../../src/runs/engine/step.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { Store, StoreSession } from '../../../src/store/ports/store.ts'
import { storeOfFile } from '../../support/fresh.ts'
import { appliedPlan, FakeWorld, newRun } from '../../support/saga.ts'

const LEASE_MS = 30_000
const SHORT_LEASE_MS = 5_000
const HOUR_MS = 3_600_000
const STEPS = ['backup', 'dns', 'proxy']

let now = 1_000_000
const clock = { ...systemClock, now: () => now }
let lines: string[] = []
/** The fences that were raised. */
let told: string[] = []

const { store } = await storeOfFile()
afterEach(() => {
  lines = []
  told = []
})

const FENCED = new EdgeFault('fenced', 'This host belongs to another store.')
const refuseFences = () => Promise.reject(FENCED)

/** The parts of recovery for one instance. Each run has its own world. */
function instance(
  name: string,
  worlds: ReadonlyMap<string, FakeWorld>,
  raiseFences: RunsParts['raiseFences'] = async (fences) =>
    void told.push(...fences.map(({ number }) => `fence ${number}`)),
  given: Partial<Pick<RunsParts, 'leaseMs' | 'clock'>> = {},
) {
  const log = createLog('trace', [], { write: (line) => void lines.push(line) })
  const trail = new AuditTrail(store)
  const runs = new Runs({
    store,
    trail,
    log,
    instance: name,
    leaseMs: LEASE_MS,
    crashPoint: () => undefined,
    publish: (_host, commit) => commit(),
    clock,
    raiseFences,
    stepsFor: async ({ run }) => {
      const world = worlds.get(run.runId)
      if (!world) throw new Error('this installation lacks what the run needs')
      return world.steps(STEPS)
    },
    ...given,
  })
  return { store, runs, instance: name, log, clock, stepsToRepair: async () => [] }
}

async function leftBy(holder: string): Promise<Run> {
  const run = await newRun(store, 'remove')
  await store.takeLease(hostLease(run.host), runHolder(holder, run.runId), now, LEASE_MS)
  return run
}

async function beginRemoval(holder: string, handsOver: boolean): Promise<Carried> {
  const plan = await appliedPlan(store, now)
  const origin = { actor: '127.0.0.1', network: 'internal', right: 'capability' } as const
  const beginning = { action: 'remove', plan, origin, instance: holder, handsOver, leaseMs: LEASE_MS } as const
  return store.transaction((session) => begin({ ...beginning, at: now }, session))
}

const stateOf = async ({ runId }: Run) => (await store.findRun(runId))?.state

test('a run that cannot be recovered does not stop the recovery of the others', async () => {
  const [hopeless, fine] = [await leftBy('me'), await leftBy('me')]
  const world = new FakeWorld(STEPS, {})
  await recover(instance('me', new Map([[fine.runId, world]])))
  expect([await stateOf(hopeless), await stateOf(fine)]).toEqual(['running', 'succeeded'])
  expect(world.standing()).toEqual(STEPS)
  expect(lines.join('')).toContain('Recovery of an interrupted run failed')
  await recover(instance('me', new Map([[hopeless.runId, new FakeWorld(STEPS, {})]])))
  expect(await stateOf(hopeless)).toBe('succeeded')
})

test('a run of another instance is taken over only after its lease has expired', async () => {
  const run = await leftBy('another')
  const parts = instance('me', new Map([[run.runId, new FakeWorld(STEPS, {})]]))
  now += LEASE_MS - 1
  await recover(parts)
  expect(await store.findRun(run.runId)).toMatchObject({ state: 'running', holder: 'test', fence: 1 })
  expect(await store.readJournal(run.runId, 0)).toEqual([])
  now += 1
  await recover(parts)
  expect(await store.findRun(run.runId)).toMatchObject({ state: 'succeeded', holder: 'me', fence: 2 })
})

test('a run that has just started is not recovered', async () => {
  const run = await leftBy('me')
  const parts = instance('me', new Map([[run.runId, new FakeWorld(STEPS, {})]]))
  await recover(parts, 0)
  expect(await stateOf(run)).toBe('running')
  await recover(parts, 1)
  expect(await stateOf(run)).toBe('succeeded')
})

/** Sets the clock back for the time of `work`. */
async function setBack<T>(ms: number, work: () => Promise<T>): Promise<T> {
  now -= ms
  return work().finally(() => {
    now += ms
  })
}

test('a run that was interrupted before the clock was set back is finished at the next look', async () => {
  const { run } = await beginRemoval('me', false)
  const parts = instance('me', new Map([[run.runId, new FakeWorld(STEPS, {})]]))
  await setBack(HOUR_MS, () => recover(parts, now - 5_000))
  expect(await stateOf(run)).toBe('succeeded')
})

test('a run that began a moment before the clock was set back a little is not recovered', async () => {
  const { run } = await beginRemoval('me', false)
  const parts = instance('me', new Map([[run.runId, new FakeWorld(STEPS, {})]]))
  await setBack(100, () => recover(parts, now - 5_000))
  expect(await stateOf(run)).toBe('running')
  await recover(parts)
  expect(await stateOf(run)).toBe('succeeded')
})

test('the fences of a run are raised before anything of it is done', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, {})
  world.beforeEffect = async (step) => void told.push(step)
  await recover(instance('me', new Map([[run.runId, world]])))
  expect(told).toEqual(['fence 2', ...STEPS])
})

test('two recoveries of one instance execute a run once', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, {})
  world.beforeEffect = async (step) => void told.push(step)
  const parts = instance('me', new Map([[run.runId, world]]))
  await Promise.all([recover(parts), recover(parts)])
  expect([told, await stateOf(run)]).toEqual([['fence 2', ...STEPS], 'succeeded'])
})

test('a run of several hosts is taken over only when the leases of all of them have expired', async () => {
  const plan = await appliedPlan(store, now)
  const run = await leftBy('another')
  await store.claimExposure(plan.host, plan.planId, run.runId, 1)
  const parts = instance('me', new Map([[run.runId, new FakeWorld(STEPS, {})]]))
  now += LEASE_MS
  await store.takeLease(hostLease(plan.host), runHolder('another', run.runId), now, LEASE_MS)
  await recover(parts)
  expect(await store.findRun(run.runId)).toMatchObject({ state: 'running', holder: 'test' })
  now += LEASE_MS
  await recover(parts)
  expect(await stateOf(run)).toBe('succeeded')
})

test('a transient fault keeps the run unfinished, with its reason in the journal, until the fault is gone', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, {})
  world.hindrance = new StepFault('The DNS server gives no certain answer.', { transient: true })
  const parts = instance('me', new Map([[run.runId, world]]))
  await recover(parts)
  await recover(parts)
  expect(await stateOf(run)).toBe('running')
  expect((await store.readJournal(run.runId, 0)).at(-1)?.detail).toContain('no certain answer')
  world.hindrance = undefined
  await recover(parts)
  expect(await stateOf(run)).toBe('succeeded')
  expect(world.standing()).toEqual(STEPS)
})

/** Starts a run whose lease expires in its second step, before `next`. */
async function startLate(next: (run: Run) => Promise<unknown>) {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, {})
  const { runs } = instance('me', new Map([[run.runId, world]]))
  const lease = await store.takeLease(hostLease(run.host), runHolder('me', run.runId), now, LEASE_MS)
  const plan = await store.findPlan(run.planId)
  if (!lease || !plan) throw new Error('the run was not begun')
  world.beforeEffect = async (step) => {
    if (step !== 'dns') return
    now += LEASE_MS
    await next(run)
  }
  return { run, world, result: runs.start({ plan, run, leases: [lease], task: {} }) }
}

test('a run whose lease expires goes on if nobody has taken the lease', async () => {
  const { run, world, result } = await startLate(async () => undefined)
  expect(await result).toMatchObject({ outcome: { kind: 'succeeded' } })
  expect(world.standing()).toEqual(STEPS)
  expect(await stateOf(run)).toBe('succeeded')
})

test('a run whose lease another instance has taken stops, undoes nothing, and fails with unavailable', async () => {
  const { run, world, result } = await startLate(({ host }) =>
    store.takeLease(hostLease(host), 'another', now, LEASE_MS),
  )
  await expect(result).rejects.toMatchObject({ code: 'unavailable' })
  expect(world.standing()).toEqual(['backup', 'dns'])
  expect(world.undone).toEqual([])
  expect(await stateOf(run)).toBe('running')
})

test('a run that another store has fenced ends after one try, with nothing undone', async () => {
  const [untouched, begun] = [await leftBy('me'), await leftBy('me')]
  const worlds = new Map([untouched, begun].map((run) => [run.runId, new FakeWorld(STEPS, {})]))
  worlds.get(begun.runId)?.failNext('proxy', new StepFault('The service ended.', { transient: true }))
  await recover(instance('me', new Map([[begun.runId, worlds.get(begun.runId) ?? new FakeWorld(STEPS, {})]])))
  expect([await stateOf(untouched), await stateOf(begun)]).toEqual(['running', 'running'])
  await recover(instance('me', worlds, refuseFences))
  expect([await stateOf(untouched), await stateOf(begun)]).toEqual(['rolled_back', 'blocked'])
  expect(worlds.get(begun.runId)?.standing()).toEqual(['backup', 'dns'])
  expect(lines.join('')).toContain('This host belongs to another store.')
})

test('what another store has fenced is not resolved, and that ends, too', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, { fails: 2, undoFails: 1 })
  await recover(instance('me', new Map([[run.runId, world]])))
  world.heal()
  const resolving = await resolve(run.planId, 'undo', instance('me', new EveryRun(world), refuseFences))
  expect(resolving.outcome).toMatchObject({ kind: 'blocked', fault: FENCED })
  expect(await stateOf(resolving.run)).toBe('blocked')
  expect(problemOf('remove', run.host, resolving.outcome as never).message).toBe(
    `This host belongs to another store. Nothing was undone. No run can change ${run.host} until the plan is resolved.`,
  )
  const resolved = await resolve(run.planId, 'undo', instance('me', new EveryRun(world)))
  expect([resolved.outcome.kind, world.standing()]).toEqual(['rolled_back', []])
})

test('a step that an edge refuses while the lease is held turns the run back', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, {})
  world.failNext('proxy', new StepFault('Edge 23: another store.', { untouched: true, cause: FENCED }))
  await recover(instance('me', new Map([[run.runId, world]])))
  expect([await stateOf(run), world.standing(), world.undone]).toEqual(['rolled_back', [], ['dns', 'backup']])
})

test('a run that is fenced because another instance has its lease is left to that one', async () => {
  const { run, world, result } = await startLate(async ({ host }) => {
    await store.takeLease(hostLease(host), 'another', now, LEASE_MS)
    throw new StepFault('Edge 23: a newer run.', { untouched: true, cause: FENCED })
  })
  await expect(result).rejects.toMatchObject({ code: 'unavailable' })
  expect([await stateOf(run), world.undone]).toEqual(['running', []])
})

/** One world for whichever run comes. */
class EveryRun extends Map<string, FakeWorld> {
  readonly #world: FakeWorld
  constructor(world: FakeWorld) {
    super()
    this.#world = world
  }

  override get(): FakeWorld {
    return this.#world
  }
}

test('a resolve that dies is recovered from its own journal, including the changes of the blocked run', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, { fails: 2, undoFails: 1 })
  await recover(instance('me', new Map([[run.runId, world]])))
  expect([await stateOf(run), world.standing()]).toEqual(['blocked', ['backup', 'dns']])
  world.heal()
  const parts = instance('me', new Map())
  await expect(resolve(run.planId, 'undo', parts)).rejects.toThrow('lacks what the run needs')
  const resolving = (await store.unfinishedRuns()).find(({ planId }) => planId === run.planId)
  if (!resolving) throw new Error('no run was begun')
  expect(resolving.runId).not.toBe(run.runId)
  await recover(instance('me', new Map([[resolving.runId, world]])))
  expect([await stateOf(resolving), world.standing()]).toEqual(['rolled_back', []])
  expect(await store.findPlan(run.planId)).toMatchObject({ state: 'applied' })
})

test('a plan that another call has just resolved is not resolved again', async () => {
  const run = await leftBy('me')
  await recover(instance('me', new Map([[run.runId, new FakeWorld(STEPS, { fails: 2, undoFails: 1 })]])))
  const resolved: Run = {
    ...run,
    runId: `${run.runId}0`,
    state: 'rolled_back',
    startedAt: now + 1,
    finishedAt: now + 1,
  }
  const late: Store = {
    ...store,
    transaction: async (work) => {
      await store.insertRun(resolved)
      await store.movePlan(run.planId, ['blocked'], 'rolled_back')
      return store.transaction(work)
    },
  }
  const parts = instance('me', new Map())
  await expect(resolve(run.planId, 'undo', { ...parts, store: late })).rejects.toMatchObject({
    code: 'plan_busy',
    message: `Plan ${run.planId} is not blocked: there is nothing to resolve.`,
  })
  expect(await store.runsOf(run.planId)).toHaveLength(2)
})

/** A run as a restore blocks it: the journal ends after its first two steps. */
async function leftOpen(action: 'remove' | 'renew'): Promise<Run> {
  const run = await newRun(store, action)
  const { runId, host, planId } = run
  await store.insertExposure({ host, planId, state: 'blocked', fence: 1, since: 0, runId })
  for (const step of ['backup', 'dns']) await store.appendJournal({ runId, at: 0, step, mark: 'intent' }, 1)
  await store.appendJournal({ runId, at: 0, step: 'dns', mark: 'undo_failed', image: LEFT_OPEN }, 1)
  await store.movePlan(planId, ['removing'], 'blocked')
  await store.finishRun(runId, 'blocked', 0, 1)
  return run
}

test('a run that a restore has blocked is not undone by its old journal', async () => {
  const run = await leftOpen('remove')
  const world = new FakeWorld(STEPS, {})
  const parts = instance('me', new EveryRun(world))
  await expect(resolve(run.planId, 'undo', parts)).rejects.toMatchObject({
    code: 'plan_busy',
    message: expect.stringContaining('Nothing was changed'),
    members: { nextAction: expect.stringContaining('--remove') },
  })
  expect([await stateOf(run), world.undone, await store.runsOf(run.planId)]).toEqual([
    'blocked',
    [],
    [expect.anything()],
  ])
  await expect(resolve(run.planId, 'repair', parts)).rejects.toThrow('nothing to repair')
  const removed = await resolve(run.planId, 'remove', parts)
  expect([removed.outcome.kind, world.standing()]).toEqual(['succeeded', STEPS])
  expect(await store.findPlan(run.planId)).toMatchObject({ state: 'removed' })
})

/** PostgreSQL shows a transaction what others commit while it waits for a lease. This store calls `meanwhile` at that moment. */
const whileLeaseIsAwaited = (meanwhile: (session: StoreSession) => Promise<unknown>): Store => ({
  ...store,
  transaction: (work) =>
    store.transaction((session) =>
      work(
        new Proxy(session, {
          get: (_, name: keyof StoreSession) =>
            name === 'takeLeases'
              ? async (...terms: Parameters<StoreSession['takeLeases']>) => {
                  await meanwhile(session)
                  return session.takeLeases(...terms)
                }
              : session[name],
        }),
      ),
    ),
})

/** Another call has resolved the run, and its own run could not undo everything. */
async function blockedAgain(run: Run, session: StoreSession): Promise<void> {
  const next: Run = { ...run, runId: `${run.runId}0`, state: 'blocked', startedAt: now, finishedAt: now }
  await session.insertRun(next)
  await session.passClaims(run.runId, next.runId)
}

test('a plan that another call has resolved while this one waits for the lease is not resolved again', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, { fails: 2, undoFails: 1 })
  await recover(instance('me', new Map([[run.runId, world]])))
  const late = whileLeaseIsAwaited((session) => session.movePlan(run.planId, ['blocked'], 'rolled_back'))
  const parts = { ...instance('me', new EveryRun(world)), store: late }
  await expect(resolve(run.planId, 'undo', parts)).rejects.toMatchObject({ code: 'plan_busy' })
  expect(await store.runsOf(run.planId)).toHaveLength(1)
})

test('a plan that another call has blocked again while this one waits for the lease is not resolved', async () => {
  const run = await leftOpen('remove')
  const late = whileLeaseIsAwaited((session) => blockedAgain(run, session))
  const parts = { ...instance('me', new EveryRun(new FakeWorld(STEPS, {}))), store: late }
  await expect(resolve(run.planId, 'remove', parts)).rejects.toMatchObject({ code: 'plan_busy' })
  expect(await store.runsOf(run.planId)).toHaveLength(1)
})

test('a decision about a blocked run does not end the one that has followed it', async () => {
  const run = await leftOpen('remove')
  const late: Store = {
    ...store,
    transaction: async (work) => {
      await store.transaction((session) => blockedAgain(run, session))
      return store.transaction(work)
    },
  }
  const parts = { ...instance('me', new EveryRun(new FakeWorld(STEPS, {}))), store: late }
  await expect(resolve(run.planId, 'remove', parts)).rejects.toMatchObject({ code: 'plan_busy' })
  expect(await store.runsOf(run.planId)).toHaveLength(2)
})

test('a renewal that a restore has blocked is begun again, because to undo it could bring back an older certificate', async () => {
  const run = await leftOpen('renew')
  const world = new FakeWorld(STEPS, {})
  const renewed = await resolve(run.planId, 'undo', instance('me', new EveryRun(world)))
  expect([renewed.run.action, renewed.outcome.kind, world.undone]).toEqual(['renew', 'succeeded', []])
})

test('only a run that a restore has blocked is ended by a repair or a removal', async () => {
  const run = await leftBy('me')
  const world = new FakeWorld(STEPS, { fails: 2, undoFails: 1 })
  await recover(instance('me', new Map([[run.runId, world]])))
  const parts = instance('me', new EveryRun(world))
  await expect(resolve(run.planId, 'remove', parts)).rejects.toThrow('was not blocked by a restore')
})

/** A removal that an instance has begun for another one. Resolves with what its caller gets. */
async function handedOver(): Promise<{ run: Run; result: Promise<RunResult> }> {
  const begun = await beginRemoval('blind', true)
  return { run: begun.run, result: instance('blind', new Map()).runs.start(begun) }
}

const seeing = (name: string, worlds: ReadonlyMap<string, FakeWorld>, sees: boolean) => ({
  ...instance(name, worlds),
  reaches: async () => sees,
})

test('a run that was begun for another instance is executed by one that reaches the edge, and by no other', async () => {
  const { run, result } = await handedOver()
  const worlds = new Map([[run.runId, new FakeWorld(STEPS, {})]])
  await recover(seeing('blind', worlds, false))
  await takeUp(seeing('blind', worlds, false))
  expect(await store.findRun(run.runId)).toMatchObject({ state: 'running', holder: NOBODY })
  await Promise.all([takeUp(seeing('one', worlds, true)), takeUp(seeing('two', worlds, true))])
  const { outcome, hosts } = await result
  expect(outcome).toMatchObject({ kind: 'succeeded', steps: STEPS.map((name) => ({ name, status: 'done' })) })
  expect(hosts).toEqual([run.host])
  expect(worlds.get(run.runId)?.standing()).toEqual(STEPS)
})

test('a run that fails where it is executed tells its caller the same fault', async () => {
  const { run, result } = await handedOver()
  await takeUp(seeing('one', new Map([[run.runId, new FakeWorld(STEPS, { fails: 2 })]]), true))
  const { outcome } = await result
  if (outcome.kind === 'succeeded') throw new Error('The run succeeded.')
  expect(problemOf('remove', run.host, outcome)).toMatchObject({
    code: 'remove_failed',
    members: { steps: [{ name: 'backup' }, { name: 'dns' }, { name: 'proxy', status: 'failed' }] },
  })
  expect(outcome.rollback.map(({ name }) => name)).toEqual(['proxy', 'dns', 'backup'])
})

test('a run that nobody takes up is given up without a change, by any instance', async () => {
  const { run, result } = await handedOver()
  const world = new FakeWorld(STEPS, {})
  now += 15_001
  await takeUp(seeing('blind', new Map([[run.runId, world]]), false))
  const { outcome } = await result
  expect(outcome).toMatchObject({ kind: 'rolled_back', fault: { code: 'unavailable', members: { retryAfter: 5 } } })
  expect([await stateOf(run), world.standing()]).toEqual(['rolled_back', []])
  expect(await store.findPlan(run.planId)).toMatchObject({ state: 'applied' })
})

test('a run that nobody has taken up when the clock is set back is given up, too', async () => {
  const { run, result } = await handedOver()
  const blind = seeing('blind', new Map([[run.runId, new FakeWorld(STEPS, {})]]), false)
  await setBack(HOUR_MS, () => takeUp(blind))
  await blind.runs.drain(LEASE_MS)
  expect(await stateOf(run)).toBe('rolled_back')
  expect((await result).outcome).toMatchObject({ kind: 'rolled_back', fault: { code: 'unavailable' } })
})

test('a run of an instance whose clock is ahead by less than a lease is taken up', async () => {
  const { run, result } = await handedOver()
  await setBack(LEASE_MS - 1, async () => {
    await takeUp(seeing('blind', new Map(), false))
    await takeUp(seeing('one', new Map([[run.runId, new FakeWorld(STEPS, {})]]), true))
  })
  expect((await result).outcome.kind).toBe('succeeded')
})

/**
 * `two` has read which runs nobody has taken up. Before it goes on, `one` takes such a run up and is killed, in the undo of `backup` if the
 * removal fails and otherwise before `proxy`. The lease of `one` runs out within `afterMs`.
 */
async function takenUpMeanwhile({ fails, afterMs, reaches }: { fails?: number; afterMs: number; reaches: boolean }) {
  const { run, result } = await handedOver()
  const world = new FakeWorld(STEPS, { fails })
  const worlds = new Map([[run.runId, world]])
  const killed = Promise.withResolvers<void>()
  const hang = (): Promise<never> => {
    killed.resolve()
    return new Promise(() => undefined)
  }
  if (fails === undefined) world.beforeEffect = async (step) => (step === 'proxy' ? hang() : undefined)
  else world.beforeUndo = async (step) => (step === 'backup' ? hang() : undefined)
  // A process that is killed renews no lease.
  const mortal = { leaseMs: SHORT_LEASE_MS, clock: { ...clock, every: () => ({ cancel: () => undefined }) } }
  const one = instance('one', worlds, undefined, mortal)
  const two = instance('two', worlds)
  const meanwhile = async () => {
    await takeUp({ ...one, reaches: async () => true })
    await killed.promise
    world.beforeEffect = world.beforeUndo = async () => undefined
    world.heal()
    now += afterMs
    return reaches
  }
  await takeUp({ ...two, reaches: meanwhile })
  await two.runs.drain(LEASE_MS)
  expect(await store.findRun(run.runId)).toMatchObject({ state: 'running', holder: 'one' })
  await recover(two)
  return { kind: (await result).outcome.kind, standing: world.standing() }
}

test('a run that another instance has taken up meanwhile is not given up', async () => {
  const { kind, standing } = await takenUpMeanwhile({ afterMs: 15_001, reaches: false })
  expect([kind, standing]).toEqual(['succeeded', STEPS])
})

test('a run that another instance has taken up meanwhile does not go forward when it was going back', async () => {
  const { kind, standing } = await takenUpMeanwhile({ fails: 2, afterMs: SHORT_LEASE_MS, reaches: true })
  expect([kind, standing]).toEqual(['rolled_back', []])
})
