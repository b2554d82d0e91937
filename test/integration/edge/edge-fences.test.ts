import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EdgeFault, isFenced } from '../../../src/edge/contract/fault.ts'
import { Fences } from '../../../src/edge/fences/fences.ts'
import { HIGHEST_NUMBER, type HostFence } from '../../../src/model/run.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { changeHost, type More, whenAt } from '../../support/edge/edge.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { freshFolder } from '../../support/fresh.ts'

const at = freshFolder()
beforeEach(() => {
  for (const name of ['hosts', '.staging']) mkdirSync(at(name))
})

const HOST = 'shop.lab.test'
const FENCED = { kind: 'fenced', message: `A newer run has changed ${HOST}. This run stops and undoes nothing.` }
const fencesFile = () => at('.fences')
const fence = (number: number, epoch = 1, host = HOST): HostFence => ({ host, epoch, number })
const claimed = (fences: Fences, ...wanted: HostFence[]) => fences.claim(wanted).record()
const linesWritten = () =>
  readFileSync(fencesFile(), 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(';'))

describe('the fences of an edge', () => {
  test('refuse a lower fence, and take an equal one and a higher one', async () => {
    const fences = new Fences(at(), systemClock)
    await claimed(fences, fence(5))
    await expect(claimed(fences, fence(4))).rejects.toMatchObject(FENCED)
    await claimed(fences, fence(5))
    await claimed(fences, fence(6))
    expect(() => fences.claim([fence(5)]).assertNewest()).toThrow(expect.objectContaining(FENCED))
    expect(linesWritten()).toEqual([`1 5 ${HOST};`, `1 6 ${HOST};`])
  })

  test('put a later epoch above every number of an earlier one', async () => {
    const fences = new Fences(at(), systemClock)
    await claimed(fences, fence(900, 1_700_000_000_000))
    await claimed(fences, fence(1, 1_700_000_000_001))
    await expect(claimed(fences, fence(901, 1_700_000_000_000))).rejects.toMatchObject(FENCED)
  })

  // Rows 32 and 38 of the threats: an epoch only grows, so one of the far future would refuse every run after it.
  test('refuse an epoch of the far future, and say by how much the clocks differ', async () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    const fences = new Fences(at(), { ...systemClock, now: () => now })
    await claimed(fences, fence(1, now + 86_400_000))
    for (const epoch of [now + 86_400_001, Number.MAX_SAFE_INTEGER])
      await expect(async () => claimed(fences, fence(1, epoch))).rejects.toMatchObject({ kind: 'change_invalid' })
    await expect(async () => claimed(fences, fence(1, now + 2 * 86_400_000))).rejects.toThrow(
      'is 2 days ahead of the clock of this edge (2026-01-01T00:00:00.000Z)',
    )
    await claimed(fences, fence(2, now + 86_400_000))
  })

  test('of the far future that an earlier version wrote refuse no run, and are told', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const later = now + 30 * 86_400_000
    await claimed(new Fences(at(), { ...systemClock, now: () => later }), fence(7, later))
    appendFileSync(fencesFile(), `\n${Number.MAX_SAFE_INTEGER} 1 ${HOST};\n`)
    const told: string[] = []
    const fences = new Fences(at(), {
      ...systemClock,
      now: () => now,
      spareLines: 0,
      onIgnored: ({ host }, ahead) => told.push(`${host} ${ahead}`),
    })
    expect(fences.highestEpoch()).toBe(0)
    for (const number of [1, 2, 3, 4, 5, 6, 7]) await claimed(fences, fence(number, now))
    await expect(claimed(fences, fence(1, now))).rejects.toMatchObject(FENCED)
    expect(told).toEqual([`${HOST} 30 days`, expect.stringMatching(`^${HOST} \\d+ days$`)])
    expect(fences.of([HOST])).toEqual([fence(7, now)])
    // A clock that was wrong for a while has lost nothing, also not by writing the file anew.
    now = later
    for (const reader of [fences, new Fences(at(), { ...systemClock, now: () => now })])
      await expect(claimed(reader, fence(6, later))).rejects.toMatchObject(FENCED)
  })

  // Also a number only grows. A service that reads a higher one in a list refuses the list.
  test('refuse a number that no host can have, and read one of an earlier version as the highest', async () => {
    const fences = new Fences(at(), systemClock)
    await claimed(fences, fence(HIGHEST_NUMBER))
    await expect(async () => claimed(fences, fence(HIGHEST_NUMBER + 1))).rejects.toThrow('is not a fence of a host')
    appendFileSync(fencesFile(), `\n2 ${Number.MAX_SAFE_INTEGER} ${HOST};\n`)
    expect(fences.of([HOST])).toEqual([fence(HIGHEST_NUMBER, 2)])
    await claimed(fences, fence(1, 3))
  })

  test('are of one host each, and one stale host refuses the whole change', async () => {
    const fences = new Fences(at(), systemClock)
    await claimed(fences, fence(9), fence(1, 1, 'other.lab.test'))
    await expect(claimed(fences, fence(2, 1, 'other.lab.test'), fence(8))).rejects.toMatchObject(FENCED)
    expect(linesWritten()).toHaveLength(2)
  })

  test('of thousands of hosts are all refused before one is written', async () => {
    const fences = new Fences(at(), systemClock)
    const hosts = Array.from({ length: 2_500 }, (_, i) => `h${i}.lab.test`)
    await claimed(fences, fence(2, 1, 'h2499.lab.test'))
    const stale = hosts.map((host) => fence(1, 1, host))
    await expect(claimed(fences, ...stale)).rejects.toMatchObject({ kind: 'fenced' })
    expect(linesWritten()).toEqual(['1 2 h2499.lab.test;'])
  })

  test('outlive their owner, and what was appended since is read', async () => {
    const [one, other] = [new Fences(at(), systemClock), new Fences(at(), systemClock)]
    await claimed(one, fence(1))
    await claimed(other, fence(2))
    await expect(claimed(one, fence(1))).rejects.toMatchObject(FENCED)
    await expect(claimed(new Fences(at(), systemClock), fence(1))).rejects.toMatchObject(FENCED)
  })

  test('refuse a claim that is overtaken while it waits for the disk', async () => {
    const [lower, higher] = await Promise.allSettled(
      [1, 2].map((number) => claimed(new Fences(at(), systemClock), fence(number))),
    )
    expect(lower).toMatchObject({ status: 'rejected', reason: FENCED })
    expect(higher).toMatchObject({ status: 'fulfilled' })
  })

  test('are read from the beginning when the file was written anew, also in the same inode', async () => {
    const fences = new Fences(at(), systemClock)
    await claimed(fences, fence(1))
    const { ino, size } = statSync(fencesFile())
    writeFileSync(fencesFile(), `# Fences of another file\n1 9 ${HOST};\n${'\n'.repeat(size)}`)
    expect(statSync(fencesFile()).ino).toBe(ino)
    await expect(claimed(fences, fence(8))).rejects.toMatchObject(FENCED)
  })

  test('are written anew, without those that are overtaken, when the file has become long', async () => {
    const fences = new Fences(at(), { ...systemClock, spareLines: 0 })
    for (const number of [1, 2]) await claimed(fences, fence(number))
    expect(linesWritten()).toHaveLength(2)
    await claimed(fences, fence(3))
    expect(linesWritten()).toEqual([`1 3 ${HOST};`])
  })

  test('lose no claim that is made while the file is written anew', async () => {
    const fences = new Fences(at(), { ...systemClock, spareLines: 0 })
    const hosts = Array.from({ length: 20 }, (_, i) => `h${i}.lab.test`)
    const claims = hosts.map(async (host, i) => {
      for (let number = 1; number <= 20 + i; number += 1) await claimed(fences, fence(number, 1, host))
    })
    await Promise.all(claims)
    const newest = hosts.map((host, i) => fence(20 + i, 1, host))
    for (const reader of [fences, new Fences(at(), systemClock)]) expect(reader.of(hosts)).toEqual(newest)
    // 590 claims were written.
    expect(linesWritten().length).toBeLessThanOrEqual(2 * hosts.length)
    expect(readdirSync(at('.staging'))).toEqual([])
  })

  test('keep a claim that comes between the writing of the new file and its entry', async () => {
    const fences = new Fences(at(), { ...systemClock, spareLines: 0 })
    const isWritten = () => readdirSync(at('.staging')).length > 0
    let last = Promise.resolve()
    for (let number = 1; !isWritten(); number += 1) {
      let isOver = false
      last = claimed(fences, fence(number)).finally(() => {
        isOver = true
      })
      // What a claim does after its fsync, and this, are in one round of the event loop: the fsync of the new file ends in a later one.
      while (!isOver && !isWritten()) await nextRound()
    }
    await claimed(new Fences(at(), systemClock), fence(1, 1, 'late.lab.test'))
    await last
    expect(new Fences(at(), systemClock).of(['late.lab.test'])).toHaveLength(1)
  })

  test('survive a line that a crash cut off at any place', async () => {
    await claimed(new Fences(at(), systemClock), fence(41))
    const whole = readFileSync(fencesFile(), 'latin1')
    const torn = `\n1 777 ${HOST};`
    for (let length = 1; length < torn.length; length += 1) {
      writeFileSync(fencesFile(), whole + torn.slice(0, length))
      const fences = new Fences(at(), systemClock)
      await claimed(fences, fence(42))
      await expect(claimed(new Fences(at(), systemClock), fence(41))).rejects.toMatchObject(FENCED)
      await expect(claimed(fences, fence(41))).rejects.toMatchObject(FENCED)
    }
  })

  test('take text that is no fence for nothing', async () => {
    const fences = new Fences(at(), systemClock)
    await claimed(fences, fence(1))
    appendFileSync(fencesFile(), `\n1 x ${HOST};\n-1 9 ${HOST};\n1 9;\n\0\n1 9 ${HOST} more;\n`)
    await claimed(fences, fence(2))
  })

  test('are not written through a link, and are for their owner alone', async () => {
    writeFileSync(at('victim'), 'untouched')
    symlinkSync(at('victim'), fencesFile())
    await expect(claimed(new Fences(at(), systemClock), fence(1))).rejects.toMatchObject({
      kind: 'changed_meanwhile',
    })
    expect(readFileSync(at('victim'), 'utf8')).toBe('untouched')
    rmSync(fencesFile())
    await claimed(new Fences(at(), systemClock), fence(1))
    expect(statSync(fencesFile()).mode & 0o777).toBe(0o600)
  })

  test('of 10,000 hosts cost one line per change, and the file is written anew when half of it is out of date', async () => {
    const hosts = Array.from({ length: 10_000 }, (_, i) => `h${i}.lab.test`)
    const all = (number: number) => hosts.map((host) => fence(number, 1, host))
    const [fences, other] = [new Fences(at(), systemClock), new Fences(at(), systemClock)]
    await claimed(fences, ...all(1))
    const before = statSync(fencesFile())
    await claimed(fences, fence(2, 1, 'h7.lab.test'))
    expect(statSync(fencesFile())).toMatchObject({ ino: before.ino, size: before.size + '\n1 2 h7.lab.test;\n'.length })
    await claimed(other, ...all(3))
    await claimed(fences, ...all(4))
    expect(linesWritten()).toHaveLength(10_000)
    expect(readdirSync(at('.staging'))).toEqual([])
    for (const reader of [fences, other, new Fences(at(), systemClock)])
      await expect(claimed(reader, fence(3, 1, 'h9999.lab.test'))).rejects.toMatchObject({ kind: 'fenced' })
  })
})

