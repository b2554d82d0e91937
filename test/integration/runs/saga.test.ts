import { describe, expect, test } from 'vitest'
import { EdgeFault } from '../../../src/edge/contract/fault.ts'
import type { JournalEntry } from '../../../src/model/run.ts'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { Journal } from '../../../src/runs/engine/journal.ts'
import { LeaseLost } from '../../../src/runs/engine/lease.ts'
import { STEP_LIMITS_SECONDS, StepLimit } from '../../../src/runs/engine/limits.ts'
import { continuesForward } from '../../../src/runs/engine/runs.ts'
import {
  Overdue,
  RetryLater,
  Saga,
  type SagaOutcome,
  type SagaParts,
  Undecided,
} from '../../../src/runs/engine/saga.ts'
import { type Step, StepFault } from '../../../src/runs/engine/step.ts'
import { StaleFence } from '../../../src/store/ports/runs.ts'
import { type Store, StoreUnavailable } from '../../../src/store/ports/store.ts'
import { fc } from '../../support/fast-check.ts'
import { storeOfFile } from '../../support/fresh.ts'
import { replaced } from '../../support/replaced.ts'
import { FakeWorld, newRun, PowerLoss } from '../../support/saga.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const STEPS = {
  apply: ['check', 'backup', 'certificate', 'proxy', 'dns', 'verify'],
  remove: ['backup', 'dns', 'proxy'],
} as const
type Action = keyof typeof STEPS

const { store } = await storeOfFile()

interface Process {
  readonly action: Action
  readonly world: FakeWorld
  readonly runId: string
  /** The process dies after this many crash points; never if undefined. */
  readonly diesAfter?: number | undefined
  readonly reached?: string[]
  readonly patient?: boolean
  readonly store?: Pick<Store, 'transaction'>
  readonly limit?: StepLimit
  readonly clock?: Clock
}

/** The runs that a process has already started. */
const begun = new Set<string>()

/** One process of the service: it starts the run, or resumes it from the journal. */
async function runProcess(process: Process): Promise<SagaOutcome | 'died'> {
  const { action, world, runId, diesAfter, reached = [], patient = false, clock = systemClock } = process
  const { limit = new StepLimit(clock) } = process
  const entries = await store.readJournal(runId, 0)
  let points = 0
  const assertAlive = () => {
    if (diesAfter !== undefined && points > diesAfter) throw new PowerLoss()
  }
  const crashPoint = (point: string) => {
    reached.push(point)
    points += 1
    assertAlive()
  }
  world.beat = () => crashPoint('effect')
  const saga = new Saga({
    action,
    steps: world.steps(STEPS[action]),
    journal: journalOf(process, entries, assertAlive),
    crashPoint,
    patient,
    limit,
    clock,
    confirmHeld: async () => undefined,
  })
  try {
    const isFirst = !begun.has(runId)
    begun.add(runId)
    return await (isFirst ? saga.forward() : resume(action, saga, entries))
  } catch (error) {
    if (error instanceof PowerLoss) return 'died'
    throw error
  }
}

/** A journal that refuses to write after the process has died. */
const journalOf = (
  { runId, ...process }: Process,
  entries: JournalEntry[],
  assertAlive: () => void,
): SagaParts['journal'] =>
  new Journal({
    store: process.store ?? store,
    run: { runId, fence: 1 },
    now: () => 0,
    onWritten: () => undefined,
    ensureHeld: async () => assertAlive(),
    entries,
  })

/** The store, with a call of `onEntry` before each journal entry is written. */
const storeWith = (onEntry: (entry: Pick<JournalEntry, 'step' | 'mark'>) => void): Pick<Store, 'transaction'> => ({
  transaction: (work) =>
    store.transaction((session) =>
      work(
        replaced(session, {
          appendJournal: async (entry, fence) => {
            onEntry(entry)
            return session.appendJournal(entry, fence)
          },
        }),
      ),
    ),
})

/** Continues an interrupted run in the direction that `Runs.resume` takes. */
async function resume(action: Action, saga: Saga, entries: readonly JournalEntry[]): Promise<SagaOutcome> {
  if (continuesForward(action, entries)) return saga.forward()
  return { ...(await saga.backward()), steps: [], fault: undefined }
}

