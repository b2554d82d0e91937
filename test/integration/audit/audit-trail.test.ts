import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AuditTrail } from '../../../src/audit/trail.ts'
import type { AuditEntry } from '../../../src/model/audit.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'

const NOW = 1_790_000_000_000
const MINUTE = 60_000
const REFUSAL: AuditEntry = {
  ...{ at: NOW, actor: '198.51.100.9', network: 'public', action: 'plan', outcome: 'refused', code: 'invalid_request' },
}

describe('the audit trail', () => {
  let folder: string
  let store: Store
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drawbridge-trail-'))
    store = await openStore({ kind: 'sqlite', file: join(folder, 'store.db') })
  })
  afterEach(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

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
