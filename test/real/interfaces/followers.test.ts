import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EventFeed } from '../../../src/notify/event-feed.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import type { Runs } from '../../../src/runs/engine/runs.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { PlanProgress } from '../../../src/usecases/progress.ts'
import { NOW, sampleEvent, samplePlan, sampleRun } from '../../contract/samples.ts'
import { takes } from '../../support/delay.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

/** Many follow on one instance what another one writes into the same real store. Nothing runs on the first. */
const FOLLOWERS = 200
const idleRuns = { listen: () => () => undefined, isUnderWay: () => false } as unknown as Runs
let folder: ReturnType<typeof tempFolder>
let [store, other]: Store[] = []
let asked: string[]
let gone: AbortController

beforeEach(async () => {
  folder = tempFolder()
  const file = join(folder.path, 'drawbridge.db')
  asked = []
  const opened = await openStore({ kind: 'sqlite', file })
  store = new Proxy(opened, {
    get: (target, name: keyof Store) => {
      if (typeof name === 'string') asked.push(name)
      return target[name]
    },
  })
  other = await openStore({ kind: 'sqlite', file })
  gone = new AbortController()
})

afterEach(async () => {
  gone.abort()
  await store?.close()
  await other?.close()
  folder[Symbol.dispose]()
})

/** What each of the followers was told, so far. */
function collect<T>(streams: readonly AsyncGenerator<T, void>[], word: (event: T) => string): string[][] {
  return streams.map((stream) => {
    const told: string[] = []
    void (async () => {
      for await (const event of stream) told.push(word(event))
      told.push('over')
    })()
    return told
  })
}

const many = <T>(one: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: FOLLOWERS }, one))

/** How often the store is asked while the followers have nothing to hear. */
async function askedAtRest(): Promise<number> {
  await takes(200)
  const before = asked.length
  await takes(2_000)
  return asked.length - before
}

test.runIf(process.env.CAMPAIGN)(
  'followers of an idle plan ask the store together, and all hear a run of another instance to its end',
  async () => {
    const { planId } = samplePlan()
    const run = sampleRun()
    await other?.insertPlan(samplePlan())
    const progress = new PlanProgress(store as Store, idleRuns, systemClock)
    const told = collect(
      await many(() => progress.follow(planId, undefined, gone.signal)),
      ({ name, step }) => `${step} ${name}`,
    )
    expect(await askedAtRest()).toBeLessThan(FOLLOWERS)
    await other?.insertRun(run)
    await other?.appendJournal({ runId: run.runId, at: NOW, step: 'run', mark: 'intent' }, run.fence)
    await until('all hear of its beginning', () => told.every((words) => words.length > 0))
    await other?.transaction(async (session) => {
      await session.finishRun(run.runId, 'succeeded', NOW, run.fence)
      const image = { state: 'applied' }
      await session.appendJournal({ runId: run.runId, at: NOW, step: 'run', mark: 'done', image }, run.fence)
    })
    await until('all are told of its end', () => told.every((words) => words.at(-1) === 'over'))
    for (const words of told) expect(words).toEqual(['run started', 'run end', 'over'])
  },
)

test.runIf(process.env.CAMPAIGN)('a plan that nobody follows any more is not asked for', async () => {
  await other?.insertPlan(samplePlan())
  const progress = new PlanProgress(store as Store, idleRuns, systemClock)
  const told = collect([await progress.follow(samplePlan().planId, undefined, gone.signal)], ({ name }) => name)
  gone.abort()
  await until('it is over', () => told[0]?.at(-1) === 'over')
  await takes(600)
  expect(await askedAtRest()).toBe(0)
})

test('followers of all events ask the store together, and each hears every event once from where it wants to', async () => {
  for (let i = 0; i < 5; i++) await other?.appendEvent(sampleEvent())
  const feed = new EventFeed(store as Store, systemClock)
  const seq = (event: { readonly seq: number }) => String(event.seq)
  const fromNow = collect(await many(() => feed.follow({}, undefined, gone.signal)), seq)
  const resumed = collect([await feed.follow({}, 2, gone.signal)], seq)
  expect(await askedAtRest()).toBeLessThan(FOLLOWERS)
  for (let i = 0; i < 300; i++) await other?.appendEvent(sampleEvent())
  await until('all have heard all', () => [...fromNow, ...resumed].every((words) => words.at(-1) === '305'))
  const places = (from: number) => Array.from({ length: 305 - from }, (_, i) => String(from + i + 1))
  for (const words of fromNow) expect(words).toEqual(places(5))
  expect(resumed[0]).toEqual(places(2))
})