const actions = fc.constantFrom<Action>('apply', 'remove')
const faults = fc.record({
  fails: fc.option(fc.nat(5), { nil: undefined }),
  untouched: fc.boolean(),
  undoFails: fc.option(fc.nat(5), { nil: undefined, freq: 4 }),
})

describe('for every failing step and every crash', () => {
  test('a run ends with all steps done, with all steps undone, or blocked with the earlier steps kept', async () => {
    await fc.assert(
      fc.asyncProperty(actions, faults, fc.array(fc.nat(30), { maxLength: 6 }), async (action, fault, deaths) => {
        const world = new FakeWorld(STEPS[action], fault)
        const { runId } = await newRun(store, action)
        let outcome: SagaOutcome | 'died' = 'died'
        for (const diesAfter of deaths) {
          outcome = await runProcess({ action, world, runId, diesAfter })
          if (outcome !== 'died') break
        }
        if (outcome === 'died') outcome = await runProcess({ action, world, runId })
        expect(outcome).not.toBe('died')
        if (outcome === 'died') return
        if (outcome.kind === 'succeeded') expect(world.standing()).toEqual(STEPS[action])
        if (outcome.kind === 'rolled_back') expect(world.standing()).toEqual([])
        if (outcome.kind === 'blocked')
          expect(world.standing()).toEqual(STEPS[action].slice(0, world.standing().length))
        world.assertOrder()
      }),
      { numRuns: 120 },
    )
  })

  test('a run with a verdict never goes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), async (diesAfter) => {
        const world = new FakeWorld(STEPS.apply, {})
        const { runId } = await newRun(store, 'apply')
        await runProcess({ action: 'apply', world, runId, diesAfter })
        const decided = (await store.readJournal(runId, 0)).some(({ mark }) => mark === 'verdict')
        await runProcess({ action: 'apply', world, runId })
        expect(world.standing()).toEqual(decided ? STEPS.apply : [])
      }),
      { numRuns: 40 },
    )
  })
})

test('a fault after the verdict undoes nothing', async () => {
  const steps = ['proxy', 'verify', 'tidy']
  const world = new FakeWorld(steps, { fails: 2 })
  const { runId } = await newRun(store, 'apply')
  const journal = journalOf({ action: 'apply', world, runId }, [], () => undefined)
  const parts = {
    action: 'renew',
    steps: world.steps(steps),
    journal,
    limit: new StepLimit(systemClock),
    clock: systemClock,
    confirmHeld: async () => undefined,
  } as const
  await expect(new Saga({ ...parts, crashPoint: () => undefined }).forward()).rejects.toThrow('failed half way')
  expect([world.standing(), world.undone]).toEqual([steps, []])
})

test('a fenced run whose lease the store does not confirm stops where it is', async () => {
  const steps = ['dns', 'proxy', 'verify']
  const world = new FakeWorld(steps, {})
  world.failNext('proxy', new StepFault('A newer run.', { untouched: true, cause: new EdgeFault('fenced', 'x') }))
  const { runId } = await newRun(store, 'apply')
  const saga = new Saga({
    ...{ action: 'apply', steps: world.steps(steps), limit: new StepLimit(systemClock), clock: systemClock },
    journal: journalOf({ action: 'apply', world, runId }, [], () => undefined),
    crashPoint: () => undefined,
    confirmHeld: () => Promise.reject(new LeaseLost('host')),
  })
  await expect(saga.forward()).rejects.toThrow(LeaseLost)
  expect([world.standing(), world.undone]).toEqual([['dns'], []])
})

test('the table of crash points lists every point that a saga passes', async () => {
  const reached: string[] = []
  for (const action of ['apply', 'remove'] as const) {
    const { runId } = await newRun(store, action)
    const world = new FakeWorld(STEPS[action], { fails: STEPS[action].length - 1 })
    await runProcess({ action, world, runId, reached })
  }
  const points = new Set(reached.filter((point) => point !== 'effect'))
  expect([...points].filter((point) => !CRASH_POINTS.includes(point))).toEqual([])
  expect(points.size).toBeGreaterThan(60)
})

