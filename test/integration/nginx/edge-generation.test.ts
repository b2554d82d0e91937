import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { EdgeFault, OwnedElsewhere } from '../../../src/edge/contract/fault.ts'
import type { Entry } from '../../../src/edge/record/entry.ts'
import { shardOf } from '../../../src/nginx/config/shards.ts'
import { listHosts } from '../../../src/nginx/generations/list.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import type { Staged } from '../../../src/nginx/generations/stage.ts'
import { forgetUnused } from '../../../src/nginx/generations/unused-pairs.ts'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { changeHost, STORE } from '../../support/edge/edge.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { nextTurn } from '../../support/stall.ts'
import { unreadable } from '../../support/unreadable.ts'

/** The engine of generations on a real folder, with a stand-in for nginx. */
const [A, B] = [entryOf('a.lab.test'), entryOf('b.lab.test')]
const OTHER = entryOf('a.lab.test', 10)
/** A host in the same files as A. */
const NEIGHBOUR = entryOf(
  Array.from({ length: 1_000 }, (_, at) => `n${at}.lab.test`).find((host) => shardOf(host) === shardOf(A.host)) ?? '',
)
const lost = () => {
  throw new Error('The lease was lost.')
}
const hostsOf = (at: TestEngine) => [...at.present.all()].map(({ host }) => host).toSorted()

/** Refuses every generation with B. */
async function refusesB({ folder, durable }: Staged) {
  await durable
  const backends = join(folder, 'backends')
  const texts = readdirSync(backends).map((file) => readFileSync(join(backends, file), 'utf8'))
  return texts.join('').includes('b.lab.test') ? { reason: 'the syntax is wrong' } : undefined
}

test('what nginx refuses does not stand, alone or among others, which do', async () => {
  using at = await startEngine({ test: refusesB })
  await expect(at.place(B)).rejects.toMatchObject({ kind: 'change_invalid' })
  expect([hostsOf(at), at.counts.reloads]).toEqual([[], 0])
  const [a, c, bad, ...more] = ['a', 'c', 'b', 'd', 'e'].map((name) => at.place(entryOf(`${name}.lab.test`)))
  await expect(bad).rejects.toMatchObject({ kind: 'change_invalid' })
  await Promise.all([a, c, ...more])
  expect(hostsOf(at)).toEqual(['a.lab.test', 'c.lab.test', 'd.lab.test', 'e.lab.test'])
})

test('a generation whose reload is not proven is left for the former one, and its change has failed', async () => {
  let isProven = true
  using at = await startEngine({
    reload: async () => {
      if (!isProven) throw new EdgeFault('not_reloaded', 'Nothing proves the reload.')
    },
  })
  await at.place(A)
  const former = at.present.number
  isProven = false
  await expect(at.place(B)).rejects.toMatchObject({ kind: 'not_reloaded' })
  expect([at.present.number, hostsOf(at)]).toEqual([former, ['a.lab.test']])
})

test('nothing is entered by a run that lost its lease during the test', async () => {
  using at = await startEngine()
  await expect(at.place(A, { assertHeld: lost })).rejects.toThrow('The lease was lost.')
  expect([hostsOf(at), at.counts.reloads]).toEqual([[], 0])
})

test('nothing is written while another process owns the folder, and everything as soon as it does not', async () => {
  let isOwned = false
  using at = await startEngine({
    own: () => {
      if (isOwned) throw new OwnedElsewhere('Edge 23 belongs to process 7.')
    },
  })
  isOwned = true
  const before = listing(at.folder)
  const [host, number] = [A.host, 1]
  const item = { host, fence: { host, epoch: 1, number }, expected: 'any', wanted: 'same' } as const
  const refused = 'Edge 23 is not prepared: Edge 23 belongs to process 7.'
  for (const change of [
    () => at.place(A),
    () => at.engine.change({ items: [item] }),
    () => at.engine.change({ items: [], floor: { store: 'store_a', epoch: 1 } }),
    () => at.engine.change({ items: [], settles: ['run_a1'], floor: { store: STORE, epoch: 1 } }),
    () => at.engine.challenge({ host, fence: item.fence, token: 'a'.repeat(43), answer: `${'a'.repeat(43)}.b` }),
  ])
    await expect(change()).rejects.toThrow(refused)
  await expect(at.engine.refresh(false)).rejects.toThrow('Edge 23 belongs to process 7.')
  expect(listing(at.folder)).toEqual(before)
  isOwned = false
  await at.place(A)
  expect(hostsOf(at)).toEqual([A.host])
})

