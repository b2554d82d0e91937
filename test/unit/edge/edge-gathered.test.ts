import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { contentOf, Gathered, mainPlaceOf, partOf, placesOf } from '../../../src/edge/config/gathered.ts'
import { blockFile, hostEntry, linesFile, pemFile } from '../../../src/edge/config/layout.ts'
import { fitsHashTable } from '../../../src/edge/config/written-lines.ts'
import { fc } from '../../support/fast-check.ts'

/** The gathered files of a generation, in memory. */
class Generation {
  readonly texts = new Map<string, string>()

  put(path: string, content: string | null): void {
    for (const place of placesOf(path)) {
      const gathered = new Gathered(place.file, this.texts.get(place.file))
      gathered.put(place.key, partOf(content, place))
      if (gathered.text === null) this.texts.delete(place.file)
      else this.texts.set(place.file, gathered.text)
    }
  }

  content(path: string): string | null {
    return contentOf(path, (file) => {
      const text = this.texts.get(file)
      return text === undefined ? undefined : new Gathered(file, text)
    })
  }
}

const idOf = (host: string) => createHash('sha256').update(host).digest('hex').slice(0, 32)
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

/** All files of a host, with what they hold. */
const filesOf = (host: string, number: number): Map<string, string> =>
  new Map([
    [
      linesFile(host),
      `${number % 2 ? 'http' : 'https'} server_name ${host};\nbackend ${host} http://127.0.0.1:${number};\n` +
        (number % 3 ? `answer "${host} ${'0f'.repeat(16)}" ${'f0'.repeat(16)};\n` : '') +
        (number % 5 ? '' : `challenge "${host} /.well-known/acme-challenge/t${number}" a.b;\n`),
    ],
    [
      blockFile(host),
      `# of ${host}\nserver {\n  listen ${number};\n  server_name ${host};\n}\n${number % 2 ? '' : '\n'}`,
    ],
    [hostEntry(host), `${host} ${idOf(host)};\n`],
    [pemFile('certificate', idOf(host), 1), `${idOf(host)} "-----BEGIN\n${number}\n";\n`],
    [pemFile('certificate', idOf(host), 3), `${idOf(host)} "more\n";\n`],
    [pemFile('key', idOf(host), 2), `${idOf(host)} "${number}\n";\n`],
  ])

const many = fc
  .tuple(hosts, fc.array(port, { minLength: 40, maxLength: 40 }))
  .map(([names, ports]) => names.map((host, at) => ({ host, files: filesOf(host, ports[at] ?? 1) })))

/** Everything of these hosts, put in this order. */
function generationOf(all: readonly { readonly files: ReadonlyMap<string, string> }[]): Generation {
  const generation = new Generation()
  for (const { files } of all) for (const [path, content] of files) generation.put(path, content)
  return generation
}

const FOREIGN_LINES = ['# by hand', 'not nginx;', 'default http://192.0.2.1;', '~^.*$ 1;', 'with\r', '  ', 'a\u2028b']

