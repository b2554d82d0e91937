import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JournalEntry } from '../../src/model/run.ts'
import { CRASH_POINTS } from '../../src/runs/engine/crash-points.ts'
import { Journal } from '../../src/runs/engine/journal.ts'
import { Overdue, RetryLater, Saga, type SagaOutcome, type SagaParts, Undecided } from '../../src/runs/engine/saga.ts'
import { StepFault } from '../../src/runs/engine/step.ts'
import { openStore } from '../../src/store/open.ts'
import { StaleFence } from '../../src/store/ports/runs.ts'
import { type Store, StoreUnavailable } from '../../src/store/ports/store.ts'
import { FakeWorld, newRun, PowerLoss } from '../support/saga.ts'
import { tempFolder } from '../support/temp-folder.ts'

const STEPS = {
  apply: ['check', 'backup', 'certificate', 'proxy', 'dns', 'verify'],
  remove: ['backup', 'dns', 'proxy'],
} as const
type Action = keyof typeof STEPS

let store: Store

const folder = tempFolder()

beforeAll(async () => {
  store = await openStore({ kind: 'sqlite', file: join(folder.path, 'drawbridge.db') })
})
afterAll(async () => {
  await store.close()
  folder[Symbol.dispose]()
})

interface Life {
  readonly action: Action
  readonly world: FakeWorld
  readonly runId: string
  /** Dies when so many points were reached; never if undefined. */
  readonly diesAfter?: number | undefined
  readonly reached?: string[]
  readonly patient?: boolean
  readonly store?: Pick<Store, 'transaction'>
  readonly limitMs?: number
}

/** Runs that had a life already. */
const begun = new Set<string>()

/** One life of the service: from the beginning, or from what the journal says, as runs do. */
async function live(life: Life): Promise<SagaOutcome | 'died'> {
  const { action, world, runId, diesAfter, reached = [], patient = false, limitMs } = life
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
    journal: journalOf(life, entries, assertAlive),
    crashPoint,
    patient,
    ...(limitMs && { limitMs }),
  })
  try {
    const isFirst = !begun.has(runId)
    begun.add(runId)
    return await (isFirst ? saga.forward() : goOn(action, saga, entries))
  } catch (error) {
    if (error instanceof PowerLoss) return 'died'
    throw error
  }
}

/** The dead write nothing, and who cannot write does nothing. */
const journalOf = ({ runId, ...life }: Life, entries: JournalEntry[], assertAlive: () => void): SagaParts['journal'] =>
  new Journal({
    store: life.store ?? store,
    run: { runId, fence: 1 },
    now: () => 0,
    onWritten: () => undefined,
    assertHeld: assertAlive,
    entries,
  })

/** The store, with somebody who hears of every entry before it is written. */
const hearingOf = (hear: (entry: Pick<JournalEntry, 'step' | 'mark'>) => void): Pick<Store, 'transaction'> => ({
  transaction: (work) =>
    store.transaction((session) =>
      work({
        ...session,
        appendJournal: async (entry, fence) => {
          hear(entry)
          return session.appendJournal(entry, fence)
        },
      }),
    ),
})

async function goOn(action: Action, saga: Saga, entries: readonly JournalEntry[]): Promise<SagaOutcome> {
  const marks = entries.map(({ mark }) => mark)
  if (marks.includes('verdict')) return saga.forward()
  if (action === 'remove' && !marks.includes('failed') && !marks.includes('undo_intent')) return saga.forward()
  return { ...(await saga.backward()), steps: [], fault: undefined }
}

const actions = fc.constantFrom<Action>('apply', 'remove')
const faults = fc.record({
  fails: fc.option(fc.nat(5), { nil: undefined }),
  untouched: fc.boolean(),
  undoFails: fc.option(fc.nat(5), { nil: undefined, freq: 4 }),
})

