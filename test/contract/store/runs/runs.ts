import { beforeEach, describe, expect, it } from 'vitest'
import { StaleFence } from '../../../../src/store/ports/runs.ts'
import type { Store } from '../../../../src/store/ports/store.ts'
import type { Bench } from '../../engines.ts'
import { NOW, samplePlan, sampleRun } from '../../samples.ts'

export const runSuite = (on: Bench) =>
  describe('runs', () => {
    const { runId, planId } = sampleRun()
    let store: Store
    beforeEach(async () => {
      store = await on.open()
      await store.insertPlan(samplePlan())
    })

    it('are read exactly as they were written', async () => {
      const finished = sampleRun({ runId: 'run_2', action: 'remove', state: 'blocked', finishedAt: NOW + 1 })
      const told = sampleRun({ runId: 'run_4', host: 'x.test', network: 'public', right: 'capability_and_admin_token' })
      await store.insertRun(told)
      expect(await store.findRun('run_4')).toStrictEqual(told)
      await store.insertRun(sampleRun())
      await store.insertRun(finished)
      expect(await store.findRun(runId)).toStrictEqual(sampleRun())
      expect(await store.findRun('run_2')).toStrictEqual(finished)
      expect(await store.findRun('run_3')).toBeUndefined()
    })

    it('are refused without their plan, and are never overwritten', async () => {
      await expect(store.insertRun(sampleRun({ planId: 'plan_another' }))).rejects.toThrow()
      await store.insertRun(sampleRun())
      await expect(store.insertRun(sampleRun({ host: 'other.lab.test' }))).rejects.toThrow()
      expect(await store.runsOf(planId)).toStrictEqual([sampleRun()])
    })

    it('are listed as applies that were rolled back since a time', async () => {
      const ended = (id: string, finishedAt: number, more: Parameters<typeof sampleRun>[0] = {}) =>
        sampleRun({ runId: `run_${id}`, state: 'rolled_back', finishedAt, host: `${id}.test`, ...more })
      const [late, early] = [ended('late', NOW + 9), ended('early', NOW)]
      const others = [ended('removed', NOW + 9, { action: 'remove' }), ended('done', NOW + 9, { state: 'succeeded' })]
      for (const run of [early, late, ...others]) await store.insertRun(run)
      expect(await store.rolledBackApplies(NOW + 1)).toStrictEqual([late])
      expect(await store.rolledBackApplies(NOW)).toHaveLength(2)
    })

    it('are listed by plan and by being unfinished, oldest first', async () => {
      await store.insertPlan(samplePlan({ planId: 'plan_other' }))
      const runs = [
        sampleRun({ runId: 'run_c', startedAt: NOW, state: 'rolled_back', finishedAt: NOW + 1 }),
        sampleRun({ runId: 'run_a', startedAt: NOW + 2, host: 'a.test', planId: 'plan_other' }),
        sampleRun({ runId: 'run_b', startedAt: NOW + 3, fence: 2 }),
      ]
      for (const run of runs.toReversed()) await store.insertRun(run)
      expect(await store.runsOf(planId)).toStrictEqual([runs[0], runs[2]])
      expect(await store.unfinishedRuns()).toStrictEqual([runs[1], runs[2]])
      expect(await store.runsOf('plan_none')).toStrictEqual([])
    })

    it('are read for many plans at once: the newest run of each', async () => {
      await store.insertPlan(samplePlan({ planId: 'plan_other' }))
      await store.insertRun(sampleRun({ runId: 'run_z', startedAt: NOW, state: 'rolled_back', finishedAt: NOW + 1 }))
      await store.insertRun(sampleRun({ runId: 'run_b', startedAt: NOW + 3, fence: 2 }))
      await store.insertRun(sampleRun({ runId: 'run_a', host: 'a.test', planId: 'plan_other' }))
      await store.appendJournal({ runId: 'run_b', at: NOW, step: 'run', mark: 'intent' }, 2)
      const asked = [planId, 'plan_other', ...Array.from({ length: 1_000 }, (_, i) => `plan_none${i}`)]
      const marks = (await store.newestRuns(asked)).toSorted((a, b) => (a.runId < b.runId ? -1 : 1))
      expect(marks).toStrictEqual([
        { runId: 'run_a', planId: 'plan_other', state: 'running', entries: 0 },
        { runId: 'run_b', planId, state: 'running', entries: 1 },
      ])
      expect(await store.newestRuns([])).toStrictEqual([])
    })

    it('of a plan are in their order although the clock was set back between them', async () => {
      const former = sampleRun({ runId: 'run_1', fence: 9, state: 'rolled_back', finishedAt: NOW + 1 })
      const newest = sampleRun({ runId: 'run_0', fence: 10, startedAt: NOW - 3_600_000 })
      for (const run of [newest, former]) await store.insertRun(run)
      expect(await store.runsOf(planId)).toStrictEqual([former, newest])
      expect(await store.newestRuns([planId])).toMatchObject([{ runId: 'run_0' }])
    })

    it('of unfinished or blocked plans are listed without the settled ones', async () => {
      const states = ['applying', 'removing', 'blocked', 'applied', 'rolled_back', 'removed'] as const
      for (const state of states) {
        await store.insertPlan(samplePlan({ planId: `plan_${state}`, state }))
        const run = { planId: `plan_${state}`, host: `${state}.test`, state: 'blocked', finishedAt: NOW } as const
        await store.insertRun(sampleRun({ ...run, runId: `run_${state}_1` }))
        await store.insertRun(sampleRun({ ...run, runId: `run_${state}_2` }))
      }
      const unsettled = (await store.unsettledRunIds()).toSorted()
      expect(unsettled).toStrictEqual(
        ['applying', 'blocked', 'removing'].flatMap((state) => [`run_${state}_1`, `run_${state}_2`]),
      )
    })

    it('of one host are never two unfinished ones', async () => {
      const second = await on.open()
      const runs = ['run_1', 'run_2', 'run_3', 'run_4'].map((id) => sampleRun({ runId: id }))
      const begun = await Promise.allSettled(runs.map((run, i) => (i % 2 ? store : second).insertRun(run)))
      expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const [live] = await store.unfinishedRuns()
      await store.finishRun(live?.runId ?? '', 'rolled_back', NOW, 1)
      await store.insertRun(sampleRun({ runId: 'run_5' }))
    })

    it('are finished once', async () => {
      await store.insertRun(sampleRun())
      expect(await store.finishRun(runId, 'succeeded', NOW + 5, 1)).toBe(true)
      expect(await store.finishRun(runId, 'blocked', NOW + 6, 1)).toBe(false)
      expect(await store.findRun(runId)).toStrictEqual(sampleRun({ state: 'succeeded', finishedAt: NOW + 5 }))
      expect(await store.unfinishedRuns()).toStrictEqual([])
      expect(await store.finishRun('run_none', 'succeeded', NOW, 1)).toBe(false)
    })

    it('are adopted under a higher fence only, and finished only under theirs', async () => {
      const run = sampleRun({ fence: 3 })
      await store.insertRun(run)
      expect(await store.adoptRun(run, 'two', 3)).toBe(false)
      expect(await store.adoptRun(run, 'two', 2)).toBe(false)
      expect(await store.findRun(runId)).toStrictEqual(run)
      expect(await store.adoptRun(run, 'two', 4)).toBe(true)
      const adopted = sampleRun({ fence: 4, holder: 'two' })
      expect(await store.findRun(runId)).toStrictEqual(adopted)
      await expect(store.finishRun(runId, 'succeeded', NOW, 3)).rejects.toThrow(StaleFence)
      expect(await store.findRun(runId)).toStrictEqual(adopted)
      expect(await store.finishRun(runId, 'rolled_back', NOW, 4)).toBe(true)
    })

    it('are not adopted by who has read them before another adopted them', async () => {
      const read = sampleRun()
      await store.insertRun(read)
      expect(await store.adoptRun(read, 'two', 2)).toBe(true)
      expect(await store.adoptRun(read, 'three', 3)).toBe(false)
      const adopted = sampleRun({ fence: 2, holder: 'two' })
      expect(await store.findRun(runId)).toStrictEqual(adopted)
      expect(await store.adoptRun(adopted, 'three', 3)).toBe(true)
    })

    it('cannot be adopted when they are finished or unknown', async () => {
      await store.insertRun(sampleRun())
      await store.finishRun(runId, 'succeeded', NOW, 1)
      expect(await store.adoptRun(sampleRun(), 'two', 9)).toBe(false)
      expect(await store.adoptRun(sampleRun({ runId: 'run_none' }), 'two', 9)).toBe(false)
      expect(await store.findRun(runId)).toMatchObject({ holder: 'one', fence: 1 })
    })

    it('are adopted by one of many concurrent calls with the same fence', async () => {
      const second = await on.open()
      await store.insertRun(sampleRun())
      const adoptions = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 ? store : second).adoptRun(sampleRun(), `holder ${i}`, 2)),
      )
      expect(adoptions.filter(Boolean)).toHaveLength(1)
    })
  })