describe('a run stops without undoing anything after', () => {
  test('a lost lease', async () => {
    const run = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    world.beforeEffect = async (step) => {
      if (step === 'dns') await store.adoptRun(run, 'another', 2)
    }
    await expect(runProcess({ action: 'apply', world, runId: run.runId })).rejects.toThrow(StaleFence)
    expect(world.standing()).toEqual(['check', 'backup', 'certificate', 'proxy', 'dns'])
    expect(world.undone).toEqual([])
  })

  test('a step that hangs until its time limit; recovery undoes all steps', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    const begun = Promise.withResolvers<void>()
    const { promise: hanging, resolve: wake } = Promise.withResolvers<void>()
    world.beforeEffect = async (step) => {
      if (step !== 'dns') return
      begun.resolve()
      await hanging
    }
    const clock = new VirtualClock()
    const running = runProcess({ action: 'apply', world, runId, limit: new StepLimit(clock) })
    await begun.promise
    await expect(clock.advanceUntil(running)).rejects.toThrow(Overdue)
    expect(clock.monotonic()).toBe((STEP_LIMITS_SECONDS.dns + 10) * 1000)
    expect(world.standing()).toEqual(['check', 'backup', 'certificate', 'proxy'])
    expect(world.undone).toEqual([])
    world.beforeEffect = async () => undefined
    expect(await runProcess({ action: 'apply', world, runId })).toMatchObject({ kind: 'rolled_back' })
    expect(world.standing()).toEqual([])
    wake()
  })

  test('a step whose waits end at its limit has failed like any other, and the run goes back', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    const clock = new VirtualClock()
    const limit = new StepLimit(clock)
    const begun = Promise.withResolvers<void>()
    world.beforeEffect = async (step) => {
      if (step !== 'dns') return
      begun.resolve()
      await new Promise((_, reject) => limit.signal.addEventListener('abort', () => reject(limit.signal.reason)))
    }
    const running = runProcess({ action: 'apply', world, runId, limit })
    await begun.promise
    await clock.advance(STEP_LIMITS_SECONDS.dns * 1000)
    const outcome = await running
    expect(outcome).toMatchObject({ kind: 'rolled_back', fault: { message: 'Step dns did not end within 90 s.' } })
    expect(world.standing()).toEqual([])
  })

  test('a verdict whose commit was not confirmed', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    let isLost = false
    const watched = storeWith(({ mark }) => {
      isLost ||= mark === 'verdict'
    })
    const losing: Pick<Store, 'transaction'> = {
      transaction: async (work) => {
        const result = await watched.transaction(work)
        if (isLost) throw new StoreUnavailable(new Error('answer lost'))
        return result
      },
    }
    const clock = { ...systemClock, sleep: systemClock.turn }
    await expect(runProcess({ action: 'apply', world, runId, store: losing, clock })).rejects.toThrow(Undecided)
    expect(world.undone).toEqual([])
    expect(await runProcess({ action: 'apply', world, runId })).toMatchObject({ kind: 'succeeded' })
  })

  test('a removal that cannot write the failure of a step to the journal', async () => {
    const { runId } = await newRun(store, 'remove')
    const world = new FakeWorld(STEPS.remove, { fails: 2 })
    const mute = storeWith(({ mark }) => {
      if (mark === 'failed') throw new StoreUnavailable(new Error('disk full'))
    })
    await expect(runProcess({ action: 'remove', world, runId, store: mute })).rejects.toThrow(StoreUnavailable)
    expect(world.undone).toEqual([])
    world.heal()
    expect(await runProcess({ action: 'remove', world, runId })).toMatchObject({ kind: 'succeeded' })
  })

  test('an apply goes back even when the journal can no longer be written', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, { fails: 5 })
    let isFull = false
    const filling = storeWith(({ mark }) => {
      isFull ||= mark === 'failed'
      if (isFull) throw new StoreUnavailable(new Error('disk full'))
    })
    expect(await runProcess({ action: 'apply', world, runId, store: filling })).toMatchObject({ kind: 'rolled_back' })
    expect(world.standing()).toEqual([])
  })
})

