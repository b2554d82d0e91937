import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Entry } from '../../../src/edge/record/entry.ts'
import { certificateId } from '../../../src/edge/record/entry.ts'
import { type ChosenCertificate, receiptOf } from '../../../src/model/receipt.ts'
import { EdgeStandings } from '../../../src/runs/edge-standings.ts'
import { openStore, restoreInto, snapshotOf } from '../../../src/store/open.ts'
import type { CopiedTable, RowPage } from '../../../src/store/ports/copy.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { convergeOn } from '../../support/converge.ts'
import { FakeEdge } from '../../support/edge/fake-edge.ts'
import { anotherPlan, appliedPlan, newRun, nextFence } from '../../support/saga.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** A backup is restored after random changes of the world. The edges are intact; the Secondary may be away. */
const SEEDS = process.env.CAMPAIGN ? 20 : 2
const CHANGES = 50
const LATER = 10_000_000_000

interface Live {
  readonly host: string
  readonly planId: string
  readonly serial: number
}

/** A small generator of numbers, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** The store and two edges, and what runs do to them. */
class Estate {
  readonly primary = new FakeEdge('23')
  readonly secondary = new FakeEdge('73')
  readonly live = new Map<string, Live>()
  readonly extended = new Set<string>()
  isSecondaryAway = false
  readonly #store: Store
  readonly #pick: (below: number) => number

  constructor(store: Store, pick: (below: number) => number) {
    this.#store = store
    this.#pick = pick
  }

