import { readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EdgeFault } from '../../../src/edge/contract/fault.ts'
import { generationIn } from '../../../src/estate/reading/base-file.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { removeLeft } from '../../../src/nginx/generations/stage.ts'
import { changeHost } from '../../support/edge/edge.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { nextTurn } from '../../support/stall.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { crashImages } from '../edge/crash-images.ts'

/** Somebody puts an older base file in the place of ours, as a restore of /etc does. */
const HOSTS = ['a.lab.test', 'b.lab.test', 'c.lab.test']

async function startServing(parts: Parameters<typeof startEngine>[0] = {}): Promise<TestEngine> {
  let isPrepared = false
  // The restored file is of the same version and settings.
  const at = await startEngine({ isSameBase: () => isPrepared, ...parts })
  isPrepared = true
  for (const host of HOSTS) await at.place(entryOf(host))
  return at
}

/** The generation that it names. */
const NAMED = ['is kept', 'was forgotten', 'is of another edge']

async function restoreBase({ folder }: TestEngine, number: number): Promise<void> {
  writeFileSync(join(folder, 'drawbridge.conf'), `# Made by Drawbridge: generation ${number}. Of a test.\n`)
  await nextTurn()
}

const forget = ({ folder }: TestEngine, number: number) =>
  rmSync(join(folder, 'generations', String(number)), { recursive: true })
const includedIn = (folder: string) => generationIn(readFileSync(join(folder, 'drawbridge.conf'), 'utf8'))
const linkedIn = (folder: string) => Number(readlinkSync(join(folder, 'current')).split('/').at(-1))
const hostsOf = ({ folder }: TestEngine) => [...new PresentGeneration(folder).all()].map(({ host }) => host).toSorted()
/** What a start does with the generations. */
async function restart(at: TestEngine): Promise<void> {
  await at.engine.alone(() => removeLeft(at.folder, at.present.number))
  await at.engine.refresh(true)
}

test.each(NAMED)('a start loses no host where the generation that it names %s, and writes ours again', async (what) => {
  using at = await startServing()
  const [first = 0, ...later] = at.generations()
  if (what === 'was forgotten') forget(at, first)
  await restoreBase(at, what === 'is of another edge' ? 99 : first)
  expect([hostsOf(at), at.present.number]).toEqual([HOSTS, later.at(-1)])
  const { reloads } = at.counts
  await restart(at)
  expect(at.generations()).toEqual(expect.arrayContaining(later))
  expect([hostsOf(at), includedIn(at.folder)]).toEqual([HOSTS, at.present.number])
  expect(at.counts.reloads).toBe(reloads + 1)
  const { number } = at.present
  await restart(at)
  expect(at.present.number).toBe(number)
})

test.each(NAMED)(
  'a change loses no host where the generation that it names %s, and is noted for its undo',
  async (what) => {
    using at = await startServing()
    const [first = 0] = at.generations()
    if (what === 'was forgotten') forget(at, first)
    await restoreBase(at, what === 'is of another edge' ? 99 : first)
    const run = 'run_a1'
    await at.place(entryOf('d.lab.test'), { run })
    expect([hostsOf(at), includedIn(at.folder)]).toEqual([[...HOSTS, 'd.lab.test'], at.present.number])
    await changeHost(at.engine, 'd.lab.test', 'before', { run })
    expect(hostsOf(at)).toEqual(HOSTS)
  },
)

test('a change that finds its host as it shall be writes ours again and loads it, and an undo of nothing does not', async () => {
  using at = await startServing()
  const [first = 0] = at.generations()
  await restoreBase(at, first)
  const { tests, reloads } = at.counts
  await changeHost(at.engine, 'a.lab.test', 'before', { run: 'run_a1' })
  expect([includedIn(at.folder), at.counts]).toEqual([first, { tests, reloads }])
  await at.place(entryOf('a.lab.test'))
  expect([includedIn(at.folder), at.counts]).toEqual([at.present.number, { tests: tests + 1, reloads: reloads + 1 }])
  expect(at.present.isIncluded).toBe(true)
  expect(hostsOf(at)).toEqual(HOSTS)
})

test('a change that nginx does not read loads ours as well', async () => {
  using at = await startServing()
  const [first = 0] = at.generations()
  await restoreBase(at, first)
  const { reloads } = at.counts
  await at.place({ ...entryOf('a.lab.test'), note: 'of the shop' })
  expect(at.counts.reloads).toBe(reloads + 1)
})

test('what was entered is no left-over, although the link leads to a generation that somebody has removed', async () => {
  using at = await startServing()
  const [first = 0, second = 0, third = 0, last = 0] = at.generations()
  forget(at, last)
  await restoreBase(at, first)
  await removeLeft(at.folder, at.present.number)
  expect(at.generations()).toEqual([first, second, third])
})

const ENTERING: readonly (readonly [string, (at: TestEngine) => Promise<unknown>])[] = [
  ['a change', (at) => at.place(entryOf('d.lab.test'))],
  ['a start', (at) => at.engine.refresh(true)],
]
test.each(ENTERING)('a kill on the way back of %s that nginx does not load leaves no link to it', async (_, work) => {
  let isLoading = true
  using at = await startServing({
    isSameBase: () => false,
    reload: async () => {
      if (!isLoading) throw new EdgeFault('not_reloaded', 'Nothing proves the reload.')
    },
  })
  using images = tempFolder()
  isLoading = false
  const working = () => expect(work(at)).rejects.toMatchObject({ kind: 'not_reloaded' })
  const taken = await crashImages(at.folder, images.path, working, (moment) =>
    /current|drawbridge\.conf|the end/.test(moment),
  )
  expect(taken.length).toBeGreaterThan(4)
  for (const { moment, restore } of taken) {
    restore()
    expect(linkedIn(at.folder), moment).toBeLessThanOrEqual(includedIn(at.folder) ?? 0)
  }
})