describe('what is gathered', () => {
  test('comes back as it was put, of many hosts and of every kind', () => {
    fc.assert(
      fc.property(many, (all) => {
        const generation = generationOf(all)
        for (const { files } of all) for (const [path, content] of files) expect(generation.content(path)).toBe(content)
      }),
    )
  })

  test('is the same text in whatever order it was put', () => {
    fc.assert(
      fc.property(many, (all) => {
        expect(new Map(generationOf(all.toReversed()).texts)).toEqual(generationOf(all).texts)
      }),
    )
  })

  test('is gone without a trace when all of it is removed', () => {
    fc.assert(
      fc.property(many, (all) => {
        const generation = generationOf(all)
        for (const { files } of all) for (const path of files.keys()) generation.put(path, null)
        expect(generation.texts.size).toBe(0)
      }),
    )
  })

  test('leaves the text of other hosts byte for byte, whatever changes and whatever somebody wrote beside it', () => {
    fc.assert(
      fc.property(many, fc.constantFrom(...FOREIGN_LINES), port, fc.nat(), (all, foreign, number, at) => {
        const generation = generationOf(all)
        const edited = new Map([...generation.texts].map(([file, text]) => [file, withLine(text, foreign, at)]))
        for (const [file, text] of edited) {
          const gathered = new Gathered(file, text)
          const [changed = ''] = gathered.keys
          const before = [...gathered.keys].map((key) => [key, gathered.part(key)])
          gathered.put(changed, gathered.part(changed) ?? '')
          expect(gathered.text).toBe(text)
          gathered.put(changed, `${changed} http://127.0.0.1:${number};\n`)
          const after = [...gathered.keys].map((key) => [key, gathered.part(key)])
          const others = (parts: typeof before) => parts.filter(([key]) => key !== changed)
          expect(others(after)).toEqual(others(before))
          expect(gathered.strayLines.length).toBe(new Gathered(file, text).strayLines.length)
        }
      }),
    )
  })

  test('has no key that does not fit a hash table of default size, whatever an earlier version wrote', () => {
    fc.assert(
      fc.property(many, (all) => {
        const generation = generationOf(all)
        for (const [file, text] of generation.texts) {
          if (/^(?:entries|blocks)\//.test(file)) continue
          const keys = [...text.matchAll(/^(?:server_name )?(?![#"]|server_name)([^\s;]+)[ ;]/gm)].map(
            ([, key = '']) => key,
          )
          expect(keys.filter((key) => !fitsHashTable(key))).toEqual([])
          const before = new Gathered(file, text)
          const former = [...before.keys].map((key) => before.part(key)).join('')
          const rewritten = new Gathered(file, text.slice(0, text.indexOf('\n') + 1) + former)
          rewritten.rewrite()
          expect(rewritten.text).toBe(text)
        }
      }),
    )
  })

  test('tells the true line of every host, also below what somebody else wrote', () => {
    fc.assert(
      fc.property(many, fc.constantFrom('', ...FOREIGN_LINES), fc.nat(), (all, foreign, at) => {
        for (const [file, text] of generationOf(all).texts) {
          const edited = foreign === '' ? text : withLine(text, foreign, at)
          const gathered = new Gathered(file, edited)
          const lines = edited.replaceAll('\\', '').split('\n')
          for (const key of gathered.keys) expect(lines[(gathered.lineOf(key) ?? 0) - 1]).toContain(key)
        }
      }),
    )
  })
})

/** The text with a further line, at the beginning, between two lines of the first layer, or at the end. */
function withLine(text: string, line: string, at: number): string {
  const places = [0, text.indexOf('\n') + 1, text.length]
  const place = places[at % places.length] ?? 0
  return `${text.slice(0, place)}${line}\n${text.slice(place)}`
}

describe("somebody else's line", () => {
  const neighbours = hostsInOneFile(3)
  const [first = '', second = '', third = ''] = neighbours
  const file = mainPlaceOf(linesFile(first)).file
  const standing = () => generationOf(neighbours.map((host) => ({ files: filesOf(host, 7) })))
  const contents = (generation: Generation) => neighbours.map((host) => generation.content(linesFile(host)))

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
      expect(new Gathered(file, edited).strayLines).toEqual([stray])
    }
  })

  test('survives the change and the removal of a host, and is not doubled when a host is put back as it was', () => {
    const generation = standing()
    generation.texts.set(file, `${generation.texts.get(file)}# by hand\n`)
    const edited = generation.texts.get(file)
    const seen = generation.content(linesFile(first))
    generation.put(linesFile(second), null)
    generation.put(linesFile(first), `http server_name ${first};\nbackend ${first} http://127.0.0.1:9;\n`)
    expect(generation.texts.get(file)).toContain('# by hand\n')
    generation.put(linesFile(first), seen)
    generation.put(linesFile(second), filesOf(second, 7).get(linesFile(second)) ?? '')
    expect(generation.texts.get(file)).toBe(edited)
    expect(generation.content(linesFile(first))).toBe(seen)
  })

  test('is left out of a backup that an earlier version made', () => {
    const [before] = contents(standing())
    const lines = partOf(`${before}backend? # by hand\n`, { word: 'backend' })
    expect(lines).toBe(partOf(before ?? '', { word: 'backend' }))
    const block = filesOf(first, 7).get(blockFile(first)) ?? ''
    expect(partOf(`${block}#? Somebody else wrote into the same file:\n# by hand\n`, {})).toBe(block)
  })

  test('is not taken for a host that stands in another file', () => {
    const other = Array.from({ length: 200 }, (_, at) => `other${at}.lab.test`).find(
      (host) => mainPlaceOf(linesFile(host)).file !== file,
    )
    const generation = standing()
    generation.texts.set(file, `${generation.texts.get(file)}${other} http://192.0.2.1:80;\n`)
    expect(generation.content(linesFile(third))).toBe(filesOf(third, 7).get(linesFile(third)))
    expect(new Gathered(file, generation.texts.get(file)).strayLines).toHaveLength(1)
  })

  test('a line of a host that was edited belongs to that host alone', () => {
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
  })
})

/** Names of hosts that stand in the same gathered files. */
function hostsInOneFile(count: number): string[] {
  const fileOf = (host: string) => mainPlaceOf(linesFile(host)).file
  const wanted = fileOf('first.lab.test')
  const candidates = Array.from({ length: 2_000 }, (_, at) => `n${at}.lab.test`)
  return ['first.lab.test', ...candidates.filter((host) => fileOf(host) === wanted)].slice(0, count)
}
