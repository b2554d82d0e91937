import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { EventFeed } from '../../../src/notify/event-feed.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleEntry, sampleEvent, samplePlan } from '../samples.ts'

export const eventSuite = (on: Bench) =>
  describe('events', () => {
    const seqs = async (store: Store, after = 0) => (await store.readEvents(after, 1_000)).map(({ seq }) => seq)

    on.it('are read in order, each with its own id', async (store) => {
      expect(await store.eventHead()).toBe(0)
      const first = await store.appendEvent(sampleEvent())
      const { planId: _none, ...withoutPlan } = sampleEvent({ type: 'host.badge', facts: {} })
      const second = await store.appendEvent(withoutPlan)
      expect(first).toStrictEqual({ ...sampleEvent(), seq: 1, id: expect.stringMatching(/^evt_[0-9a-f]{26}$/) })
      expect(second.id).not.toBe(first.id)
      expect(await store.readEvents(0, 10)).toStrictEqual([first, second])
      expect(await store.eventHead()).toBe(2)
    })

    on.it('are read in pages', async (store) => {
      for (let i = 0; i < 5; i++) await store.appendEvent(sampleEvent())
      expect((await store.readEvents(1, 2)).map(({ seq }) => seq)).toStrictEqual([2, 3])
      expect(await seqs(store, 5)).toStrictEqual([])
    })

    on.it(
      'are found from the newest on, also those of before a restore, which leaves a gap in the numbers',
      async (store) => {
        const feed = new EventFeed(store, systemClock)
        const newest = async (limit: number, before?: number) => {
          const { events, nextBefore } = await feed.newest({}, { limit, before })
          return [events.map(({ seq }) => seq), nextBefore]
        }
        for (let i = 0; i < 3; i++) await store.appendEvent(sampleEvent())
        await on.sql('update audit_head set events = events + 10000000')
        expect(await newest(2)).toStrictEqual([[2, 3], 2])
        await store.appendEvent(sampleEvent())
        expect(await newest(10)).toStrictEqual([[1, 2, 3, 10_000_004], undefined])
        expect(await newest(2, 3)).toStrictEqual([[1, 2], undefined])
      },
    )

    on.it('of one host are read by type, the newest of them oldest first', async (store) => {
      for (const host of ['a.test', 'b.test', 'a.test', 'a.test'])
        await store.appendEvent(sampleEvent({ host, type: 'host.badge' }))
      await store.appendEvent(sampleEvent({ host: 'a.test', type: 'host.alert' }))
      await store.appendEvent(sampleEvent({ host: 'a.test', type: 'exposure.removed' }))
      const read = async (limit: number) =>
        (await store.readHostEvents('a.test', ['host.badge', 'exposure.removed'], limit)).map(({ seq }) => seq)
      expect(await read(10)).toStrictEqual([1, 3, 4, 6])
      expect(await read(2)).toStrictEqual([4, 6])
    })

    on.it('are committed only with their transaction', async (store) => {
      const failing = store.transaction(async (session) => {
        await session.appendEvent(sampleEvent())
        throw new Error('it did not happen')
      })
      await expect(failing).rejects.toThrow('it did not happen')
      expect(await seqs(store)).toStrictEqual([])
      expect(await store.appendEvent(sampleEvent())).toMatchObject({ seq: 1 })
    })

    on.it('never become visible before an earlier one, however long its commit takes', async (one, two, reader) => {
      let later: Promise<unknown> = Promise.resolve()
      await one.transaction(async (session) => {
        await session.appendEvent(sampleEvent({ host: 'slow.test' }))
        later = two.appendEvent(sampleEvent({ host: 'quick.test' }))
        // No engine reports that an append waits: it can go wrong during each of these reads.
        for (let i = 0; i < 30; i++) expect(await seqs(reader)).toStrictEqual([])
      })
      await later
      expect((await reader.readEvents(0, 10)).map(({ host }) => host)).toStrictEqual(['slow.test', 'quick.test'])
    })

    on.it('are never skipped by a reader while two instances append', async (one, two, reader) => {
      const appended = Promise.all(
        Array.from({ length: 100 }, (_, i) => (i % 2 ? one : two).appendEvent(sampleEvent())),
      )
      const seen: number[] = []
      while (seen.length < 100) {
        seen.push(...(await seqs(reader, seen.at(-1) ?? 0)))
        // Reading SQLite is synchronous: without a turn of the event loop no other code would run.
        await turn()
      }
      await appended
      expect(seen).toStrictEqual(Array.from({ length: 100 }, (_, i) => i + 1))
    })

    on.it('and audit lines may be written in either order without a deadlock', async (one, two) => {
      const eventFirst = () =>
        one.transaction(async (session) => {
          await session.appendEvent(sampleEvent())
          await session.appendAudit(sampleEntry())
        })
      const auditFirst = () =>
        two.transaction(async (session) => {
          await session.appendAudit(sampleEntry())
          await session.appendEvent(sampleEvent())
        })
      await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? eventFirst() : auditFirst())))
      expect(await one.eventHead()).toBe(20)
      expect(await one.auditHead()).toMatchObject({ seq: 20 })
    })

    on.it('that are old are pruned, and their numbers are never reused', async (store) => {
      await store.insertPlan(samplePlan())
      for (const at of [NOW, NOW + 1, NOW + 2]) await store.appendEvent(sampleEvent({ at }))
      const prune = (eventsBefore: number) => store.prune({ plansBefore: 0, auditBefore: 0, eventsBefore, now: NOW })
      await prune(NOW + 1)
      expect(await seqs(store)).toStrictEqual([2, 3])
      await prune(NOW + 9)
      expect(await seqs(store)).toStrictEqual([])
      expect(await store.appendEvent(sampleEvent())).toMatchObject({ seq: 4 })
    })
  })
