import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../src/model/event.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleEvent } from '../samples.ts'

export const outboxSuite = (on: Bench) =>
  describe('an outbox', () => {
    /** A webhook with queued events of these hosts, in this order. */
    const outboxOf = async (...hosts: string[]): Promise<Store> => {
      const store = await on.open()
      const from = await store.openWebhook('chat')
      const events: StoredEvent[] = []
      await store.transaction(async (session) => {
        for (const host of hosts) events.push(await session.appendEvent(sampleEvent({ host })))
      })
      await store.queueDeliveries('chat', events, { from, through: await store.eventHead() }, NOW)
      return store
    }
    const due = async (store: Store, now = NOW) =>
      (await store.dueDeliveries('chat', now, 9_000, 10)).map(({ event }) => `${event.seq} ${event.host}`)
    const failed = { at: NOW, tries: 1, dueAt: NOW + 1_000, fault: 'HTTP 500', dead: false }

    on.it('starts with the next event, and continues after the last one', async (store) => {
      await store.appendEvent(sampleEvent())
      expect(await store.openWebhook('chat')).toBe(1)
      await store.appendEvent(sampleEvent())
      expect(await store.openWebhook('chat')).toBe(1)
      expect(await store.queueDeliveries('chat', [], { from: 1, through: 2 }, NOW)).toBe(true)
      expect(await store.openWebhook('chat')).toBe(2)
    })

    it('stores an event once, even from two instances', async () => {
      const store = await outboxOf('a.test', 'b.test')
      const events = await store.readEvents(0, 10)
      expect(await store.queueDeliveries('chat', events, { from: 0, through: 2 }, NOW)).toBe(false)
      expect(await due(store)).toStrictEqual(['1 a.test', '2 b.test'])
    })

    it('returns the earliest event of each host, and the next one after its delivery', async () => {
      const store = await outboxOf('a.test', 'a.test', 'b.test', 'b.test')
      expect(await due(store)).toStrictEqual(['1 a.test', '3 b.test'])
      await store.settleDelivery('chat', 1, NOW)
      expect(await due(store)).toStrictEqual(['2 a.test', '3 b.test'])
      expect(await store.dueDeliveries('chat', NOW, 9_000, 1)).toMatchObject([{ tries: 0, event: { host: 'a.test' } }])
    })

    it('delays only the host whose delivery failed', async () => {
      const store = await outboxOf('a.test', 'a.test', 'b.test')
      await store.postponeDelivery('chat', 1, failed)
      expect(await due(store)).toStrictEqual(['3 b.test'])
      expect(await due(store, NOW + 1_000)).toStrictEqual(['1 a.test', '3 b.test'])
      expect(await store.webhookState('chat')).toStrictEqual({
        ...{ delivered: 0, pending: 3, dead: 0, failing: true },
        ...{ lastDeliveredAt: undefined, lastFailedAt: NOW, lastFault: 'HTTP 500' },
      })
    })

    it('delays a host for no longer than the longest pause', async () => {
      const store = await outboxOf('a.test', 'a.test')
      await store.postponeDelivery('chat', 1, { ...failed, dueAt: NOW + 9_000 })
      expect(await due(store)).toStrictEqual([])
      await store.postponeDelivery('chat', 1, { ...failed, dueAt: NOW + 9_001 })
      expect(await due(store)).toStrictEqual(['1 a.test'])
    })

    it('finds what is due behind the long backlog of another host', async () => {
      const store = await outboxOf(...Array.from({ length: 300 }, () => 'a.test'), 'b.test', 'c.test', 'b.test')
      expect(await due(store)).toStrictEqual(['1 a.test', '301 b.test', '302 c.test'])
      await store.postponeDelivery('chat', 1, failed)
      expect(await due(store)).toStrictEqual(['301 b.test', '302 c.test'])
      expect(await store.dueDeliveries('chat', NOW, 9_000, 1)).toMatchObject([{ event: { seq: 301 } }])
    })

    it('keeps an abandoned event as a dead letter that blocks no other, until it is retried', async () => {
      const store = await outboxOf('a.test', 'a.test')
      await store.postponeDelivery('chat', 1, { ...failed, tries: 30, dead: true })
      expect(await due(store)).toStrictEqual(['2 a.test'])
      const [letter] = await store.deadLetters('chat', 10)
      expect(letter).toMatchObject({ tries: 30, fault: 'HTTP 500', event: { seq: 1, host: 'a.test' } })
      expect(await store.webhookState('chat')).toMatchObject({ pending: 1, dead: 1 })
      expect(await store.reviveDeliveries('chat', NOW)).toBe(2)
      expect(await due(store)).toStrictEqual(['1 a.test'])
      expect(await store.deadLetters('chat', 10)).toStrictEqual([])
    })

    it('counts each delivery once', async () => {
      const store = await outboxOf('a.test')
      for (let i = 0; i < 2; i++) await store.settleDelivery('chat', 1, NOW + i)
      expect(await store.webhookState('chat')).toMatchObject({ delivered: 1, pending: 0, lastDeliveredAt: NOW })
    })

    it('drops events that are too old', async () => {
      const store = await outboxOf('a.test')
      await store.prune({ plansBefore: 0, auditBefore: 0, eventsBefore: NOW + 1, now: NOW })
      expect(await store.webhookState('chat')).toMatchObject({ pending: 0 })
    })

    on.it('returns nothing for an unknown webhook', async (store) => {
      expect(await store.webhookState('nobody')).toMatchObject({ delivered: 0, pending: 0, dead: 0, failing: false })
      expect(await store.reviveDeliveries('nobody', NOW)).toBe(0)
    })
  })