test('a start that is tried again and a change wait for each other: one would take what the other stages for a left-over', async () => {
  const order: string[] = []
  const listening = async () => {
    order.push('a change begins')
    return { listen: ['127.0.0.1'], ports: { http: 80, https: 443 } }
  }
  using at = await startEngine({ listening })
  const open = Promise.withResolvers<void>()
  order.splice(0)
  const start = at.engine.alone(async () => {
    await open.promise
    order.push('the start ends')
  })
  const placed = at.place(A)
  await nextTurn()
  open.resolve()
  await Promise.all([start, placed])
  expect(order.slice(0, 2)).toEqual(['the start ends', 'a change begins'])
})

/** Read anew: an edge reads a file once in a turn of the event loop. */
const standing = ({ folder }: TestEngine, host = A.host) => new PresentGeneration(folder).find(host)

/** Somebody gives the host another backend with an editor. */
function edit(at: TestEngine, host: string): void {
  const { file } = at.present.whereIs(host)
  writeFileSync(file, readFileSync(file, 'utf8').replace(`${host} http://127.0.0.1:9;`, `${host} http://127.0.0.1:1;`))
}

test('an entry that somebody edited is not overwritten, removed or undone, unless that is asked for', async () => {
  using at = await startEngine()
  const run = 'run_a1'
  await at.place(A, { run })
  edit(at, A.host)
  const elsewhere = {
    kind: 'changed_elsewhere',
    message: expect.stringContaining(`(${at.present.whereIs(A.host).file}, line 2)`),
  }
  const revision = standing(at)?.revision ?? ''
  for (const expected of ['any', { revision }] as const) {
    await expect(at.place(OTHER, { expected })).rejects.toMatchObject(elsewhere)
    await expect(at.place(A, { expected })).rejects.toMatchObject(elsewhere)
    await expect(at.remove(A.host, { expected })).rejects.toMatchObject(elsewhere)
  }
  await expect(changeHost(at.engine, A.host, 'before', { run })).rejects.toMatchObject(elsewhere)
  expect(at.present.find(A.host)?.parts.get('backends')).toBe('a.lab.test http://127.0.0.1:1;\n')
  await at.place(OTHER, { mend: true })
  expect(at.present.find(A.host)).toMatchObject({ entry: OTHER, isEdited: false })
})

test('an edit that comes between the decision and the writing is not overwritten', async () => {
  let meanwhile: () => void = () => undefined
  using at = await startEngine({ assertNoDebugLog: async () => meanwhile() })
  const certificate = await at.certificate(A.host)
  await at.place(A)
  // Called when the hosts of the change are decided about.
  meanwhile = () => edit(at, A.host)
  await expect(at.place({ ...OTHER, certificate })).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  expect(at.present.find(A.host)?.parts.get('backends')).toBe('a.lab.test http://127.0.0.1:1;\n')
})

test('an edit whose date was set back is kept when a neighbour in the same file is changed', async () => {
  using at = await startEngine()
  for (const entry of [A, NEIGHBOUR]) await at.place(entry)
  const { file } = at.present.whereIs(A.host)
  utimesSync(file, 1, 1)
  await nextTurn()
  expect(at.present.find(A.host)?.isEdited).toBe(false)
  edit(at, A.host)
  utimesSync(file, 1, 1)
  await at.place({ ...NEIGHBOUR, targets: OTHER.targets })
  expect(at.present.find(A.host)).toMatchObject({ entry: A, isEdited: true })
})

test('a change of many hosts leaves the event loop to others while it is decided, made and told', async () => {
  // Every slice is over when it is looked at, so that each way through the hosts takes a turn for each of them.
  let now = 0
  const turns = { taken: 0 }
  const clock: Clock = {
    ...systemClock,
    monotonic: () => {
      now += 20
      return now
    },
    turn: async () => {
      turns.taken += 1
      await systemClock.turn()
    },
  }
  using at = await startEngine({ clock })
  const items = Array.from({ length: 20 }, (_, n) => entryOf(`h${n}.lab.test`)).map((wanted) => ({
    ...{ host: wanted.host, fence: { host: wanted.host, epoch: 1, number: 1 }, expected: 'any' as const, wanted },
  }))
  turns.taken = 0
  const verdicts = await at.engine.change({ items })
  expect(verdicts.map(({ state }) => state)).toEqual(items.map(() => 'serving'))
  expect(turns.taken).toBeGreaterThan(6 * items.length)
})