  /** One random change, by a run that has ended. */
  async change(): Promise<void> {
    const hosts = [...this.live.values()]
    const one = hosts[this.#pick(hosts.length)]
    const kinds = ['apply', 'apply', 'remove', 'update', 'extend', 'renew', 'edit'] as const
    const kind = one ? (kinds[this.#pick(kinds.length)] ?? 'apply') : 'apply'
    if (kind === 'apply' || !one) return this.apply()
    if (kind === 'remove') return this.#remove(one)
    if (kind === 'update') return this.#update(one)
    if (kind === 'renew') return this.#enter({ ...one, serial: one.serial + 1 })
    if (kind === 'edit') return this.#edit(one)
    this.extended.add(one.host)
    await this.#store.prolongExposure(one.host, one.planId, LATER)
  }

  async apply(): Promise<void> {
    const { host, planId } = await appliedPlan(this.#store, 1, this.#pick(2) === 0 ? 2 : undefined)
    await this.#enter({ host, planId, serial: 1 })
  }

  async #enter(live: Live): Promise<void> {
    const { host, planId, serial } = live
    this.live.set(host, live)
    const number = await nextFence(this.#store, host, 1)
    const certificate = { ...PAIR, fingerprint: fingerprintOf(serial) }
    for (const edge of this.#present()) edge.put(host, planId, certificateId(certificate.fingerprint))
    await this.#fence(host, number)
    await this.#store.setExposureReceipt(host, planId, receiptOf({ certificate }), number)
  }

  async #remove({ host, planId }: Live): Promise<void> {
    const number = await nextFence(this.#store, host, 1)
    for (const edge of this.#present()) edge.standing.delete(host)
    await this.#fence(host, number)
    await this.#store.deleteExposure(host, planId, number)
    await this.#store.movePlan(planId, ['applied'], 'removed')
    this.live.delete(host)
  }

  async #update({ host, planId, serial }: Live): Promise<void> {
    const exposure = await this.#store.findExposure(host)
    if (!exposure) throw new Error('The host is not stored.')
    const next = await anotherPlan(this.#store, planId, 'applied')
    await this.#store.replaceExposure(planId, { ...exposure, planId: next.planId })
    await this.#store.movePlan(planId, ['applied'], 'replaced')
    await this.#enter({ host, planId: next.planId, serial })
  }

  async #edit({ host }: Live): Promise<void> {
    if (this.secondary.standing.has(host) && !this.isSecondaryAway) this.secondary.edit(host)
  }

  #present(): readonly FakeEdge[] {
    return this.isSecondaryAway ? [this.primary] : [this.primary, this.secondary]
  }

  async #fence(host: string, number: number): Promise<void> {
    const epoch = await this.#store.epoch()
    for (const edge of this.#present()) edge.fences.push({ host, epoch, number })
  }
}

const PAIR = {
  ...{ fingerprint: '', certificateFile: '', keyFile: '', names: [], notBefore: 0, notAfter: LATER },
  source: 'issued' as const,
  ours: true,
} satisfies ChosenCertificate

async function backupOf(file: string) {
  return snapshotOf({ kind: 'sqlite', file }, async ({ schema, storeId, epoch, keyId, pages }) => {
    const tables: CopiedTable[] = []
    const rows: RowPage[] = []
    for await (const page of pages((table) => tables.push(table))) rows.push(page)
    return { schema, storeId, epoch, keyId, tables, rows }
  })
}

test('a run that was under way when the backup was made is left to a person: the former store may have ended it', async () => {
  using folder = tempFolder()
  const [file, restored] = [join(folder.path, 'former.db'), join(folder.path, 'restored.db')]
  const former = await openStore({ kind: 'sqlite', file })
  const { runId, planId } = await newRun(former, 'apply')
  await former.appendJournal({ runId, at: 1, step: 'proxy', mark: 'intent' }, 1)
  const { rows, ...head } = await backupOf(file)
  await former.close()
  async function* pages() {
    yield* rows
  }
  const now = Date.now()
  await restoreInto({ kind: 'sqlite', file: restored }, { ...head, pages: pages() }, { now, edgeEpoch: 0 })
  const store = await openStore({ kind: 'sqlite', file: restored })
  const [run, plan, journal] = [
    await store.findRun(runId),
    await store.findPlan(planId),
    await store.readJournal(runId, 0),
  ]
  expect(await store.unfinishedRuns()).toEqual([])
  await store.close()
  expect([run?.state, plan?.state]).toEqual(['blocked', 'blocked'])
  expect(journal.at(-1)).toMatchObject({
    step: 'proxy',
    mark: 'undo_failed',
    detail: expect.stringContaining('backup'),
  })
})

test.each(Array.from({ length: SEEDS }, (_, seed) => [[seed, 'present'] as const, [seed, 'away'] as const]).flat())(
  'restored after 50 changes, seed %i, Secondary %s: nothing comes back, is downgraded or goes off the air',
  async (seed, where) => {
    using folder = tempFolder()
    const [file, restored] = [join(folder.path, 'former.db'), join(folder.path, 'restored.db')]
    const former = await openStore({ kind: 'sqlite', file })
    const pick = random(seed + 1)
    const estate = new Estate(former, pick)
    const { primary, secondary, extended, live } = estate
    for (let i = 0; i < 30; i += 1) await estate.apply()
    for (let i = 0; i < 10; i += 1) await estate.change()
    await former.takeLease('monitor', 'former', Date.now(), 60_000)
    const { rows, ...head } = await backupOf(file)
    extended.clear()
    const followed = await former.eventHead()
    const awayFrom = where === 'away' ? pick(CHANGES) : CHANGES
    for (let i = 0; i < CHANGES; i += 1) {
      estate.isSecondaryAway = i >= awayFrom
      await estate.change()
    }
    await former.close()
    async function* pages() {
      yield* rows
    }
    await restoreInto(
      { kind: 'sqlite', file: restored },
      { ...head, pages: pages() },
      { now: Date.now(), edgeEpoch: 0 },
    )
    await using store = await openStore({ kind: 'sqlite', file: restored }).then((opened) => ({
      ...opened,
      [Symbol.asyncDispose]: () => opened.close(),
    }))
    expect(await store.takeLease('monitor', 'restored', Date.now(), 60_000), 'no lease is waited for').toBeDefined()
    const before = [primary, secondary].map(({ standing }) => new Map(standing))
    const standings = new EdgeStandings(() => 1)
    const looks = async (count: number) => {
      const converge = convergeOn({ store, primary, secondary, standings, now: () => Date.now() })
      for (let i = 0; i < count; i += 1) await converge.reconcile()
      return converge
    }
    if (where === 'away') {
      secondary.answer = { kind: 'no_answer', reason: 'refused' }
      await looks(2)
      secondary.answer = { kind: 'no_answer', reason: 'unknown_host' }
    }
    const converge = await looks(3)

    expect(primary.standing).toEqual(before[0])
    for (const [host, { entry }] of secondary.standing) {
      const stood = before[1]?.get(host)
      if (stood && entry === stood.entry) continue
      const { plan, certificate } = primary.standing.get(host)?.entry ?? {}
      expect(entry, 'what converge wrote is what the Primary serves').toMatchObject({ host, plan, certificate })
      expect(stood?.isEdited ?? false, `the edit of ${host} was overwritten`).toBe(false)
      expect(serialOf(entry)).toBeGreaterThanOrEqual(stood ? serialOf(stood.entry) : 0)
    }
    for (const host of before[1]?.keys() ?? [])
      if (!secondary.standing.has(host)) expect(primary.standing.has(host), `${host} went off the air`).toBe(false)
    for (const host of live.keys()) expect(primary.hosts).toContain(host)
    const due = (await store.exposuresDue(LATER - 1)).map(({ host }) => host)
    expect(due.filter((host) => extended.has(host) || !live.has(host))).toEqual([])
    expect(await store.eventHead()).toBeGreaterThan(followed + CHANGES)
    const { outOfStep } = standings.of('23') ?? {}
    expect([outOfStep?.cause, outOfStep?.sentence]).toEqual([
      'restored',
      expect.stringContaining('drawbridge reconcile'),
    ])
    await converge.settle((await converge.waiting()).map(({ host }) => host))
    const ends = (await store.exposuresDue(LATER - 1)).map(({ host }) => host)
    expect(ends.length).toBeGreaterThan(0)
  },
)

/** The serial is the number in its first bytes. */
const fingerprintOf = (serial: number): string =>
  serial.toString(16).toUpperCase().padStart(8, '0').padEnd(64, '0').match(/../g)?.join(':') ?? ''
const serialOf = ({ certificate }: Entry): number => Number.parseInt(certificate?.slice(0, 8) ?? '', 16)