describe('whatever fails and whenever it dies', () => {
  test('all is done, or all is undone, or it is blocked and what it rests on stands', async () => {
    await fc.assert(
      fc.asyncProperty(actions, faults, fc.array(fc.nat(30), { maxLength: 6 }), async (action, fault, deaths) => {
        const world = new FakeWorld(STEPS[action], fault)
        const { runId } = await newRun(store, action)
        let outcome: SagaOutcome | 'died' = 'died'
        for (const diesAfter of deaths) {
          outcome = await live({ action, world, runId, diesAfter })
          if (outcome !== 'died') break
        }
        if (outcome === 'died') outcome = await live({ action, world, runId })
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

  test('a run that is decided never goes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), async (diesAfter) => {
        const world = new FakeWorld(STEPS.apply, {})
        const { runId } = await newRun(store, 'apply')
        await live({ action: 'apply', world, runId, diesAfter })
        const decided = (await store.readJournal(runId, 0)).some(({ mark }) => mark === 'verdict')
        await live({ action: 'apply', world, runId })
        expect(world.standing()).toEqual(decided ? STEPS.apply : [])
      }),
      { numRuns: 40 },
    )
  })
})

test('what a saga reaches is in the table of crash points', async () => {
  const reached: string[] = []
  for (const action of ['apply', 'remove'] as const) {
    const { runId } = await newRun(store, action)
    const world = new FakeWorld(STEPS[action], { fails: STEPS[action].length - 1 })
    await live({ action, world, runId, reached })
  }
  const points = new Set(reached.filter((point) => point !== 'effect'))
  expect([...points].filter((point) => !CRASH_POINTS.includes(point))).toEqual([])
  expect(points.size).toBeGreaterThan(60)
})

describe('what only stops a run', () => {
  test('a lost hold: nothing is undone, here or later under that fence', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    world.beforeEffect = async (step) => {
      if (step === 'dns') await store.adoptRun(runId, 'another', 2)
    }
    await expect(live({ action: 'apply', world, runId })).rejects.toThrow(StaleFence)
    expect(world.standing()).toEqual(['check', 'backup', 'certificate', 'proxy', 'dns'])
    expect(world.undone).toEqual([])
  })

  test('a step that hangs: it has an end, nothing is undone beside it, and recovery puts all of it back', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    const { promise: hanging, resolve: wake } = Promise.withResolvers<void>()
    world.beforeEffect = (step) => (step === 'dns' ? hanging : Promise.resolve())
    await expect(live({ action: 'apply', world, runId, limitMs: 200 })).rejects.toThrow(Overdue)
    expect(world.standing()).toEqual(['check', 'backup', 'certificate', 'proxy'])
    expect(world.undone).toEqual([])
    expect(await live({ action: 'apply', world, runId })).toMatchObject({ kind: 'rolled_back' })
    expect(world.standing()).toEqual([])
    wake()
  })

  test('a verdict that the store may or may not have: no step back is taken', { timeout: 20_000 }, async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    let isLost = false
    const hearing = hearingOf(({ mark }) => {
      isLost ||= mark === 'verdict'
    })
    const losing: Pick<Store, 'transaction'> = {
      transaction: async (work) => {
        const result = await hearing.transaction(work)
        if (isLost) throw new StoreUnavailable(new Error('answer lost'))
        return result
      },
    }
    await expect(live({ action: 'apply', world, runId, store: losing })).rejects.toThrow(Undecided)
    expect(world.undone).toEqual([])
    expect(await live({ action: 'apply', world, runId })).toMatchObject({ kind: 'succeeded' })
  })

  test('a removal that cannot write down that it edgeLock round', async () => {
    const { runId } = await newRun(store, 'remove')
    const world = new FakeWorld(STEPS.remove, { fails: 2 })
    const mute = hearingOf(({ mark }) => {
      if (mark === 'failed') throw new StoreUnavailable(new Error('disk full'))
    })
    await expect(live({ action: 'remove', world, runId, store: mute })).rejects.toThrow(StoreUnavailable)
    expect(world.undone).toEqual([])
    world.heal()
    expect(await live({ action: 'remove', world, runId })).toMatchObject({ kind: 'succeeded' })
  })

  test('an apply goes back even though nothing can be written down any more', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, { fails: 5 })
    let isFull = false
    const filling = hearingOf(({ mark }) => {
      isFull ||= mark === 'failed'
      if (isFull) throw new StoreUnavailable(new Error('disk full'))
    })
    expect(await live({ action: 'apply', world, runId, store: filling })).toMatchObject({ kind: 'rolled_back' })
    expect(world.standing()).toEqual([])
  })
})