test('a list tells the hosts of one generation, though another is entered while it is read', async () => {
  using at = await startEngine()
  for (const entry of [A, B]) await at.place(entry)
  // Each look at this clock is a slice later. In the first turn another change is made.
  let now = 0
  let meanwhile: () => Promise<void> = async () => {
    meanwhile = async () => undefined
    for (const entry of [OTHER, { ...B, targets: OTHER.targets }]) await at.place(entry)
  }
  let turns = 0
  // The first turn only ends the slice with which the list begins.
  const turn = () => (++turns === 1 ? systemClock.turn() : meanwhile())
  const clock: Clock = { ...systemClock, monotonic: () => (now += 20), turn }
  const listening = { listen: ['127.0.0.1'], ports: { http: 80, https: 443 } }
  const present = new PresentGeneration(at.folder)
  const listed = await listHosts(present, { of: () => [] }, { hosts: [A.host, B.host], listening, clock })
  expect(listed.map(({ entry }) => entry?.targets)).toEqual([OTHER.targets, OTHER.targets])
})

test('what is only missing of an entry is written again, and so is what is missing of its neighbours', async () => {
  using at = await startEngine()
  for (const entry of [A, NEIGHBOUR]) await at.place(entry)
  rmSync(at.present.whereIs(A.host).file)
  expect(standing(at)).toMatchObject({ entry: A, isEdited: true })
  await at.place(A)
  for (const entry of [A, NEIGHBOUR]) expect(standing(at, entry.host)).toMatchObject({ entry, isEdited: false })
})

test('a change is made only of what it expects, and one that comes again after it was made is well', async () => {
  using at = await startEngine()
  await at.place(A, { expected: 'absent' })
  await at.place(A, { expected: 'absent' })
  await expect(at.place(OTHER, { expected: 'absent' })).rejects.toMatchObject({ kind: 'changed_meanwhile' })
  const { revision = '' } = at.present.find(A.host) ?? {}
  await at.place(OTHER, { expected: { revision } })
  for (const wanted of [A, 'absent'] as const)
    await expect(changeHost(at.engine, A.host, wanted, { expected: { revision } })).rejects.toMatchObject({
      kind: 'changed_meanwhile',
    })
  expect(at.present.find(A.host)?.entry).toEqual(OTHER)
  await at.remove(A.host)
  await at.remove(A.host, { expected: { revision } })
  expect(hostsOf(at)).toEqual([])
})

test('what stands already is neither tested nor loaded again, and what nginx does not read is not, either', async () => {
  using at = await startEngine()
  await at.place(A)
  const { tests, reloads } = at.counts
  await at.place(A)
  await at.place({ ...A, owner: 'web team', note: 'of the shop' })
  expect(at.counts).toEqual({ tests, reloads })
  expect(at.present.find(A.host)?.entry).toMatchObject({ owner: 'web team' })
})

test('a refused host of a change does not keep the others', async () => {
  using at = await startEngine()
  await at.place(A)
  edit(at, A.host)
  const itemOf = (wanted: Entry) => ({
    ...{ host: wanted.host, fence: { host: wanted.host, epoch: 0, number: 0 } },
    ...{ expected: 'any' as const, wanted },
  })
  const verdicts = await at.engine.change({ items: [itemOf(OTHER), itemOf(B)] })
  expect(verdicts).toMatchObject([
    { host: A.host, state: 'refused', fault: { kind: 'changed_elsewhere' } },
    { host: B.host, state: 'serving', generation: at.present.number, revision: at.present.find(B.host)?.revision },
  ])
})

test('an undo puts back what stood before the run, an edit of others included, and only once', async () => {
  using at = await startEngine()
  await at.place(A)
  edit(at, A.host)
  const edited = standing(at)
  await at.place(OTHER, { run: 'run_a1', mend: true })
  await changeHost(at.engine, A.host, 'before', { run: 'run_a1' })
  expect(standing(at)).toMatchObject({ entry: A, isEdited: true, revision: edited?.revision })
  const { number } = at.present
  await changeHost(at.engine, A.host, 'before', { run: 'run_a1' })
  expect(at.present.number).toBe(number)
  await at.place(B, { run: 'run_b2' })
  await changeHost(at.engine, B.host, 'before', { run: 'run_b2' })
  expect(hostsOf(at)).toEqual([A.host])
  await changeHost(at.engine, A.host, 'before', { run: 'run_c3' })
  expect(standing(at)?.revision).toBe(edited?.revision)
})

