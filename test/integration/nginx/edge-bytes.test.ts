import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { STAGING } from '../../../src/edge/layout.ts'
import { shardOf } from '../../../src/nginx/config/shards.ts'
import { replaceFiles } from '../../../src/nginx/files/replace.ts'
import { listHosts } from '../../../src/nginx/generations/list.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { textFromBytes } from '../../../src/primitives/lossless-text.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** What an administrator writes in Latin-1 beside our text stays as it is. */
const A = { ...entryOf('a.lab.test'), options: { maxBody: '2m' } }
const NEIGHBOUR = {
  ...entryOf(
    Array.from({ length: 1_000 }, (_, at) => `n${at}.lab.test`).find((host) => shardOf(host) === shardOf(A.host)) ?? '',
  ),
  options: { maxBody: '2m' },
}
const LATIN = Buffer.from('  error_page 404 /nicht-verf\u00fcgbar.html;', 'latin1')
const UTF8 = Buffer.from('  # f\u00fcr alle \u{1f600}\n')

/** The file of A's block, read anew. */
const fileOf = ({ folder }: TestEngine) => new PresentGeneration(folder).whereIs(A.host).file

test('an edit in another encoding is carried along byte for byte when a neighbour in its file changes', async () => {
  using at = await startEngine()
  await at.place(A)
  await at.place(NEIGHBOUR)
  const name = Buffer.from('  server_name a.lab.test;\n')
  const before = readFileSync(fileOf(at))
  const place = before.indexOf(name) + name.length
  const added = Buffer.concat([LATIN, Buffer.from('\n'), UTF8])
  writeFileSync(fileOf(at), Buffer.concat([before.subarray(0, place), added, before.subarray(place)]))
  for (const port of [10, 11]) {
    await at.place({ ...NEIGHBOUR, ...entryOf(NEIGHBOUR.host, port) })
    const now = readFileSync(fileOf(at))
    expect(now.includes(Buffer.concat([name, added]))).toBe(true)
    expect(now.includes(`proxy_pass http://127.0.0.1:${port};`)).toBe(true)
    expect(now.toString('latin1')).not.toContain('\u00ef\u00bf\u00bd')
  }
  const present = new PresentGeneration(at.folder)
  expect([present.find(A.host)?.isEdited, present.find(NEIGHBOUR.host)?.isEdited]).toEqual([true, false])
})

test('a value in another encoding is told as text that every store takes', async () => {
  using at = await startEngine()
  await at.place(entryOf('b.lab.test'))
  const { file } = at.present.whereIs('b.lab.test')
  const edited = readFileSync(file, 'latin1').replace('127.0.0.1:9', 'b\u00fcro')
  writeFileSync(file, Buffer.from(edited, 'latin1'))
  const listening = { listen: ['127.0.0.1'], ports: { http: 80, https: 443 } }
  const present = new PresentGeneration(at.folder)
  const [listed] = await listHosts(present, { of: () => [] }, { hosts: ['b.lab.test'], listening, clock: systemClock })
  expect(listed?.drift).toMatchObject([{ field: 'backend', found: 'http://b\ufffdro' }])
})

test('a released site is written byte for byte, once', async () => {
  using temp = tempFolder()
  const folder = join(temp.path, 'edge')
  for (const path of [join(folder, STAGING), `${folder}-released`]) mkdirSync(path, { recursive: true })
  const file = { path: 'released/a.lab.test.conf', content: textFromBytes(LATIN), secret: false }
  for (const _ of [1, 2]) {
    ;(await replaceFiles(folder, [file])).keep()
    expect(readFileSync(`${folder}-released/a.lab.test.conf`)).toEqual(LATIN)
  }
})
