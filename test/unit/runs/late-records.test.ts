import { expect, test } from 'vitest'
import type { DnsProvider, ZoneRecord } from '../../../src/dns/contract.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type LateRecordsParts, removeLateRecords } from '../../../src/runs/late-records.ts'
import type { Held } from '../../../src/runs/steps/zone-updates.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { sampleExposure, samplePlan, sampleRun } from '../../contract/samples.ts'

const { host } = samplePlan()
const ADDRESS: ZoneRecord = { name: host, type: 'A', ttl: 60, value: '127.0.45.23' }
const MARK: ZoneRecord = {
  name: `_drawbridge.${host}`,
  type: 'TXT',
  ttl: 60,
  value: `drawbridge exposure_${'0'.repeat(26)}`,
}

interface Found {
  readonly image?: object
  readonly held?: Held
  readonly exposed?: 'before' | 'meanwhile'
  readonly isBusy?: boolean
}

/** A store with one apply that was rolled back, and a zone. */
function after({ image = { records: [ADDRESS, MARK], doValidUntil: 1 }, held = 'yes', exposed, isBusy }: Found = {}) {
  let looks = 0
  const removed: (readonly ZoneRecord[])[] = []
  const lease = { name: 'host', holder: 'a', fence: 1, expiresAt: Number.POSITIVE_INFINITY }
  const provider: Partial<DnsProvider> = {
    remove: async (records) => {
      removed.push(records)
      return 'removed'
    },
  }
  const parts = {
    store: {
      rolledBackApplies: async () => [sampleRun({ host, state: 'rolled_back' })],
      readJournal: async () => [{ runId: 'r', seq: 1, at: 0, step: 'dns', mark: 'intent', image }],
      findExposure: async () => {
        looks += 1
        return exposed === 'before' || (exposed && looks > 1) ? sampleExposure({ host }) : undefined
      },
      findPlan: async () => samplePlan(),
      takeLease: async () => (isBusy ? undefined : lease),
      releaseLease: async () => undefined,
      renewLeases: async () => new Set(['host']),
    } as unknown as LateRecordsParts['store'],
    runs: { leaseMs: 30_000 },
    providerFor: () => provider as DnsProvider,
    readBack: async () => held,
    instance: 'a',
    log: createLog('silent', []),
    clock: systemClock,
  }
  return { removed, look: () => removeLateRecords(parts) }
}

test('records that came after their rollback are removed, exactly as the journal has them', async () => {
  const { look, removed } = after()
  expect(await look()).toEqual({ withdrawn: [host], left: [] })
  expect(removed).toEqual([[ADDRESS, MARK]])
})

test('records that the apply only kept stay', async () => {
  const { look, removed } = after({ image: { records: [{ ...ADDRESS, kept: true }, MARK], doValidUntil: 1 } })
  await look()
  expect(removed).toEqual([[MARK]])
})

test.each<[string, Found]>([
  ['the host has an exposure', { exposed: 'before' }],
  ['the host gets an exposure meanwhile', { exposed: 'meanwhile' }],
  ['the records are not there', { held: 'no' }],
  ['somebody changed one of them', { held: 'partly' }],
  ['nobody can tell', { held: 'unknown' }],
  ['no update was sent', { image: { records: [ADDRESS, MARK] } }],
  ['there is no owner mark of ours', { image: { records: [ADDRESS], doValidUntil: 1 } }],
])('nothing is removed where %s', async (_, found) => {
  const { look, removed } = after(found)
  expect(await look()).toEqual({ withdrawn: [], left: [] })
  expect(removed).toEqual([])
})

test('a host that a run changes is left for the next look', async () => {
  const { look, removed } = after({ isBusy: true })
  expect(await look()).toEqual({ withdrawn: [], left: [host] })
  expect(removed).toEqual([])
})
