import { describe, expect } from 'vitest'
import type { Store } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW } from '../samples.ts'

export const requestCountSuite = (on: Bench) =>
  describe('counts of requests', () => {
    const MINUTE = 60_000
    const count = async (store: Store, now: number, added = 1) =>
      (await store.countRequests(new Map([['caller', added]]), now, MINUTE)).get('caller')

    on.it('are added up within a window of all instances, and begin anew after it', async (one, two) => {
      expect(await count(one, NOW, 2)).toStrictEqual({ requests: 2, windowEnd: NOW + MINUTE })
      expect(await count(two, NOW + MINUTE - 1)).toStrictEqual({ requests: 3, windowEnd: NOW + MINUTE })
      expect(await count(one, NOW + MINUTE)).toStrictEqual({ requests: 1, windowEnd: NOW + 2 * MINUTE })
    })

    on.it('begin anew when the window was begun by a clock that was an hour ahead', async (store) => {
      await count(store, NOW + 60 * MINUTE, 50)
      expect(await count(store, NOW)).toStrictEqual({ requests: 1, windowEnd: NOW + MINUTE })
      expect(await count(store, NOW + 1)).toStrictEqual({ requests: 2, windowEnd: NOW + MINUTE })
    })

    on.it('are pruned when their window is over, or was begun by a clock that was ahead', async (store) => {
      for (const [name, at] of [
        ['over', NOW - MINUTE],
        ['open', NOW],
        ['ahead', NOW + 1],
      ] as const)
        await store.countRequests(new Map([[name, 1]]), at, MINUTE)
      await store.prune({ plansBefore: 0, auditBefore: 0, eventsBefore: 0, now: NOW })
      expect(await on.sql('select counted from request_counts')).toStrictEqual([{ counted: 'open' }])
    })
  })
