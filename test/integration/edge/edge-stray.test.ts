import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mainPlaceOf } from '../../../src/edge/config/gathered.ts'
import { hashOf, hashOfFound } from '../../../src/edge/files/files.ts'
import { PresentGeneration } from '../../../src/edge/generations/present.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'

/** Lines that belong to no host, in a file that hosts share. */
const LINE = '# by hand\n'
const FIRST = 'a.lab.test'
const fileOf = (host: string) => mainPlaceOf(`entries/${host}`).file
const neighbour = Array.from({ length: 1_000 }, (_, at) => `n${at}.lab.test`).find(
  (host) => fileOf(host) === fileOf(FIRST),
)
const [A, B] = [entryOf(FIRST), entryOf(neighbour ?? '')]
/** Read anew: an edge reads a file once in a turn of the event loop. */
const presentOf = ({ folder }: TestEngine) => new PresentGeneration(folder)
const hashesOf = (at: TestEngine) => [A, B].map(({ path }) => hashOfFound(path, presentOf(at).look(path)))
const shared = (at: TestEngine) => presentOf(at).whereIs(FIRST).path

test('are no difference of any host in the file, and are told once, with the file and their numbers', async () => {
  using at = await startEngine()
  await at.change([A, B])
  const applied = hashesOf(at)
  expect(applied.map(({ hash }) => hash)).toEqual([A, B].map(({ content }) => hashOf(content)))
  appendFileSync(shared(at), LINE)
  expect(hashesOf(at)).toEqual(applied)
  expect(presentOf(at).stray()).toEqual([{ file: `current/${fileOf(FIRST)}`, lines: [4] }])
  writeFileSync(shared(at), readFileSync(shared(at), 'utf8').replace(LINE, ''))
  expect(presentOf(at).stray()).toEqual([])
})

test('stay where they are when a host of the file is repaired, changed or removed', async () => {
  using at = await startEngine()
  await at.change([A, B])
  const text = readFileSync(shared(at), 'utf8')
  writeFileSync(shared(at), `${text.replace(`${FIRST} http://127.0.0.1:9;`, `${FIRST} http://127.0.0.1:1;`)}${LINE}`)
  const propose = async () => ({ files: [A], expected: hashesOf(at).slice(0, 1), mends: true, replacesLinks: true })
  await at.change([A], { propose })
  expect(readFileSync(shared(at), 'utf8')).toBe(`${text}${LINE}`)
  await at.change([{ ...B, content: null }])
  expect(readFileSync(shared(at), 'utf8')).toContain(LINE)
})
