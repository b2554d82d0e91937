import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Change, ChangeItem, HostVerdict } from '../../src/edge/contract/change.ts'
import type { Edge } from '../../src/edge/contract/edge.ts'
import type { ListedHost } from '../../src/edge/contract/list.ts'
import { Fences } from '../../src/edge/fences/fences.ts'
import type { Entry } from '../../src/edge/record/entry.ts'
import { listHosts } from '../../src/nginx/generations/list.ts'
import { PresentGeneration } from '../../src/nginx/generations/present.ts'
import { systemClock } from '../../src/primitives/clock.ts'
import { Slices } from '../../src/primitives/slices.ts'
import { STORE } from '../support/edge/edge.ts'
import { entryOf, startEngine } from '../support/edge/engine.ts'
import { FakeEdge } from '../support/edge/fake-edge.ts'

/** What every edge promises to runs. The stand-in for an edge keeps it, so that tests on it prove something. */
interface Bench extends Disposable {
  readonly edge: Pick<Edge, 'list' | 'change'>
  /** Somebody gives a host that is served on port 9 another backend. */
  edit(host: string): void
}

const BENCHES: Record<string, () => Promise<Bench>> = {
  'the stand-in': async () => {
    const fake = new FakeEdge('23')
    return { edge: fake.edge, edit: (host) => fake.edit(host), [Symbol.dispose]: () => undefined }
  },
  'the engine on a real folder': async () => {
    const { engine, present, folder, [Symbol.dispose]: dispose } = await startEngine()
    const listening = { listen: ['127.0.0.1'], ports: { http: 80, https: 443 } }
    const list: Edge['list'] = async (hosts) => ({
      ...{
        generation: String(present.number),
        number: present.number ?? null,
        stray: await present.stray(new Slices()),
      },
      hosts: await listHosts(present, new Fences(folder, systemClock), { hosts, listening, clock: systemClock }),
    })
    return {
      edge: { list, change: (change) => engine.change(change) },
      edit: (host) => {
        // Read anew: an edge reads a file once in a turn of the event loop.
        const { file } = new PresentGeneration(folder).whereIs(host)
        const text = readFileSync(file, 'utf8')
        writeFileSync(file, text.replace(`${host} http://127.0.0.1:9;`, `${host} http://192.0.2.1:1;`))
      },
      [Symbol.dispose]: dispose,
    }
  },
}

const [HOST, OTHER] = ['shop.lab.test', 'wiki.lab.test']
const [FIRST, SECOND] = [entryOf(HOST), entryOf(HOST, 10)]
const RUN = { run: 'run_a1', store: STORE }
const ELSEWHERE = { state: 'refused', fault: { kind: 'changed_elsewhere' } }
const MEANWHILE = { state: 'refused', fault: { kind: 'changed_meanwhile' } }

