import { describe, expect } from 'vitest'
import { PLAN_STATES } from '../../../src/model/exposure.ts'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { DAY, NOW, presented, sampleCapability, sampleEntry, samplePlan, sampleRun, sampleStep } from '../samples.ts'

export function pruneSuite(on: Bench): void {
  const LATER = NOW + 30 * DAY
  const prunePlans = (store: Store, plansBefore: number) =>
    store.prune({ plansBefore, auditBefore: 0, eventsBefore: 0, now: LATER })
  const pruneAudit = (store: Store, auditBefore: number) =>
    store.prune({ plansBefore: 0, auditBefore, eventsBefore: 0, now: LATER })
  const append = async (store: Store, times: readonly number[]) => {
    for (const at of times) await store.appendAudit(sampleEntry({ at }))
  }
  const seqs = async (store: Store) => (await store.readAudit(0, 100)).map((line) => line.seq)

  describe('pruning plans', () => {
    on.it('removes old plans that were never applied, and keeps all others', async (store) => {
      for (const state of PLAN_STATES) await store.insertPlan(samplePlan({ planId: `plan_${state}`, state }))
      await prunePlans(store, NOW + 1)
      const left = (await on.sql('select state from plans')).map((row) => row.state)
      const live = ['applying', 'applied', 'removing', 'blocked', 'removed', 'replaced', 'released']
      expect(new Set(left)).toStrictEqual(new Set(live))
    })

    on.it('keeps new, unexpired and exposed plans', async (store) => {
      await store.insertPlan(samplePlan({ planId: 'plan_old' }))
      await store.insertPlan(samplePlan({ planId: 'plan_young', createdAt: NOW + 1 }))
      await store.insertPlan(samplePlan({ planId: 'plan_living', expiresAt: LATER + 1 }))
      await store.insertPlan(samplePlan({ planId: 'plan_exposed', state: 'rolled_back' }))
      await store.insertExposure({ host: 'a.test', planId: 'plan_exposed', state: 'blocked', fence: 1, since: NOW })
      await prunePlans(store, NOW + 1)
      const left = (await on.sql('select plan_id from plans order by plan_id')).map((row) => row.plan_id)
      expect(left).toStrictEqual(['plan_exposed', 'plan_living', 'plan_young'])
    })

    on.it('removes the runs and journals of the plans it removes, and no others', async (store) => {
      for (const [name, state] of [
        ['old', 'rolled_back'],
        ['kept', 'removed'],
      ] as const) {
        const run = sampleRun({ runId: `run_${name}`, planId: `plan_${name}`, host: name, state: 'rolled_back' })
        await store.insertPlan(samplePlan({ planId: run.planId, state }))
        await store.insertRun(run)
        await store.appendJournal(sampleStep({ runId: run.runId }), 1)
      }
      await prunePlans(store, NOW + 1)
      expect(await on.sql('select plan_id from plans')).toStrictEqual([{ plan_id: 'plan_kept' }])
      expect(await on.sql('select run_id from runs')).toStrictEqual([{ run_id: 'run_kept' }])
      expect(await on.sql('select run_id from journal')).toStrictEqual([{ run_id: 'run_kept' }])
    })

    on.it('removes a removed plan with its audit, when its last run is old enough', async (store) => {
      const ended = async (name: string, finishedAt: number | undefined) => {
        const run = sampleRun({ runId: `run_${name}`, planId: `plan_${name}`, host: name, action: 'remove' })
        await store.insertPlan(samplePlan({ planId: run.planId, state: 'removed' }))
        await store.insertRun(run)
        await store.appendJournal(sampleStep({ runId: run.runId }), 1)
        if (finishedAt !== undefined) await store.finishRun(run.runId, 'succeeded', finishedAt, 1)
      }
      await ended('gone', NOW + 1)
      await ended('late', NOW + 2)
      await ended('open', undefined)
      await store.insertPlan(samplePlan({ planId: 'plan_standing', state: 'applied' }))
      await pruneAudit(store, NOW + 2)
      const left = (await on.sql('select plan_id from plans order by plan_id')).map((row) => row.plan_id)
      expect(left).toStrictEqual(['plan_late', 'plan_open', 'plan_standing'])
      expect(await on.sql('select run_id from journal order by run_id')).toStrictEqual([
        { run_id: 'run_late' },
        { run_id: 'run_open' },
      ])
    })

    on.it('removes old converges of live plans with their journals, and no other run', async (store) => {
      await store.insertPlan(samplePlan({ state: 'applied' }))
      const ended = { state: 'rolled_back', finishedAt: NOW } as const
      for (const run of [
        sampleRun({ ...ended, runId: 'run_old', action: 'converge' }),
        sampleRun({ ...ended, runId: 'run_done', action: 'converge', state: 'succeeded' }),
        sampleRun({ ...ended, runId: 'run_late', action: 'converge', finishedAt: NOW + 1 }),
        sampleRun({ ...ended, runId: 'run_blocked', action: 'converge', state: 'blocked' }),
        sampleRun({ ...ended, runId: 'run_repair', action: 'repair' }),
        sampleRun({ runId: 'run_open', action: 'converge' }),
      ]) {
        await store.insertRun(run)
        await store.appendJournal(sampleStep({ runId: run.runId }), 1)
      }
      await prunePlans(store, NOW + 1)
      const left = ['run_blocked', 'run_late', 'run_open', 'run_repair'].map((run_id) => ({ run_id }))
      expect(await on.sql('select run_id from runs order by run_id')).toStrictEqual(left)
      expect(await on.sql('select run_id from journal order by run_id')).toStrictEqual(left)
    })

    on.it(
      'never removes a plan with an unfinished run, whatever its state says, nor its earlier runs',
      async (store) => {
        await store.insertPlan(samplePlan({ state: 'rolled_back' }))
        await store.insertRun(sampleRun({ runId: 'run_0', state: 'rolled_back' }))
        await store.insertRun(sampleRun())
        await prunePlans(store, NOW + 1)
        expect(await store.runsOf(samplePlan().planId)).toHaveLength(2)
        await store.finishRun('run_1', 'rolled_back', NOW, 1)
        await prunePlans(store, NOW + 1)
        expect(await on.sql('select * from plans')).toStrictEqual([])
      },
    )

    on.it('never removes a plan for which a run starts at the same time', async (one, two, three) => {
      await one.insertPlan(samplePlan({ state: 'rolled_back' }))
      const pruned = one.transaction(async (session) => {
        await session.insertRun(sampleRun())
        const pruning = prunePlans(two, NOW + 1).catch(() => 'failed as a whole')
        // No engine reports that a transaction waits for another: the pruning gets there meanwhile.
        for (let i = 0; i < 20; i++) await three.ping()
        return () => pruning
      })
      await (await pruned)()
      expect(await one.findPlan(samplePlan().planId)).toBeDefined()
      expect(await one.unfinishedRuns()).toStrictEqual([sampleRun()])
    })

    on.it('removes old capabilities that are spent or expired, and those of removed plans', async (store) => {
      await store.insertPlan(samplePlan({ state: 'applied' }))
      await store.insertPlan(samplePlan({ planId: 'plan_old' }))
      await store.insertCapability(
        sampleCapability({ hash: 'of an old plan', planId: 'plan_old', issuedAt: NOW + DAY }),
      )
      await store.insertCapability(sampleCapability({ hash: 'expired' }))
      await store.insertCapability(sampleCapability({ hash: 'spent', expiresAt: LATER + 1 }))
      await store.insertCapability(sampleCapability({ hash: 'living', expiresAt: LATER + 1 }))
      await store.insertCapability(sampleCapability({ hash: 'spent lately', issuedAt: NOW + 1 }))
      for (const hash of ['spent', 'spent lately']) await store.spendCapability(presented({ hash }), NOW)
      await prunePlans(store, NOW + 1)
      const left = (await on.sql('select hash from capabilities order by hash')).map((row) => row.hash)
      expect(left).toStrictEqual(['living', 'spent lately'])
    })
  })

  on.it('pruning removes ledger lines that are older than every limit', async (store) => {
    const line = { directory: 'https://ca.test/dir', names: 'shop.lab.test', kind: 'issued', unproven: [] } as const
    for (const days of [61, 59]) await store.appendLedger({ ...line, at: LATER - days * DAY })
    await prunePlans(store, NOW)
    expect(await store.readLedger({ directory: line.directory, since: 0 })).toHaveLength(1)
  })

  describe('pruning the audit', () => {
    on.it('removes old lines from the beginning and leaves a valid chain', async (store) => {
      await append(store, [1, 2, 3, 4, 5])
      const [, , third] = await store.readAudit(0, 3)
      await pruneAudit(store, 4)
      const lines = await store.readAudit(0, 100)
      expect(lines.map((line) => line.seq)).toStrictEqual([4, 5, 6])
      expect(lines.at(-1)).toMatchObject({
        ...{ at: LATER, actor: 'drawbridge', network: 'self', action: 'prune', outcome: 'ok' },
        facts: { throughSeq: 3, throughHash: third?.hash },
      })
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 3, first: 4, last: 6 })
    })

    on.it('makes only that line a valid beginning', async (store) => {
      await append(store, [1, 2, 3, 4, 5])
      await pruneAudit(store, 3)
      await on.sql('delete from audit_lines where seq = 3')
      expect(await verifyAudit(store)).toMatchObject({ ok: false, seq: 4, fault: 'beginning' })
    })

    on.it('can be repeated, and the chain stays valid', async (store) => {
      await append(store, [1, 2, 3, 4, 5, 6])
      for (const [before, first] of [
        [2, 2],
        [4, 4],
        [6, 6],
      ] as const) {
        await pruneAudit(store, before)
        expect(await verifyAudit(store)).toMatchObject({ ok: true, first })
      }
      expect(await seqs(store)).toStrictEqual([6, 7, 8, 9])
    })

    on.it('writes nothing when there is nothing to remove', async (store) => {
      await pruneAudit(store, 100)
      expect(await seqs(store)).toStrictEqual([])
      await append(store, [1, 2])
      await pruneAudit(store, 1)
      expect(await seqs(store)).toStrictEqual([1, 2])
    })

    on.it('never removes the newest line, nor the newest prune line', async (store) => {
      await append(store, [1, 2, 3])
      await pruneAudit(store, LATER + 1)
      expect(await seqs(store)).toStrictEqual([3, 4])
      await pruneAudit(store, LATER + 1)
      expect(await seqs(store)).toStrictEqual([4, 5])
      await append(store, [6, 7])
      await on.sql('update audit_lines set at = 1 where seq > 5')
      await pruneAudit(store, LATER + 1)
      expect((await seqs(store))[0]).toBe(5)
    })

    on.it('keeps a line with an old time that follows newer lines', async (store) => {
      await append(store, [1, 9, 2, 10])
      await pruneAudit(store, 5)
      expect(await seqs(store)).toStrictEqual([2, 3, 4, 5])
      expect(await verifyAudit(store)).toMatchObject({ ok: true })
    })

    on.it('runs once when two instances prune at the same time, while others append', async (one, two) => {
      await append(one, [1, 2, 3, 4, 5])
      await Promise.all([pruneAudit(one, 4), pruneAudit(two, 4), append(one, [6, 7]), append(two, [8, 9])])
      const lines = await one.readAudit(0, 100)
      expect(lines.filter((line) => line.action === 'prune')).toHaveLength(1)
      expect(await verifyAudit(one)).toMatchObject({ ok: true, lines: 7, first: 4, last: 10 })
    })
  })
}
