import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { statusLines } from '../../../src/cli/views/status.ts'
import { enterHost } from '../../../src/compose/machine/rebuild.ts'
import { Fences } from '../../../src/edge/fences/fences.ts'
import { certificateId } from '../../../src/edge/record/entry.ts'
import { receiptOf, type ZoneRecord } from '../../../src/model/receipt.ts'
import { HIGHEST_NUMBER, hostLease } from '../../../src/model/run.ts'
import { chosen, waitingLines } from '../../../src/operate/converge.ts'
import { lookAtWorld, type RebuildParts } from '../../../src/operate/keep/rebuild.ts'
import type { FoundEntry } from '../../../src/operate/keep/rebuilt-exposure.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { EdgeStandings } from '../../../src/runs/edge-standings.ts'
import { openStore, raiseEpoch } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { samplePlan, sampleRun } from '../../contract/samples.ts'
import { convergeOn } from '../../support/converge.ts'
import { FakeEdge } from '../../support/edge/fake-edge.ts'
import { appliedPlan, nextFence } from '../../support/saga.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'

const CERTIFICATE = {
  ...{ fingerprint: Array(32).fill('0A').join(':'), certificateFile: '', keyFile: '', names: [], notBefore: 0 },
  ...{ notAfter: 1, source: 'issued' as const, ours: true },
}
const PAIR = certificateId(CERTIFICATE.fingerprint)
const SOON = 5
const FORMER_EPOCH = 1
const otherPlan = `plan_${'0'.repeat(26)}`

let folder: TempFolder
let store: Store
let primary: FakeEdge
let secondary: FakeEdge
let standings: EdgeStandings

beforeEach(async () => {
  folder = tempFolder()
  const setting = { kind: 'sqlite', file: `${folder.path}/rebuilt.db` } as const
  store = await openStore(setting)
  await raiseEpoch(setting, FORMER_EPOCH)
  primary = new FakeEdge('23')
  secondary = new FakeEdge('73')
  standings = new EdgeStandings(() => 1)
})
afterEach(async () => {
  await store.close()
  folder[Symbol.dispose]()
})

type ReadBack = Parameters<typeof convergeOn>[0]['readBack']
const converge = (readBack?: ReadBack) =>
  convergeOn({ store, primary, secondary, standings, now: () => 10, ...(readBack && { readBack }) })

/** A host as a rebuild enters it. A run of the lost store with the number 7 has changed it on both edges. */
async function adopted(
  expiresAt?: number,
  records: readonly ZoneRecord[] = [],
): Promise<{ readonly host: string; readonly planId: string }> {
  const id = randomBytes(13).toString('hex')
  const [host, planId] = [`${id}.lab.test`, `plan_${id}`]
  const plan = samplePlan({ host, planId, digest: id, exposureId: `exposure_${id}`, state: 'applied', changes: [] })
  const receipt = receiptOf({ certificate: CERTIFICATE, dns: { records } })
  await store.transaction((session) => enterHost({ host, plan, receipt, expiresAt, number: 7 }, 1, session))
  for (const edge of [primary, secondary]) {
    edge.put(host, planId, PAIR)
    edge.fences.push({ host, epoch: FORMER_EPOCH, number: 7 })
  }
  return { host, planId }
}

const OWN_STORE = 'store_own'

/** What the edges of a lost store tell of a host, as a rebuild reads it. A run with the number 7 has changed it on the Primary. */
function worldOf(host: string, secondaryTells: Partial<FoundEntry>): RebuildParts {
  const record = {
    ...{ planId: otherPlan, tls: false, target: 'http://127.0.0.1:9', proof: '0'.repeat(64), health: '/' },
    ...{ owner: undefined, note: undefined },
  }
  const onPrimary = {
    ...{ host, edge: '23', record, certificate: undefined, epoch: FORMER_EPOCH, number: 7, store: OWN_STORE },
  }
  const mark = {
    name: `_drawbridge.${host}`,
    type: 'TXT',
    ttl: 60,
    value: `drawbridge plan_${'1'.repeat(26)}`,
  } as const
  return {
    entries: async () => ({ lists: [[onPrimary], [{ ...onPrimary, edge: '73', ...secondaryTells }]], silent: [] }),
    storeId: async () => undefined,
    isKnown: async () => false,
    records: async () => [mark],
    backendOf: () => ({ server: '25', port: 9 }),
    zoneOf: () => ({ zone: 'lab.test', subdomain: host.slice(0, -'.lab.test'.length) }),
    resolve: () => ({ request: samplePlan().request, url: `http://${host}`, published: [], ttl: 60 }),
    certificateOf: async () => undefined,
    healthOf: async () => '/',
    steps: () => [],
    now: () => NOW,
  }
}

const NOW = Date.parse('2026-01-01T00:00:00Z')

const unconfirmed = async (host: string) => (await store.findExposure(host))?.unconfirmed
const told = () => standings.of('23')?.outOfStep?.sentence ?? ''

