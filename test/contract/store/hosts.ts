import { describe, expect } from 'vitest'
import { addCheck, CheckCounts, slotAt } from '../../../src/model/history.ts'
import type { HostStatus } from '../../../src/model/host-status.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleHost } from '../samples.ts'

const checked = (change: Partial<HostStatus> = {}): HostStatus =>
  sampleHost({
    badge: 'HTTP 502',
    since: NOW,
    lastCheck: { at: NOW, ok: false, httpStatus: 502, latencyMs: 7, reason: null },
    fullCheck: {
      at: NOW,
      dns: 'ours',
      file: 'edited',
      certificate: { notBefore: 1, notAfter: NOW, level: 'expired', forHost: true },
    },
    history: addCheck(sampleHost().history, { at: NOW, ok: false, latencyMs: 7 }),
    changed: 7,
    ...change,
  })

export const hostSuite = (on: Bench) =>
  describe('hosts', () => {
    on.it('are read as they were written, and only those of a later write', async (store) => {
      expect(await store.hostsSummary()).toStrictEqual({ count: 0, version: 0 })
      await store.putHosts([checked(), sampleHost({ host: 'new.lab.test', planId: null, managed: false })], 3)
      await store.putHosts([checked({ host: 'last.lab.test' })], 4)
      expect(await store.readHosts(-1)).toStrictEqual([
        sampleHost({ host: 'new.lab.test', planId: null, managed: false }),
        checked(),
        checked({ host: 'last.lab.test' }),
      ])
      expect((await store.readHosts(3)).map(({ host }) => host)).toStrictEqual(['last.lab.test'])
      expect(await store.hostsSummary()).toStrictEqual({ count: 3, version: 4 })
    })

    on.it('have a history by hours and days, whose counts add up and are pruned', async (store) => {
      const counts = new CheckCounts()
      counts.add('a.lab.test', { at: NOW, ok: true, latencyMs: 10 })
      counts.add('a.lab.test', { at: NOW + 1, ok: false, latencyMs: null })
      const slots = counts.take()
      expect(counts.take()).toStrictEqual([])
      await store.addHistory(slots)
      await store.addHistory(slots)
      await store.addHistory([])
      const sum = { host: 'a.lab.test', checks: 4, succeeded: 2, answers: 2, latencyTotal: 20 }
      expect(await store.readHistory('a.lab.test', slotAt('h', NOW))).toStrictEqual([
        { ...sum, slot: slotAt('h', NOW) },
      ])
      expect(await store.readHistory('a.lab.test', slotAt('d', NOW))).toStrictEqual([
        { ...sum, slot: slotAt('d', NOW) },
      ])
      expect(await store.readHistory('a.lab.test', slotAt('h', NOW + 3_600_000))).toStrictEqual([])
      expect(await store.readHistory('b.lab.test', slotAt('h', NOW))).toStrictEqual([])
      const later = NOW + 9 * 86_400_000
      await store.prune({ now: later, plansBefore: 0, eventsBefore: 0, auditBefore: 0 })
      expect(await store.readHistory('a.lab.test', slotAt('h', NOW))).toStrictEqual([])
      expect(await store.readHistory('a.lab.test', slotAt('d', NOW))).toHaveLength(1)
    })

    on.it('are muted until somebody ends it, or until the time is over', async (store) => {
      const mute = { since: NOW, until: NOW + 60_000, by: '192.168.45.10', note: 'moves' }
      await store.putMute('a.lab.test', { since: NOW, until: null, by: '192.168.45.11' })
      await store.putMute('a.lab.test', mute)
      await store.putMute('b.lab.test', { since: NOW, until: null, by: '192.168.45.10' })
      expect([...(await store.readMutes())].sort()).toStrictEqual([
        ['a.lab.test', mute],
        ['b.lab.test', { since: NOW, until: null, by: '192.168.45.10' }],
      ])
      expect(await store.deleteMute('a.lab.test', NOW + 59_999)).toBe(false)
      expect(await store.deleteMute('a.lab.test', NOW + 60_000)).toBe(true)
      expect(await store.deleteMute('b.lab.test', NOW + 60_000)).toBe(false)
      expect(await store.deleteMute('b.lab.test')).toBe(true)
      expect(await store.deleteMute('b.lab.test')).toBe(false)
      expect((await store.readMutes()).size).toBe(0)
    })

    on.it('are replaced by a later write', async (store) => {
      await store.putHosts([sampleHost()], 1)
      await store.putHosts([checked()], 2)
      expect(await store.readHosts(-1)).toStrictEqual([checked()])
      expect(await store.hostsSummary()).toStrictEqual({ count: 1, version: 2 })
    })

    on.it('can be written and deleted in thousands at once', async (store) => {
      const many = Array.from({ length: 2_500 }, (_, i) => sampleHost({ host: `h${i}.lab.test` }))
      await store.transaction((session) => session.putHosts(many, 1))
      expect((await store.hostsSummary()).count).toBe(2_500)
      await store.deleteHosts(many.slice(1).map(({ host }) => host))
      await store.deleteHosts([])
      await store.putHosts([], 9)
      expect((await store.readHosts(0)).map(({ host }) => host)).toStrictEqual(['h0.lab.test'])
    })
  })
