import { beforeEach, describe, expect, it } from 'vitest'
import { AuditTrail } from '../../../src/audit/trail.ts'
import type { AuditEntry } from '../../../src/model/audit.ts'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { storeOfTest } from '../../support/fresh.ts'

const NOW = 1_790_000_000_000
const MINUTE = 60_000
const REFUSAL: AuditEntry = {
  ...{ at: NOW, actor: '198.51.100.9', network: 'public', action: 'plan', outcome: 'refused', code: 'invalid_request' },
}

let store: Store
beforeEach(async () => {
  store = (await storeOfTest()).store
})

describe('the audit trail', () => {
  const actions = async () => (await store.readAudit(0, 100)).map((line) => line.action)
  const recordTimes = async (trail: AuditTrail, times: number) => {
    for (let i = 0; i < times; i++) await trail.record(REFUSAL)
  }

  it('writes a line', async () => {
    await new AuditTrail(store).record({ ...REFUSAL, outcome: 'ok' })
    expect(await store.readAudit(0, 10)).toMatchObject([{ ...REFUSAL, outcome: 'ok' }])
  })

  it('writes no line when its transaction fails', async () => {
    const trail = new AuditTrail(store)
    const failing = store.transaction(async (session) => {
      await trail.record({ ...REFUSAL, outcome: 'ok' }, session)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await actions()).toStrictEqual([])
  })

  it('counts a flood of refusals and writes the count after a minute', async () => {
    const trail = new AuditTrail(store)
    await recordTimes(trail, 50)
    expect(await actions()).toStrictEqual(Array(5).fill('plan'))
    await trail.flush(NOW + MINUTE)
    expect((await store.readAudit(5, 10)).map((line) => line.facts)).toStrictEqual([{ count: 45, since: NOW }])
  })

  it('writes the count of a flood when the service ends', async () => {
    const trail = new AuditTrail(store)
    await recordTimes(trail, 6)
    await trail.finish(NOW + 1)
    expect(await actions()).toStrictEqual([...Array(5).fill('plan'), 'refusals'])
  })

  it('fails when a line cannot be written', async () => {
    await store.close()
    await expect(new AuditTrail(store).record(REFUSAL)).rejects.toThrow()
  })

  it('writes a count later when the store failed', async () => {
    let broken = true
    const breaking: Store = {
      ...store,
      transaction: (work) => (broken ? Promise.reject(new Error('the store is gone')) : store.transaction(work)),
    }
    const trail = new AuditTrail(breaking)
    await recordTimes(trail, 8)
    await expect(trail.flush(NOW + MINUTE)).rejects.toThrow('the store is gone')
    broken = false
    await trail.flush(NOW + 2 * MINUTE)
    expect((await store.readAudit(5, 10)).map((line) => line.facts)).toStrictEqual([{ count: 3, since: NOW }])
  })

  it('publishes an event for each refusal that it writes, and none for those that it only counts', async () => {
    const trail = new AuditTrail(store)
    const event = { at: NOW, type: 'plan.refused', host: 'shop.lab.test', facts: { code: 'invalid_request' } } as const
    for (let i = 0; i < 50; i++) await trail.recordAndPublish(REFUSAL, event)
    expect(await store.readEvents(0, 100)).toHaveLength(5)
    expect(await store.readEvents(0, 1)).toMatchObject([event])
    expect(await actions()).toEqual(Array(5).fill('plan'))
  })
})

describe('verifying a long audit', () => {
  beforeEach(() =>
    store.transaction(async (session) => {
      for (let at = 1; at <= 2_500; at++)
        await session.appendAudit({ at, actor: '127.0.0.1', network: 'public', action: 'plan', outcome: 'ok' })
    }),
  )

  it('reads all pages', async () => {
    expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 2_500, first: 1, last: 2_500 })
  })

  it('accepts a pruning between two pages', async () => {
    let pruned = false
    const prunedMeanwhile: Store = {
      ...store,
      async readAudit(afterSeq, limit) {
        if (afterSeq >= 1_000 && !pruned) {
          pruned = true
          await store.prune({ plansBefore: 0, auditBefore: 1_501, eventsBefore: 0, now: 9_999 })
        }
        return store.readAudit(afterSeq, limit)
      },
    }
    expect(await verifyAudit(prunedMeanwhile)).toMatchObject({ ok: true, first: 1_501, last: 2_501 })
    expect(pruned).toBe(true)
  })
})