test('a link in the place of a file is not written through, and drafts not through a link in the place of their folder', async () => {
  using at = await startEngine()
  await at.place(A)
  const { file } = at.present.whereIs(A.host)
  const elsewhere = join(at.folder, 'elsewhere')
  renameSync(file, elsewhere)
  symlinkSync(elsewhere, file)
  const linked = readFileSync(elsewhere, 'utf8')
  await expect(at.place(OTHER)).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  await at.place(OTHER, { mend: true })
  expect(readFileSync(elsewhere, 'utf8')).toBe(linked)
  expect(at.present.find(A.host)).toMatchObject({ entry: OTHER, isEdited: false })
  rmSync(join(at.folder, '.staging'), { recursive: true })
  mkdirSync(join(at.folder, 'theirs'))
  symlinkSync(join(at.folder, 'theirs'), join(at.folder, '.staging'))
  await expect(at.place(B)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(readdirSync(join(at.folder, 'theirs'))).toEqual([])
})

test('a private key is not given to an nginx that would log it', async () => {
  using at = await startEngine({
    assertNoDebugLog: async () => {
      throw new EdgeFault('logs_keys', 'nginx logs at debug level.')
    },
  })
  await expect(at.place({ ...A, certificate: await at.certificate(A.host) })).rejects.toMatchObject({
    kind: 'logs_keys',
  })
  await at.place(A)
  expect(hostsOf(at)).toEqual(['a.lab.test'])
})

test('an entry gets only a certificate that the edge has and that is for its host', async () => {
  using at = await startEngine()
  const other = { ...A, certificate: await at.certificate('other.lab.test') }
  await expect(at.place(other)).rejects.toThrow('The certificate is not for a.lab.test.')
  await expect(at.place({ ...A, certificate: '0'.repeat(32) })).rejects.toThrow('does not have the certificate')
  expect(hostsOf(at)).toEqual([])
})

test('a certificate that nothing names any more is kept for an hour, and as long as a run may need it again', async () => {
  let now = systemClock.now()
  using at = await startEngine({ clock: { ...systemClock, now: () => now } })
  const id = await at.certificate(A.host)
  let port = 20
  /** An edge forgets after it has answered. */
  const isKeptLater = async (pair: string) => {
    now += 2 * 3_600_000
    port += 1
    await at.place(entryOf(B.host, port))
    return at.pairs.has(pair)
  }
  await at.place({ ...A, certificate: id })
  await at.remove(A.host, { run: 'run_a1' })
  // The second one is unused after the first certificate in any case.
  for (const name of [B.host, 'c.lab.test']) {
    const unneeded = await at.certificate(name)
    await expect.poll(() => isKeptLater(unneeded)).toBe(false)
  }
  expect(at.pairs.ids).toEqual([id])
  await at.engine.change({ items: [], settles: ['run_a1'], floor: { store: STORE, epoch: 1 } })
  await expect.poll(() => isKeptLater(id)).toBe(false)
})

test('nothing is forgotten when another generation is entered while the unused certificates are looked for', async () => {
  let ticks = 0
  let meanwhile: () => Promise<unknown> = async () => undefined
  // Every slice is over at once.
  const clock = { ...systemClock, monotonic: () => (ticks += 1_000), turn: () => meanwhile().then(systemClock.turn) }
  using at = await startEngine()
  await at.place(A)
  const forget = vi.fn<(used: ReadonlySet<string>) => void>()
  const look = () => forgetUnused({ ...at, clock, pairs: { ids: ['unused'], forget } }, undefined)
  await look()
  expect(forget).toHaveBeenCalledOnce()
  const placed: Promise<unknown>[] = []
  meanwhile = async () => {
    placed.push(at.place(B))
    await placed.at(-1)
  }
  await look()
  expect(forget).toHaveBeenCalledOnce()
  await Promise.all(placed)
})

test('a challenge is answered beside the entry, which stays the same, and what is none is refused', async () => {
  using at = await startEngine()
  await at.place(A)
  const challenge = { host: A.host, fence: { host: A.host, epoch: 0, number: 0 }, token: 'a-b_c', answer: 'a-b_c.d' }
  await at.engine.challenge(challenge)
  expect(at.present.find(A.host)).toMatchObject({ entry: A, isEdited: false, challenge: { token: 'a-b_c' } })
  await at.engine.challenge({ ...challenge, token: 'other', answer: null })
  expect(at.present.find(A.host)?.challenge).toBeDefined()
  await at.engine.challenge({ ...challenge, answer: null })
  expect(at.present.find(A.host)).toMatchObject({ entry: A, isEdited: false, challenge: undefined })
  for (const none of [{ token: 'a"; }' }, { token: 'a/b' }, { answer: 'a.b;' }, { answer: 'x' }])
    await expect(at.engine.challenge({ ...challenge, ...none })).rejects.toMatchObject({ kind: 'change_invalid' })
  const fence = { ...challenge.fence, host: B.host }
  await expect(at.engine.challenge({ ...challenge, host: B.host, fence })).rejects.toThrow('does not serve b.lab.test')
})

test('a new version, or nginx on other addresses, writes every entry anew, without those that somebody edited', async () => {
  let listen = ['127.0.0.1']
  using at = await startEngine({ listening: async () => ({ listen, ports: { http: 80, https: 443 } }) })
  const [block, edited] = [A, B].map((entry) => ({ ...entry, options: { maxBody: '2m' } }))
  if (!block || !edited) throw new Error('There are two.')
  for (const entry of [block, edited]) await at.place(entry)
  const { file } = at.present.whereIs(edited.host)
  writeFileSync(file, readFileSync(file, 'utf8').replace(':9;', ':1;'))
  const byHand = standing(at, edited.host)
  listen = ['127.0.0.2']
  await at.engine.refresh(false)
  expect(standing(at, block.host)).toMatchObject({ entry: block, isEdited: false })
  expect(standing(at, block.host)?.parts.get('blocks')).toContain('listen 127.0.0.2:80;')
  expect(standing(at, edited.host)).toEqual(byHand)
})

test('an edge that was never prepared is not changed', async () => {
  using at = await startEngine()
  rmSync(join(at.folder, 'generations'), { recursive: true })
  mkdirSync(join(at.folder, 'generations'))
  for (const name of readdirSync(at.folder).filter((file) => file.endsWith('.conf') || file === 'current'))
    rmSync(join(at.folder, name))
  await expect(at.place(A)).rejects.toThrow('Edge 23 is not prepared')
})

describe('what cannot be read is not taken for nothing', () => {
  /** What a fault of the system says of a path. */
  const refusalOf = (path: string) => ({
    kind: 'write_failed',
    message: expect.stringMatching(new RegExp(`${path}.* could not be read or written \\(EMFILE\\)`)),
  })
  const entriesIn = (at: TestEngine) => new PresentGeneration(at.folder).all()

  test.each(['entries', 'backends', 'names-http'])('a file of %s, which once cannot be read', async (kind) => {
    using at = await startEngine()
    await at.place(A)
    await at.place(NEIGHBOUR)
    const [number, before] = [at.present.number, [...entriesIn(at)]]
    {
      using _ = unreadable((path) => path.includes(`/${kind}/`), 'EMFILE')
      await expect(at.place(entryOf(NEIGHBOUR.host, 10))).rejects.toMatchObject(refusalOf(`/${kind}/`))
    }
    expect([at.present.number, [...entriesIn(at)]]).toEqual([number, before])
    await at.place(entryOf(NEIGHBOUR.host, 10))
    expect(new PresentGeneration(at.folder).find(A.host)?.entry).toEqual(A)
  })

  test('a list and a host tell the file, and know the host again when it can be read', async () => {
    using at = await startEngine()
    await at.place(A)
    const present = new PresentGeneration(at.folder)
    expect(present.find(A.host)?.entry).toEqual(A)
    await at.place(NEIGHBOUR)
    const listening = { listen: ['127.0.0.1'], ports: { http: 80, https: 443 } }
    const list = () => listHosts(present, { of: () => [] }, { hosts: undefined, listening, clock: systemClock })
    {
      using _ = unreadable((path) => path.includes('/entries/'), 'EMFILE')
      await expect(list()).rejects.toMatchObject(refusalOf('/entries/'))
      // Twice in one turn: the second does not find what the first one could not read.
      for (const _ of [1, 2]) expect(() => present.find(A.host)).toThrow('EMFILE')
    }
    expect((await list()).map(({ entry }) => entry)).toEqual([...entriesIn(at)].map(({ entry }) => entry))
    expect(present.find(A.host)?.entry).toEqual(A)
  })

  test('the folder of the records, and the keys that they need', async () => {
    using at = await startEngine()
    await at.place(A)
    const forget = vi.fn()
    const pairs = { ids: ['0'.repeat(32)], forget }
    using _ = unreadable((path) => path.endsWith('/entries'), 'EMFILE')
    const parts = { present: at.present, pairs, folder: at.folder, clock: systemClock }
    await expect(forgetUnused(parts, undefined)).rejects.toMatchObject(refusalOf('/entries'))
    expect(forget).not.toHaveBeenCalled()
  })

  test('the base file, and which generation nginx includes', async () => {
    using at = await startEngine()
    await at.place(A)
    const present = new PresentGeneration(at.folder)
    expect(present.number).toBe(at.present.number)
    await at.place(B)
    using _ = unreadable((path) => path.endsWith('.conf'), 'EMFILE')
    for (const _ of [1, 2]) expect(() => present.number).toThrow('EMFILE')
  })
})