describe.each(Object.entries(BENCHES))('%s', (_name, start) => {
  let bench: Bench
  beforeEach(async () => {
    bench = await start()
  })
  afterEach(() => bench[Symbol.dispose]())

  const listed = async (host = HOST): Promise<ListedHost> => {
    const [one] = (await bench.edge.list([host])).hosts
    if (!one) throw new Error(`Nothing is told of ${host}.`)
    return one
  }
  const revision = async (host = HOST): Promise<string> => (await listed(host)).revision ?? ''
  const itemOf = (wanted: ChangeItem['wanted'], more: Partial<ChangeItem> = {}): ChangeItem => {
    const host = typeof wanted === 'object' && 'host' in wanted ? wanted.host : HOST
    return { host, fence: { host, epoch: 1, number: 1 }, expected: 'any', wanted, ...more }
  }
  const change = async (wanted: ChangeItem['wanted'], more: Partial<ChangeItem> = {}, run?: Change['run']) => {
    const [verdict] = await bench.edge.change({ items: [itemOf(wanted, more)], run })
    return verdict as HostVerdict
  }
  const place = async (entry: Entry, run?: Change['run']) => {
    expect(await change(entry, {}, run)).toMatchObject({ host: entry.host, state: 'serving' })
  }
  const fenceOf = (number: number, epoch = 1) => ({ fence: { host: HOST, epoch, number } })
  const edited = async (): Promise<ListedHost> => {
    bench.edit(HOST)
    const now = await listed()
    expect(now.drift).toMatchObject([{ field: 'backend', found: 'http://192.0.2.1:1' }])
    return now
  }

  test('lists a host that is absent, with nothing, and one that is present, with its record', async () => {
    expect(await listed()).toMatchObject({ host: HOST, entry: null, revision: null, fence: null, drift: [] })
    expect((await bench.edge.list()).hosts).toEqual([])
    await place(FIRST)
    expect(await listed()).toMatchObject({
      ...{ host: HOST, entry: FIRST, drift: [], fence: { host: HOST, epoch: 1, number: 1 } },
      ...{ revision: expect.any(String), file: expect.any(String) },
    })
    const { hosts } = await bench.edge.list([OTHER, HOST])
    expect(hosts.map(({ host, entry }) => [host, entry])).toEqual([
      [OTHER, null],
      [HOST, FIRST],
    ])
    expect((await bench.edge.list()).hosts.map(({ host }) => host)).toEqual([HOST])
  })

  test('remembers the fence of a host that is gone', async () => {
    await place(FIRST)
    await change('absent', fenceOf(2))
    expect(await listed()).toMatchObject({ revision: null, fence: { epoch: 1, number: 2 } })
  })

  test('tells another generation after every change, and the revision that then stands', async () => {
    const before = await bench.edge.list()
    const verdict = await change(FIRST)
    const after = await bench.edge.list()
    expect(after.generation).not.toBe(before.generation)
    expect(verdict).toMatchObject({ generation: after.number, revision: await revision() })
  })

  test('makes a change that expects nothing only where nothing stands', async () => {
    expect(await change(FIRST, { expected: 'absent' })).toMatchObject({ state: 'serving' })
    expect(await change(SECOND, { expected: 'absent' })).toMatchObject(MEANWHILE)
    expect(await listed()).toMatchObject({ entry: FIRST })
  })

  test('makes a change that expects a revision only where that stands', async () => {
    expect(await change(FIRST, { expected: { revision: '0'.repeat(32) } })).toMatchObject(MEANWHILE)
    await place(FIRST)
    const first = await revision()
    expect(await change(SECOND, { expected: { revision: first } })).toMatchObject({ state: 'serving' })
    for (const wanted of [FIRST, 'absent'] as const)
      expect(await change(wanted, { expected: { revision: first } })).toMatchObject(MEANWHILE)
    expect(await listed()).toMatchObject({ entry: SECOND })
  })

  test('makes a change that expects anything wherever nobody has edited the host', async () => {
    await place(FIRST)
    await place(SECOND)
    expect(await change('absent')).toMatchObject({ state: 'serving' })
    expect(await listed()).toMatchObject({ entry: null, revision: null })
  })

  test('takes a change that was made already as made, whatever it expects', async () => {
    for (let sent = 0; sent < 2; sent += 1)
      expect(await change(FIRST, { expected: 'absent' })).toMatchObject({ state: 'serving' })
    const expected = { revision: await revision() }
    for (let sent = 0; sent < 2; sent += 1)
      expect(await change('absent', { expected })).toMatchObject({ state: 'serving' })
  })

  test('leaves a host that somebody edited, unless the change mends', async () => {
    await place(FIRST)
    const unedited = await revision()
    const now = await edited()
    expect(now).toMatchObject({ entry: FIRST, revision: expect.not.stringMatching(unedited) })
    for (const expected of ['any', { revision: now.revision ?? '' }, { revision: unedited }] as const)
      for (const wanted of [FIRST, SECOND, 'absent'] as const)
        expect(await change(wanted, { expected })).toMatchObject(ELSEWHERE)
    expect(await listed()).toEqual(now)
    expect(await change(SECOND, { mend: true })).toMatchObject({ state: 'serving' })
    expect(await listed()).toMatchObject({ entry: SECOND, drift: [] })
  })

  test('takes an edited host away where the change mends', async () => {
    await place(FIRST)
    const { revision: expected } = await edited()
    expect(await change('absent', { mend: true, expected: { revision: expected ?? '' } })).toMatchObject({
      state: 'serving',
    })
    expect(await listed()).toMatchObject({ revision: null })
  })

  test('raises only the fence where everything shall stay the same, also of an edited and of an absent host', async () => {
    expect(await change('same', fenceOf(3))).toMatchObject({ state: 'serving' })
    expect(await listed()).toMatchObject({ revision: null, fence: { number: 3 } })
    await change(FIRST, fenceOf(3))
    const now = await edited()
    const { generation } = await bench.edge.list()
    expect(await change('same', fenceOf(7))).toMatchObject({ state: 'serving' })
    expect(await listed()).toEqual({ ...now, fence: { host: HOST, epoch: 1, number: 7 } })
    expect((await bench.edge.list()).generation).toBe(generation)
    await expect(change(SECOND, { ...fenceOf(6), mend: true })).rejects.toMatchObject({ kind: 'fenced' })
  })

  test('refuses a lower fence, whatever it wants, and takes an equal one', async () => {
    await change(FIRST, fenceOf(5))
    for (const lower of [fenceOf(4), fenceOf(9, 0)])
      for (const wanted of [SECOND, 'absent', 'same', 'before'] as const)
        await expect(change(wanted, lower, RUN)).rejects.toMatchObject({ kind: 'fenced' })
    expect(await listed()).toMatchObject({ entry: FIRST, fence: { epoch: 1, number: 5 } })
    expect(await change(SECOND, fenceOf(5))).toMatchObject({ state: 'serving' })
    expect(await change(FIRST, fenceOf(1, 2))).toMatchObject({ state: 'serving' })
  })

  test('puts back what stood before the run, however many changes the run has made', async () => {
    await place(FIRST)
    const before = await revision()
    await place(SECOND, RUN)
    await place(entryOf(HOST, 11), RUN)
    expect(await change('before', {}, RUN)).toMatchObject({ state: 'serving', revision: before })
    expect(await listed()).toMatchObject({ entry: FIRST, drift: [], revision: before })
    expect(await change('before', {}, RUN)).toMatchObject({ state: 'serving' })
    expect(await revision()).toBe(before)
  })

  test('puts back that nothing stood, and an edit that the run has mended', async () => {
    await place(FIRST, RUN)
    await change('before', {}, RUN)
    expect(await listed()).toMatchObject({ revision: null })
    await place(FIRST)
    const now = await edited()
    const later = { ...RUN, run: 'run_b2' }
    await change(SECOND, { mend: true }, later)
    await change('before', {}, later)
    expect(await listed()).toMatchObject({
      entry: FIRST,
      drift: now.drift.map(({ since: _written, ...same }) => same),
      revision: now.revision,
    })
  })

  test('puts nothing back over what somebody has edited since, and nothing for a run that changed nothing', async () => {
    await place(FIRST, RUN)
    const now = await edited()
    expect(await change('before', {}, RUN)).toMatchObject(ELSEWHERE)
    expect(await change('before', {}, { ...RUN, run: 'run_c3' })).toMatchObject({ state: 'serving' })
    expect(await listed()).toEqual(now)
  })

  test('puts a host back as it was in a generation, and refuses one that it does not know', async () => {
    await place(FIRST)
    const { number } = await bench.edge.list()
    await place(SECOND)
    expect(await change({ asIn: number ?? 0 })).toMatchObject({ state: 'serving' })
    expect(await listed()).toMatchObject({ entry: FIRST })
    expect(await change({ asIn: 999 })).toMatchObject({ state: 'refused', fault: { kind: 'change_invalid' } })
  })

  test('makes many changes at once, in order, without the host that it refuses', async () => {
    await place(FIRST)
    await edited()
    const more = ['a', 'b', 'c'].map((name) => entryOf(`${name}.lab.test`))
    const items = [...more.slice(0, 2), SECOND, ...more.slice(2)].map((wanted) =>
      itemOf(wanted, { fence: { host: wanted.host, epoch: 2, number: 1 } }),
    )
    const verdicts = await bench.edge.change({ items, run: RUN })
    expect(verdicts.map(({ host, state }) => [host, state])).toEqual([
      ['a.lab.test', 'serving'],
      ['b.lab.test', 'serving'],
      [HOST, 'refused'],
      ['c.lab.test', 'serving'],
    ])
    const { hosts, number } = await bench.edge.list([HOST, ...more.map(({ host }) => host)])
    expect(hosts.map(({ entry }) => entry)).toEqual([FIRST, ...more])
    for (const verdict of verdicts) if (verdict.state === 'serving') expect(verdict.generation).toBe(number)
    // A host that was refused is not the run's.
    expect(hosts[0]?.fence).toMatchObject({ epoch: 1 })
  })

  test('makes nothing of a change of many hosts where one belongs to a newer run', async () => {
    await change(FIRST, fenceOf(5))
    const items = [itemOf(entryOf(OTHER)), itemOf(SECOND, fenceOf(4))]
    await expect(bench.edge.change({ items })).rejects.toMatchObject({ kind: 'fenced' })
    expect((await bench.edge.list()).hosts.map(({ host, entry }) => [host, entry])).toEqual([[HOST, FIRST]])
  })
})
