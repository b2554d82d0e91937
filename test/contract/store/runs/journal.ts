import { beforeEach, describe, expect, it } from 'vitest'
import { StaleFence } from '../../../../src/store/ports/runs.ts'
import type { Store } from '../../../../src/store/ports/store.ts'
import type { Bench } from '../../engines.ts'
import { NOW, samplePlan, sampleRun, sampleStep } from '../../samples.ts'

export const journalSuite = (on: Bench) =>
  describe('the journal', () => {
    const { runId } = sampleRun()
    const seqs = async (store: Store, of = runId, after = 0) =>
      (await store.readJournal(of, after)).map((entry) => entry.seq)
    let store: Store
    beforeEach(async () => {
      store = await on.open()
      await store.insertPlan(samplePlan())
      await store.insertRun(sampleRun())
    })

    it('numbers every entry and returns it unchanged', async () => {
      const image = { files: [{ path: 'a\u0000b\ud800', content: null }], deep: { er: [1.5, '🌉'] } }
      const first = await store.appendJournal(sampleStep({ image, detail: 'NUL \u0000 "quoted"' }), 1)
      const second = await store.appendJournal(sampleStep({ mark: 'done', at: NOW + 1, image: null }), 1)
      const third = await store.appendJournal(sampleStep({ step: 'verify', mark: 'verdict' }), 1)
      expect(first).toStrictEqual({ ...sampleStep({ image, detail: 'NUL \u0000 "quoted"' }), seq: 1 })
      expect(second.seq).toBe(2)
      expect(third).toStrictEqual({ ...sampleStep({ step: 'verify', mark: 'verdict' }), seq: 3 })
      expect(await store.readJournal(runId, 0)).toStrictEqual([first, second, third])
    })

    it('is read from a number on, and is numbered separately for every run', async () => {
      await store.insertRun(sampleRun({ runId: 'run_2', host: 'other.lab.test' }))
      for (let i = 0; i < 3; i++) await store.appendJournal(sampleStep(), 1)
      await store.appendJournal(sampleStep({ runId: 'run_2' }), 1)
      expect(await seqs(store, runId, 1)).toStrictEqual([2, 3])
      expect(await seqs(store, runId, 3)).toStrictEqual([])
      expect(await seqs(store, 'run_2')).toStrictEqual([1])
      expect(await seqs(store, 'run_none')).toStrictEqual([])
    })

    it('accepts no entry for a run that does not exist', async () => {
      await expect(store.appendJournal(sampleStep({ runId: 'run_none' }), 1)).rejects.toThrow(
        'Run run_none does not exist',
      )
    })

    it('refuses an entry with an older fence, and leaves no gap', async () => {
      await store.appendJournal(sampleStep(), 1)
      await store.adoptRun(sampleRun(), 'two', 5)
      for (const fence of [1, 4]) {
        await expect(store.appendJournal(sampleStep({ mark: 'done' }), fence)).rejects.toThrow(StaleFence)
      }
      expect((await store.appendJournal(sampleStep({ mark: 'undo_intent' }), 5)).seq).toBe(2)
      expect((await store.readJournal(runId, 0)).map((entry) => entry.mark)).toStrictEqual(['intent', 'undo_intent'])
    })

    it('leaves no gap for an entry that could not be written', async () => {
      await on.sql(`insert into journal values ('${runId}', 1, 1, 'in the way', 'intent', '{}')`)
      await expect(store.appendJournal(sampleStep(), 1)).rejects.toThrow(/unique/i)
      await on.sql('delete from journal')
      expect((await store.appendJournal(sampleStep(), 1)).seq).toBe(1)
    })

    it('fails the whole transaction of a stale holder', async () => {
      await store.adoptRun(sampleRun(), 'two', 2)
      const stale = store.transaction(async (session) => {
        await session.movePlan(samplePlan().planId, ['planned'], 'applied')
        await session.appendJournal(sampleStep({ mark: 'verdict' }), 1)
      })
      await expect(stale).rejects.toThrow(StaleFence)
      expect((await store.findPlan(samplePlan().planId))?.state).toBe('planned')
    })

    it('has neither gaps nor duplicates when two instances append 30 entries concurrently', async () => {
      const second = await on.open()
      const places = Array.from({ length: 30 }, (_, i) => i + 1)
      const entries = await Promise.all(
        places.map((at, i) => (i % 2 ? store : second).appendJournal(sampleStep({ at, image: { at } }), 1)),
      )
      const stored = await store.readJournal(runId, 0)
      expect(stored.map((entry) => entry.seq)).toStrictEqual(places)
      expect(stored).toStrictEqual(entries.toSorted((a, b) => a.seq - b.seq))
    })

    it('has neither gaps nor duplicates when some of many concurrent transactions fail', async () => {
      const second = await on.open()
      const attempts = Array.from({ length: 30 }, (_, i) =>
        (i % 2 ? store : second).transaction(async (session) => {
          await session.appendJournal(sampleStep({ at: i }), 1)
          if (i % 3 === 0) throw new Error('something went wrong')
        }),
      )
      await Promise.allSettled(attempts)
      expect(await seqs(store)).toStrictEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    })

    it('refuses the old holder from the moment another adopts the run, even when both write at once', async () => {
      const second = await on.open()
      const old = Array.from({ length: 20 }, () => store.appendJournal(sampleStep({ step: 'old' }), 1))
      const adopted = second
        .adoptRun(sampleRun(), 'two', 2)
        .then(() => second.appendJournal(sampleStep({ step: 'new' }), 2))
      const outcomes = await Promise.allSettled(old)
      const { seq } = await adopted
      const steps = (await store.readJournal(runId, 0)).map((entry) => entry.step)
      expect(steps.slice(seq)).toStrictEqual([])
      const written = outcomes.filter(({ status }) => status === 'fulfilled')
      expect(steps).toHaveLength(written.length + 1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StaleFence)
      }
    })
  })
