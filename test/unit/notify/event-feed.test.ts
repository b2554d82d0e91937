import { expect, test } from 'vitest'
import type { RecentEvents, RecentEventsQuery } from '../../../src/client/bodies.ts'
import { recentEvents } from '../../../src/client/pages.ts'
import type { StoredEvent } from '../../../src/model/event.ts'
import { EventFeed } from '../../../src/notify/event-feed.ts'
import { systemClock } from '../../../src/primitives/clock.ts'

/** A store with the events `first` to `last`, as after a pruning. Every tenth is about the host rare.test. */
function feedOf(first: number, last: number) {
  const all = Array.from({ length: last - first + 1 }, (_, index): StoredEvent => {
    const seq = first + index
    const host = seq % 10 === 0 ? 'rare.test' : 'often.test'
    return { seq, id: `evt_${seq}`, at: seq, type: 'host.badge', host, facts: {} }
  })
  let reads = 0
  const readEvents = async (afterSeq: number, limit: number) => {
    reads += 1
    return all.filter(({ seq }) => seq > afterSeq).slice(0, limit)
  }
  const readEventsBefore = async (beforeSeq: number, limit: number) => {
    reads += 1
    return all.filter(({ seq }) => seq < beforeSeq).slice(-limit)
  }
  const feed = new EventFeed({ readEvents, readEventsBefore, eventHead: async () => last }, systemClock)
  return { feed, readsSoFar: () => reads }
}

const RARE = { hosts: new Set(['rare.test']) }
const seqs = ({ events }: { events: readonly { seq: number }[] }) => events.map(({ seq }) => seq)

test('the newest events are read from the end, oldest first, in one look', async () => {
  const { feed, readsSoFar } = feedOf(1, 5_000)
  const found = await feed.newest({}, { limit: 3 })
  expect([seqs(found), found.head, found.nextBefore]).toEqual([[4998, 4999, 5000], 5000, 4998])
  expect(readsSoFar()).toBe(1)
})

test('a filter looks further back, and the pages of it have neither gap nor repetition', async () => {
  const { feed } = feedOf(1, 1_000)
  const pages: number[][] = []
  for (let before: number | undefined; ; ) {
    const { nextBefore, ...page } = await feed.newest(RARE, { limit: 30, before })
    pages.push(seqs(page))
    if (nextBefore === undefined) break
    before = nextBefore
  }
  expect(pages[0]?.slice(-2)).toEqual([990, 1000])
  expect(pages.toReversed().flat()).toEqual(Array.from({ length: 100 }, (_, index) => (index + 1) * 10))
})

test('the first event of all ends the pages', async () => {
  const { feed } = feedOf(1, 3)
  expect(await feed.newest({}, { limit: 3 })).toMatchObject({ events: { length: 3 } })
  expect((await feed.newest({}, { limit: 3 })).nextBefore).toBeUndefined()
  expect((await feed.newest({}, { limit: 10 })).nextBefore).toBeUndefined()
  expect(seqs(await feed.newest({}, { limit: 10, before: 1 }))).toEqual([])
  expect(seqs(await feedOf(1, 0).feed.newest({}, { limit: 10 }))).toEqual([])
})

test('where events were pruned nothing is looked for', async () => {
  const { feed, readsSoFar } = feedOf(9_901, 10_000)
  const found = await feed.newest({ hosts: new Set(['nobody.test']) }, { limit: 10 })
  expect([seqs(found), found.nextBefore]).toEqual([[], undefined])
  expect(readsSoFar()).toBe(1)
})

test('a call that finds nothing looks at a bounded number of events, and says where to go on', async () => {
  const { feed, readsSoFar } = feedOf(1, 30_000)
  const nobody = { hosts: new Set(['nobody.test']) }
  expect((await feed.newest(nobody, { limit: 10 })).nextBefore).toBe(20_001)
  expect(readsSoFar()).toBe(50)
})

test('a client reads as many pages as its limit needs, and keeps the head of the first', async () => {
  const { feed } = feedOf(1, 30_000)
  const asked: RecentEventsQuery[] = []
  const page = async (query: RecentEventsQuery): Promise<RecentEvents> => {
    asked.push(query)
    const before = query.before === undefined ? undefined : Number(query.before)
    const { events, head, nextBefore = null } = await feed.newest({}, { limit: Number(query.limit), before })
    return { events: events as unknown as RecentEvents['events'], head: head + asked.length, nextBefore }
  }
  const found = await recentEvents(page, { limit: '1200' })
  expect([found.events.length, found.events[0]?.seq, found.events.at(-1)?.seq, found.head]).toEqual([
    1200, 28_801, 30_000, 30_001,
  ])
  expect(asked.map(({ limit, before = 'the end' }) => `${limit} before ${before}`)).toEqual([
    '500 before the end',
    '500 before 29501',
    '200 before 29001',
  ])
})