describe('a recovered run waits for a transient fault', () => {
  test.each(['apply', 'remove'] as const)('%s: it retries, writes the reason once, and then ends', async (action) => {
    const { runId } = await newRun(store, action)
    const world = new FakeWorld(STEPS[action], {})
    // The process dies in the DNS step, after the change and before its journal entry.
    expect(await runProcess({ action, world, runId, diesAfter: STEPS[action].indexOf('dns') * 5 + 2 })).toBe('died')
    world.hindrance = new StepFault('The DNS server gives no certain answer.', { transient: true })
    for (let i = 0; i < 3; i += 1) {
      await expect(runProcess({ action, world, runId, patient: true })).rejects.toThrow(RetryLater)
    }
    const reasons = (await store.readJournal(runId, 0)).filter(({ detail }) => detail?.includes('no certain answer'))
    expect(reasons).toHaveLength(1)
    world.hindrance = undefined
    const outcome = await runProcess({ action, world, runId, patient: true })
    expect(outcome).toMatchObject({ kind: action === 'apply' ? 'rolled_back' : 'succeeded' })
    expect(world.standing()).toEqual(action === 'apply' ? [] : STEPS.remove)
  })

  test('a permanent fault blocks the run', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    await runProcess({ action: 'apply', world, runId, diesAfter: 22 })
    world.hindrance = new StepFault('Somebody changed the records.')
    expect(await runProcess({ action: 'apply', world, runId, patient: true })).toMatchObject({ kind: 'blocked' })
  })
})

test('an attempt that changed nothing does not hide the change of the attempt before a crash', async () => {
  const { runId } = await newRun(store, 'remove')
  const world = new FakeWorld(STEPS.remove, {})
  // The process dies after the change of the proxy and before its journal entry.
  expect(await runProcess({ action: 'remove', world, runId, diesAfter: 12 })).toBe('died')
  expect(world.standing()).toEqual(['backup', 'dns', 'proxy'])
  world.failNext('proxy', new StepFault('The configuration is broken.', { untouched: true }))
  expect(await runProcess({ action: 'remove', world, runId })).toMatchObject({ kind: 'rolled_back' })
  expect(world.standing()).toEqual([])
})

test('a step that changed nothing is not undone, although the journal has its intent', async () => {
  const { runId } = await newRun(store, 'apply')
  const world = new FakeWorld(STEPS.apply, {})
  world.failNext('proxy', new StepFault('The configuration is broken.', { untouched: true }))
  expect(await runProcess({ action: 'apply', world, runId })).toMatchObject({ kind: 'rolled_back' })
  expect(world.undone).toEqual(['certificate', 'backup', 'check'])
})

test('the end of a step and the intent of the next step are written in one transaction', async () => {
  const { runId } = await newRun(store, 'remove')
  const writes: string[][] = []
  const counting: Pick<Store, 'transaction'> = {
    transaction: (work) => {
      writes.push([])
      return storeWith(({ step, mark }) => writes.at(-1)?.push(`${step} ${mark}`)).transaction(work)
    },
  }
  await runProcess({ action: 'remove', world: new FakeWorld(STEPS.remove, {}), runId, store: counting })
  expect(writes).toEqual([
    ['backup intent'],
    ['backup done', 'dns intent'],
    ['dns done', 'proxy intent'],
    ['proxy done'],
  ])
})

test.each([
  ['starts with it', {}, 'succeeded', ['begun', 'check', 'backup', 'certificate', 'proxy', 'dns', 'verify']],
  ['is abandoned when that one is undone', { fails: 0 }, 'rolled_back', ['begun', 'check', 'abandoned']],
] as const)('a step that may start beside the one before %s', async (_, faults, kind, order) => {
  const { runId } = await newRun(store, 'apply')
  const world = new FakeWorld(STEPS.apply, faults)
  const told: string[] = []
  world.beforeEffect = async (step) => void told.push(step)
  const steps = world.steps(STEPS.apply).map((step): Step => {
    if (step.name !== 'backup') return step
    const early = { begin: () => void told.push('begun'), abandon: async () => void told.push('abandoned') }
    return { ...step, early: { beside: 'check', ...early } }
  })
  world.steps = () => steps
  expect(await runProcess({ action: 'apply', world, runId })).toMatchObject({ kind })
  expect(told).toEqual(order)
})
