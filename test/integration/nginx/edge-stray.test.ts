import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { shardFile, shardOf } from '../../../src/nginx/config/shards.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { Slices } from '../../../src/primitives/slices.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'

/** Lines that belong to no host, in a file that hosts share. */
const LINE = '# by hand\n'
const FIRST = 'a.lab.test'
const neighbour = Array.from({ length: 1_000 }, (_, at) => `n${at}.lab.test`).find(
  (host) => shardOf(host) === shardOf(FIRST),
)
const [A, B] = [entryOf(FIRST), entryOf(neighbour ?? '')]
/** Read anew: an edge reads a file once in a turn of the event loop. */
const presentOf = ({ folder }: TestEngine) => new PresentGeneration(folder)
const standing = (at: TestEngine) => [A, B].map(({ host }) => presentOf(at).find(host))
const shared = (at: TestEngine) => presentOf(at).whereIs(FIRST).file

test('are no difference of any host in the file, and are told once, with the file and their numbers', async () => {
  using at = await startEngine()
  for (const entry of [A, B]) await at.place(entry)
  const applied = standing(at)
  expect(applied).toMatchObject([A, B].map((entry) => ({ entry, isEdited: false })))
  appendFileSync(shared(at), LINE)
  expect(standing(at)).toEqual(applied)
  expect(await presentOf(at).stray(new Slices())).toEqual([
    { file: `current/${shardFile('backends', FIRST)}`, lines: [4] },
  ])
  writeFileSync(shared(at), readFileSync(shared(at), 'utf8').replace(LINE, ''))
  expect(await presentOf(at).stray(new Slices())).toEqual([])
})

test('stay where they are when a host of the file is repaired, changed or removed', async () => {
  using at = await startEngine()
  for (const entry of [A, B]) await at.place(entry)
  const text = readFileSync(shared(at), 'utf8')
  writeFileSync(shared(at), `${text.replace(`${FIRST} http://127.0.0.1:9;`, `${FIRST} http://127.0.0.1:1;`)}${LINE}`)
  await at.place(A, { mend: true })
  expect(readFileSync(shared(at), 'utf8')).toBe(`${text}${LINE}`)
  await at.remove(B.host)
  expect(readFileSync(shared(at), 'utf8')).toContain(LINE)
})