// Row 38 of the threats: of a host of the Primary, the Secondary decides nothing.
test.each<[string, Partial<FoundEntry>, number]>([
  ['the highest number that a computer counts to', { number: Number.MAX_SAFE_INTEGER }, HIGHEST_NUMBER / 2],
  ['the highest number of the wire', { number: HIGHEST_NUMBER }, HIGHEST_NUMBER / 2],
  ['a higher number', { number: 9 }, 9],
  ['a number in an epoch of the far future', { number: 9, epoch: Number.MAX_SAFE_INTEGER }, 7],
  ['a number of another store, in a later epoch', { number: 9, epoch: NOW + 1, store: 'store_other' }, 7],
])('a Secondary that tells %s: the host is adopted, and its runs go on', async (_what, tells, number) => {
  const host = `${randomBytes(13).toString('hex')}.lab.test`
  const { adoptions, left } = await lookAtWorld(worldOf(host, tells), { otherEpochs: false, remembered: new Map() })
  expect({ left, adoptions }).toMatchObject({ left: [], adoptions: [{ host, number }] })
  for (const adoption of adoptions) await store.transaction((session) => enterHost(adoption, 1, session))
  const fences = new Fences(folder.path, { ...systemClock, now: () => NOW })
  for (const run of [1, 2]) {
    const next = await nextFence(store, host, run)
    expect(next).toBe(number + run)
    await fences.claim([{ host, epoch: NOW, number: next, store: OWN_STORE }]).record()
  }
})

test('what is equal on every edge is confirmed without a question', async () => {
  const { host } = await adopted()
  await converge().reconcile()
  expect(await unconfirmed(host)).toBeUndefined()
  expect(standings.all.map(({ outOfStep }) => outOfStep)).toEqual([undefined, undefined])
})

test('an edge that has never had the host, or was away at its last change, is only behind', async () => {
  const [{ host }, other] = [await adopted(), await adopted()]
  secondary.standing.delete(host)
  secondary.fences.splice(0, 1)
  secondary.put(other.host, otherPlan, PAIR)
  secondary.fences.splice(0, 1, { host: other.host, epoch: FORMER_EPOCH, number: 6 })
  await converge().reconcile()
  expect([await unconfirmed(host), await unconfirmed(other.host)]).toEqual([undefined, undefined])
})

test.each([
  ['newer on edge 73', (host: string) => secondary.put(host, otherPlan, PAIR)],
  ['gone on edge 73', (host: string) => void secondary.standing.delete(host)],
  ['gone on edge 23', (host: string) => void primary.standing.delete(host)],
  ['another certificate on edge 73', (host: string, planId: string) => secondary.put(host, planId, '0b'.repeat(16))],
])('%s: the host waits, is not changed and does not end, until a person confirms it', async (why, change) => {
  const [equal, { host, planId }] = [await adopted(SOON), await adopted(SOON)]
  change(host, planId)
  const before = [primary, secondary].map(({ standing }) => new Map(standing))
  await converge().reconcile()
  await converge().reconcile()
  expect([primary.standing, secondary.standing]).toEqual(before)
  expect(await store.exposuresDue(10)).toEqual([])
  expect(await converge().waiting()).toHaveLength(2)
  expect(told()).toContain(`${host} (${why})`)
  expect(told()).toContain(`${equal.host} (end in doubt)`)
  expect(told()).toContain('drawbridge reconcile')
  await converge().settle([host])
  expect(await unconfirmed(host)).toBeUndefined()
  expect((await store.exposuresDue(10)).map((due) => due.host)).toEqual([host])
})

test('while an edge cannot be read nothing is confirmed', async () => {
  const { host } = await adopted()
  const away = new Error('The edge is away.')
  const { edge } = secondary
  const list = async () => Promise.reject(away)
  const looking = convergeOn({
    ...{ store, primary, standings, now: () => 10 },
    secondary: Object.defineProperty(new FakeEdge('73'), 'edge', { value: { ...edge, list } }),
  })
  await looking.reconcile()
  expect(await unconfirmed(host)).toBe('edges')
  expect(told()).toContain(`${host} (not read: edge 73)`)
  await converge().reconcile()
  expect(await unconfirmed(host)).toBeUndefined()
  expect(told()).toBe('')
})

test('status and the command name what waits; a host that does not wait is refused', async () => {
  const { host } = await adopted()
  secondary.standing.delete(host)
  await converge().reconcile()
  const waiting = await converge().waiting()
  expect(waitingLines(waiting).at(-1)).toBe(`  ${host}  gone on edge 73`)
  expect(chosen(waiting, host)).toEqual(waiting)
  expect(() => chosen(waiting, 'other.lab.test')).toThrow('does not wait')
  const [standing] = standings.all
  const edges = [{ server: '23', unknown: 0, outOfStep: { cause: 'restored', detail: standing?.outOfStep?.sentence } }]
  const row = { host, badge: 'RUNNING', server: '25', certificate: null, expiresAt: null, uptime24h: 1, managed: true }
  const body = { hosts: [row], total: 1, matched: 1, counts: { RUNNING: 1 }, edges, at: '2026-01-01T00:00:00Z' }
  const screen = { columns: 400, paint: (_: string, text: string) => text } as never
  expect(statusLines(body as never, screen).join('\n')).toContain(`${host} (gone on edge 73)`)
})