describe('a change with fences', () => {
  let at: TestEngine
  beforeEach(async () => {
    at = await startEngine()
  })
  afterEach(() => at[Symbol.dispose]())
  const entry = entryOf(HOST)
  const under = (number: number, more: More = {}) => at.place(entry, { fence: fence(number), ...more })
  const hosts = () => [...at.present.all()].map(({ host }) => host).toSorted()
  const overtake = () => appendFileSync(join(at.folder, '.fences'), `\n1 2 ${HOST};\n`)

  test('writes nothing when a newer run has the host, or gets it while its generation is tested', async () => {
    await claimed(new Fences(at.folder, systemClock), fence(2))
    await expect(under(1)).rejects.toMatchObject(FENCED)
    rmSync(join(at.folder, '.fences'))
    await expect(under(1, whenAt('before-swap', overtake))).rejects.toMatchObject(FENCED)
    expect(hosts()).toEqual([])
    await expect.poll(at.generations).toEqual([1])
    expect(at.counts.reloads).toBe(0)
  })

  test('is left out alone: the others of its generation go on', async () => {
    const others = ['a', 'b', 'c'].map((name) => at.place(entryOf(`${name}.lab.test`)))
    await expect(under(1, whenAt('before-swap', overtake))).rejects.toMatchObject(FENCED)
    await Promise.all(others)
    expect(hosts()).toEqual(['a.lab.test', 'b.lab.test', 'c.lab.test'])
  })

  test('is left out alone, too, when it is overtaken while its claim is written', async () => {
    const others = ['a', 'b', 'c'].map((name) => at.place(entryOf(`${name}.lab.test`)))
    const whileWritten = whenAt('staged', () => queueMicrotask(overtake))
    await expect(under(1, whileWritten)).rejects.toMatchObject(FENCED)
    await Promise.all(others)
    expect(hosts()).toEqual(['a.lab.test', 'b.lab.test', 'c.lab.test'])
    expect(at.generations()).toContain(at.present.number)
    expect(Math.max(...at.generations())).toBe(at.present.number)
    expect(readdirSync(join(at.folder, '.staging'))).toEqual([])
  })

  test('leaves no staged generation when what lies outside it cannot be written', async () => {
    const fault = new EdgeFault('write_failed', 'The disk is full.')
    const sites = { record: () => undefined, putBack: () => NOTHING, prepare: () => Promise.reject(fault) }
    using full = await startEngine({ sites })
    await expect(full.place(entry)).rejects.toBe(fault)
    expect(full.generations()).toEqual([1])
  })

  test('records its fence before the generation is entered, also when nothing changes', async () => {
    const recorded: unknown[] = []
    const beforeSwap = () =>
      recorded.push(readFileSync(join(at.folder, '.fences'), 'utf8').includes(`1 7 ${HOST};`), at.present.number)
    await under(7, whenAt('before-swap', beforeSwap))
    expect(recorded).toEqual([true, 1])
    await under(8)
    expect(readFileSync(join(at.folder, '.fences'), 'utf8')).toContain(`1 8 ${HOST};`)
  })

  test('that only raises the fence writes nothing else, and is refused as any other', async () => {
    await under(1)
    const [number, reloads] = [at.present.number, at.counts.reloads]
    const raise = (to: number) => changeHost(at.engine, HOST, 'same', { fence: fence(to) })
    await raise(5)
    expect([at.present.number, at.counts.reloads]).toEqual([number, reloads])
    for (const late of [() => under(4), () => raise(4)]) await expect(late()).rejects.toMatchObject(FENCED)
  })

  test('refuses all of its hosts where one belongs to a newer run', async () => {
    await claimed(new Fences(at.folder, systemClock), fence(2))
    const other = 'other.lab.test'
    const items = [
      { host: other, fence: fence(1, 1, other), expected: 'any', wanted: entryOf(other) } as const,
      { host: HOST, fence: fence(1), expected: 'any', wanted: entry } as const,
    ]
    await expect(at.engine.change({ items })).rejects.toMatchObject(FENCED)
    expect(hosts()).toEqual([])
  })

  test('is recognized as fenced through the faults of a step, and nothing else is', () => {
    const fault = new EdgeFault('fenced', 'x')
    expect([fault, new Error('step', { cause: new Error('more', { cause: fault }) })].map(isFenced)).toEqual([
      true,
      true,
    ])
    expect([new EdgeFault('unavailable', 'x'), new Error('x'), undefined].map(isFenced)).toEqual([false, false, false])
  })
})

const NOTHING = { path: 'adopted/x', content: null, secret: false }
