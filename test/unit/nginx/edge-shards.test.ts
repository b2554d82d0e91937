import { describe, expect, test } from 'vitest'
import type { Challenge } from '../../../src/edge/record/challenge.ts'
import type { Entry } from '../../../src/edge/record/entry.ts'
import { canonicalEntry } from '../../../src/edge/record/entry.ts'
import { fitsHashTable } from '../../../src/estate/reading/text/written-names.ts'
import { renderParts } from '../../../src/nginx/config/render-entry.ts'
import {
  ENTRIES,
  type HostKind,
  pemFolder,
  SHARD_FOLDERS,
  Shard,
  shardFile,
  shardOf,
} from '../../../src/nginx/config/shards.ts'
import { lineOf, standingOf } from '../../../src/nginx/generations/standing.ts'
import { entryOf, PLAN_ID } from '../../support/edge/edge.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const LISTENING = { listen: ['192.168.45.23'], ports: { http: 80, https: 443 } }

/** The shards of a generation, in memory. */
class Generation {
  readonly texts = new Map<string, string>()

  put(folder: string, key: string, text: string | undefined): void {
    const file = shardFile(folder, key)
    const shard = new Shard(file, this.texts.get(file))
    shard.put(key, text)
    if (shard.text === null) this.texts.delete(file)
    else this.texts.set(file, shard.text)
  }

  part(folder: string, key: string): string | undefined {
    const file = shardFile(folder, key)
    return new Shard(file, this.texts.get(file)).part(key)
  }

  standing(host: string) {
    return standingOf(host, (kind) => this.part(kind, host))
  }
}

interface Placed {
  readonly host: string
  readonly entry: Entry
  readonly challenge: Challenge | undefined
  /** By folder and key. */
  readonly parts: readonly (readonly [string, string, string])[]
}

/** An entry of every kind, by its number: as lines and as blocks, with TLS and without, with a challenge and without. */
function placed(host: string, number: number): Placed {
  const site = { host, planId: PLAN_ID, target: `http://127.0.0.1:${number}`, proof: 'ab'.repeat(32) }
  const id = number.toString(16).padStart(32, '0')
  const asked = entryOf(number % 4 ? site : { ...site, options: { maxBody: '2m' } })
  const entry = canonicalEntry({ ...asked, certificate: number % 2 ? id : null })
  const challenge = number % 5 ? undefined : { token: `t${number}`, answer: 'a.b' }
  const rendered = renderParts(entry, LISTENING, challenge)
  const texts = [...rendered, [ENTRIES, lineOf(entry, rendered, challenge)]] as const
  const pems = [
    [pemFolder('certificate', 1), `-----BEGIN\n${number}\n`],
    [pemFolder('certificate', 3), 'more\n'],
    [pemFolder('key', 1), `${number}\n`],
  ] as const
  return {
    ...{ host, entry, challenge },
    parts: [
      ...texts.map(([kind, text]) => [kind, host, text] as const),
      ...pems.map(([folder, text]) => [folder, id, `${id} "${text}";\n`] as const),
    ],
  }
}

const hosts = fc.uniqueArray(
  fc
    .stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)
    .filter((label) => !label.startsWith('xn--'))
    // Names of 46 and 47 characters are the longest that fits nginx's hash tables, and the shortest that does not.
    .map(
      (label) =>
        `${label}${['', 'x'.repeat(38 - label.length), '.long'.repeat(9), 'x'.repeat(37 - label.length)][label.length % 4]}.lab.test`,
    ),
  { minLength: 1, maxLength: 40 },
)
const port = fc.integer({ min: 1, max: 65_535 })
const many = fc
  .tuple(hosts, fc.uniqueArray(port, { minLength: 40, maxLength: 40 }))
  .map(([names, ports]) => names.map((host, at) => placed(host, ports[at] ?? 1)))

/** Everything of these hosts, put in this order. */
function generationOf(all: readonly Placed[]): Generation {
  const generation = new Generation()
  for (const { parts } of all) for (const part of parts) generation.put(...part)
  return generation
}

const FOREIGN_LINES = ['# by hand', 'not nginx;', 'default http://192.0.2.1;', '~^.*$ 1;', 'with\r', '  ', 'a\u2028b']