test('a run that ended before it changed an edge makes nothing newer than the store', async () => {
  const [{ host }, later] = [await adopted(), await adopted()]
  await nextFence(store, host, 1)
  await converge().reconcile()
  expect([await unconfirmed(host), await unconfirmed(later.host)]).toEqual([undefined, undefined])
  await nextFence(store, later.host, 1)
  secondary.standing.delete(later.host)
  secondary.fences.splice(1, 1)
  const [, onSecondary] = await converge().compare()
  expect(onSecondary).toMatchObject({ behind: [later.host], unknown: [] })
})

/** A host as a restore leaves it. The number 2 is that of its newest run in the backup. */
async function restored(): Promise<{ readonly host: string; readonly planId: string }> {
  const { host, planId } = await appliedPlan(store, 1)
  await store.deleteExposure(host, planId, 1)
  await store.raiseLastFences([hostLease(host)], 2)
  await store.insertExposure({
    host,
    planId,
    state: 'applied',
    fence: 2,
    since: 1,
    receipt: receiptOf({}),
    unconfirmed: 'edges',
  })
  for (const edge of [primary, secondary]) {
    edge.put(host, planId)
    edge.fences.push({ host, epoch: FORMER_EPOCH, number: 2 })
  }
  return { host, planId }
}

test('a host whose files are lost under the number of the backup is confirmed, and written again', async () => {
  const { host, planId } = await restored()
  for (const edge of [primary, secondary]) edge.standing.delete(host)
  await converge().reconcile()
  expect(await unconfirmed(host)).toBeUndefined()
  expect([primary, secondary].map((edge) => edge.planOf(host))).toEqual([planId, planId])
})

test.each([
  ['rebuilt', 'has changed no edge'],
  ['rebuilt', 'was undone on the edge'],
  ['restored', 'has changed no edge'],
  ['restored', 'was undone on the edge'],
])('%s: a run of this store that %s confirms nothing of what a run of the former store has left', async (by, end) => {
  const { host, planId } = by === 'rebuilt' ? await adopted() : await restored()
  const former = (primary.fences.at(-1)?.number ?? 0) + 1
  primary.put(host, otherPlan, PAIR)
  primary.fences.push({ host, epoch: FORMER_EPOCH, number: former })
  const number = await nextFence(store, host, 1)
  expect(number, 'the same number').toBe(former)
  const run = sampleRun({ runId: `run_${host}`, host, planId, action: 'repair', fence: number })
  await store.insertRun(run)
  await store.finishRun(run.runId, 'rolled_back', 2, number)
  await store.claimExposure(host, planId, run.runId, number)
  await store.passClaims(run.runId, undefined)
  if (end.startsWith('was')) primary.fences.push({ host, epoch: await store.epoch(), number })
  await converge().reconcile()
  expect(await unconfirmed(host)).toBe('edges')
  expect(told()).toContain(`${host} (newer on edge 23)`)
})

const RECORD = { name: 'a.lab.test', type: 'A', ttl: 60, value: '192.0.2.1' } as const

test.each([
  ['other records in DNS', async () => 'no' as const],
  ['other records in DNS', async () => 'partly' as const],
  ['no certain answer from DNS', async () => 'unknown' as const],
  ['no certain answer from DNS', async () => Promise.reject(new Error('It is away.'))],
])('%s: a host that is equal on every edge waits', async (why, readBack) => {
  const [without, { host }] = [await adopted(), await adopted(undefined, [RECORD])]
  await converge(readBack).reconcile()
  expect([await unconfirmed(without.host), await unconfirmed(host)]).toEqual([undefined, 'edges'])
  expect(told()).toContain(`${host} (${why})`)
  expect(waitingLines(await converge(readBack).waiting()).at(-1)).toBe(`  ${host}  ${why}`)
  const asked: unknown[] = []
  await converge(async (zone, records) => {
    asked.push([zone, records])
    return 'yes'
  }).reconcile()
  expect(asked).toEqual([['lab.test', [RECORD]]])
  expect(await unconfirmed(host)).toBeUndefined()
  expect(told()).toBe('')
})

test('a zone that is silent is not asked for each of its hosts', async () => {
  for (let i = 0; i < 40; i += 1) await adopted(undefined, [RECORD])
  let asked = 0
  const silent = converge(async () => {
    asked += 1
    return 'unknown'
  })
  expect(await silent.waiting()).toEqual(Array(40).fill(expect.objectContaining({ why: 'unanswered' })))
  expect(asked).toBeLessThan(20)
})