describe('a run that was taken up waits for what may pass', () => {
  test.each(['apply', 'remove'] as const)('%s: tried again and again, told once, and then ended', async (action) => {
    const { runId } = await newRun(store, action)
    const world = new FakeWorld(STEPS[action], {})
    // Dies within the DNS step, when its change was made and not written down.
    expect(await live({ action, world, runId, diesAfter: STEPS[action].indexOf('dns') * 5 + 2 })).toBe('died')
    world.hindrance = new StepFault('The DNS server gives no certain answer.', { transient: true })
    for (let i = 0; i < 3; i += 1) {
      await expect(live({ action, world, runId, patient: true })).rejects.toThrow(RetryLater)
    }
    const told = (await store.readJournal(runId, 0)).filter(({ detail }) => detail?.includes('no certain answer'))
    expect(told).toHaveLength(1)
    world.hindrance = undefined
    const outcome = await live({ action, world, runId, patient: true })
    expect(outcome).toMatchObject({ kind: action === 'apply' ? 'rolled_back' : 'succeeded' })
    expect(world.standing()).toEqual(action === 'apply' ? [] : STEPS.remove)
  })

  test('what does not pass blocks it', async () => {
    const { runId } = await newRun(store, 'apply')
    const world = new FakeWorld(STEPS.apply, {})
    await live({ action: 'apply', world, runId, diesAfter: 22 })
    world.hindrance = new StepFault('Somebody changed the records.')
    expect(await live({ action: 'apply', world, runId, patient: true })).toMatchObject({ kind: 'blocked' })
  })
})

test('an attempt that touched nothing does not make one before a crash undone', async () => {
  const { runId } = await newRun(store, 'remove')
  const world = new FakeWorld(STEPS.remove, {})
  // The proxy's change is made, and the service dies before it is written down.
  expect(await live({ action: 'remove', world, runId, diesAfter: 12 })).toBe('died')
  expect(world.standing()).toEqual(['backup', 'dns', 'proxy'])
  world.failNext('proxy', new StepFault('The configuration is broken.', { untouched: true }))
  expect(await live({ action: 'remove', world, runId })).toMatchObject({ kind: 'rolled_back' })
  expect(world.standing()).toEqual([])
})

test('a step that touched nothing is not undone, though its intent stands since the one before ended', async () => {
  const { runId } = await newRun(store, 'apply')
  const world = new FakeWorld(STEPS.apply, {})
  world.failNext('proxy', new StepFault('The configuration is broken.', { untouched: true }))
  expect(await live({ action: 'apply', world, runId })).toMatchObject({ kind: 'rolled_back' })
  expect(world.undone).toEqual(['certificate', 'backup', 'check'])
})

test("a step's end and the next one's intent are written at once", async () => {
  const { runId } = await newRun(store, 'remove')
  const writes: string[][] = []
  const counting: Pick<Store, 'transaction'> = {
    transaction: (work) => {
      writes.push([])
      return hearingOf(({ step, mark }) => writes.at(-1)?.push(`${step} ${mark}`)).transaction(work)
    },
  }
  await live({ action: 'remove', world: new FakeWorld(STEPS.remove, {}), runId, store: counting })
  expect(writes).toEqual([
    ['backup intent'],
    ['backup done', 'dns intent'],
    ['dns done', 'proxy intent'],
    ['proxy done'],
  ])
})