describe('what is gathered in shards', () => {
  test('comes back as it was put, of many hosts and of every kind, and is the record that it was made of', () =>
    forAll(many, (all) => {
      const generation = generationOf(all)
      for (const { host, entry, challenge, parts } of all) {
        for (const [folder, key, text] of parts) expect(generation.part(folder, key)).toBe(text)
        expect(generation.standing(host)).toMatchObject({ host, entry, isEdited: false })
        expect(generation.standing(host)?.challenge).toEqual(challenge)
      }
    }))

  test('is the same text in whatever order it was put', () =>
    forAll(many, (all) => {
      expect(new Map(generationOf(all.toReversed()).texts)).toEqual(generationOf(all).texts)
    }))

  test('is gone without a trace when all of it is removed', () =>
    forAll(many, (all) => {
      const generation = generationOf(all)
      for (const { parts } of all) for (const [folder, key] of parts) generation.put(folder, key, undefined)
      expect(generation.texts.size).toBe(0)
    }))

  test('leaves the text of other hosts byte for byte, whatever changes and whatever somebody wrote beside it', () =>
    forAll(many, fc.constantFrom(...FOREIGN_LINES), port, fc.nat(), (all, foreign, number, at) => {
      const generation = generationOf(all)
      const edited = new Map([...generation.texts].map(([file, text]) => [file, withLine(text, foreign, at)]))
      for (const [file, text] of edited) {
        const shard = new Shard(file, text)
        const [changed = ''] = shard.keys
        const before = [...shard.keys].map((key) => [key, shard.part(key)])
        shard.put(changed, shard.part(changed))
        expect(shard.text).toBe(text)
        shard.put(changed, `${changed} http://127.0.0.1:${number};\n`)
        const after = [...shard.keys].map((key) => [key, shard.part(key)])
        const others = (parts: typeof before) => parts.filter(([key]) => key !== changed)
        expect(others(after)).toEqual(others(before))
        expect(shard.strayLines.length).toBe(new Shard(file, text).strayLines.length)
      }
    }))

  test('has no key that does not fit a hash table of default size', () =>
    forAll(many, (all) => {
      for (const [file, text] of generationOf(all).texts) {
        if (/^(?:entries|blocks)\//.test(file)) continue
        const keys = [...text.matchAll(/^(?:server_name )?(?![#"]|server_name)([^\s;]+)[ ;]/gm)].map(
          ([, key = '']) => key,
        )
        expect(keys.filter((key) => !fitsHashTable(key))).toEqual([])
      }
    }))

  test('tells the true line of every host, also below what somebody else wrote', () =>
    forAll(many, fc.constantFrom('', ...FOREIGN_LINES), fc.nat(), (all, foreign, at) => {
      for (const [file, text] of generationOf(all).texts) {
        const edited = foreign === '' ? text : withLine(text, foreign, at)
        const shard = new Shard(file, edited)
        const lines = edited.replaceAll('\\', '').split('\n')
        for (const key of shard.keys) expect(lines[(shard.lineOf(key) ?? 0) - 1]).toContain(key)
      }
    }))

  test('stands in the folders of a generation and nowhere else', () => {
    forAll(many, (all) => {
      for (const file of generationOf(all).texts.keys())
        expect(SHARD_FOLDERS).toContain(file.slice(0, file.lastIndexOf('/')))
    })
    expect(() => new Shard('other/00.map')).toThrow('other/00.map is not a file of a generation.')
  })
})

/** The text with a further line, at the beginning, between two lines of the first layer, or at the end. */
function withLine(text: string, line: string, at: number): string {
  const places = [0, text.indexOf('\n') + 1, text.length]
  const place = places[at % places.length] ?? 0
  return `${text.slice(0, place)}${line}\n${text.slice(place)}`
}

describe("somebody else's line", () => {
  const neighbours = hostsInOneShard(3)
  const [first = '', second = '', third = ''] = neighbours
  const file = shardFile('backends', first)
  const standing = () => generationOf(neighbours.map((host) => placed(host, 7)))
  const contents = (generation: Generation) => neighbours.map((host) => generation.part('backends', host))

  test.each(FOREIGN_LINES)('is no part of a host, and its number is told: %j', (line) => {
    const generation = standing()
    const before = contents(generation)
    const text = generation.texts.get(file) ?? ''
    for (const [edited, stray] of [
      [`${text}${line}\n`, text.split('\n').length],
      [`${line}\n${text}`, 1],
    ] as const) {
      generation.texts.set(file, edited)
      expect(contents(generation)).toEqual(before)
      expect(new Shard(file, edited).strayLines).toEqual([stray])
    }
  })

  test('survives the change and the removal of a host, and is not doubled when a host is put back as it was', () => {
    const generation = standing()
    generation.texts.set(file, `${generation.texts.get(file)}# by hand\n`)
    const edited = generation.texts.get(file)
    const [seen, other] = [first, second].map((host) => generation.part('backends', host))
    generation.put('backends', second, undefined)
    generation.put('backends', first, `${first} http://127.0.0.1:9;\n`)
    expect(generation.texts.get(file)).toContain('# by hand\n')
    generation.put('backends', first, seen)
    generation.put('backends', second, other)
    expect(generation.texts.get(file)).toBe(edited)
    expect(generation.part('backends', first)).toBe(seen)
  })

  test('is not taken for a host that stands in another shard', () => {
    const other = Array.from({ length: 200 }, (_, at) => `other${at}.lab.test`).find(
      (host) => shardOf(host) !== shardOf(first),
    )
    const generation = standing()
    const before = contents(generation)
    generation.texts.set(file, `${generation.texts.get(file)}${other} http://192.0.2.1:80;\n`)
    expect(contents(generation)).toEqual(before)
    expect(new Shard(file, generation.texts.get(file)).strayLines).toHaveLength(1)
  })

  test('a line of a host that was edited belongs to that host alone, and makes that host an edited one', () => {
    const generation = standing()
    const before = contents(generation)
    const text = generation.texts.get(file) ?? ''
    generation.texts.set(
      file,
      text.replace(`${second} http://127.0.0.1:7;`, `  ${second}  http://192.0.2.1:80; # mine`),
    )
    const after = contents(generation)
    expect(after[1]).toContain('# mine')
    expect([after[0], after[2]]).toEqual([before[0], before[2]])
    expect([first, second, third].map((host) => generation.standing(host)?.isEdited)).toEqual([false, true, false])
  })
})

describe('a record', () => {
  const host = 'first.lab.test'
  const record = () => generationOf([placed(host, 7)])
  const withRecord = (change: (line: string) => string) => {
    const generation = record()
    generation.put(ENTRIES, host, change(generation.part(ENTRIES, host) ?? ''))
    return generation.standing(host)
  }

  test.each([
    ['is cut off', (line: string) => `${line.slice(0, -20)}\n`],
    ['has a value that is not of its grammar', (line: string) => line.replace('127.0.0.1', '127.0.0.1;}')],
    [
      'is that of another host',
      (line: string) => line.replace(`"entry":{"host":"${host}"`, '"entry":{"host":"b.test"'),
    ],
  ])('that %s is none, and the host counts as edited', (_, change) =>
    expect(withRecord(change)).toMatchObject({ entry: undefined, isEdited: true }),
  )

  test('with another revision is told from the same one', () => {
    const before = record().standing(host)?.revision
    expect(record().standing(host)?.revision).toBe(before)
    expect(withRecord((line) => line.replace(PLAN_ID, `plan_${'1'.repeat(26)}`))?.revision).not.toBe(before)
    const kinds: readonly HostKind[] = ['backends', 'answers', 'names-https', 'tls/hosts']
    for (const kind of kinds) {
      const generation = record()
      generation.put(kind, host, undefined)
      expect(generation.standing(host)).toMatchObject({ isEdited: true })
      expect(generation.standing(host)?.revision).not.toBe(before)
    }
  })
})

/** Names of hosts that stand in the same shards. */
function hostsInOneShard(count: number): string[] {
  const wanted = shardOf('first.lab.test')
  const candidates = Array.from({ length: 2_000 }, (_, at) => `n${at}.lab.test`)
  return ['first.lab.test', ...candidates.filter((host) => shardOf(host) === wanted)].slice(0, count)
}
