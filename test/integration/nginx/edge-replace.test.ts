import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { replaceFiles } from '../../../src/nginx/files/replace.ts'
import { whenAt } from '../../support/edge/edge.ts'
import { entryOf, startEngine } from '../../support/edge/engine.ts'
import { freshFolder } from '../../support/fresh.ts'

const [OLD, NEW] = ['released/old.lab.test.conf', 'released/new.lab.test.key']
const at = freshFolder()
const edge = () => at('edge')
const place = (path: string) => join(at('edge-released'), path.slice('released/'.length))
const drafts = () => readdirSync(join(edge(), '.staging'))

beforeEach(() => {
  for (const name of [join(edge(), '.staging'), at('edge-released')]) mkdirSync(name, { recursive: true })
  writeFileSync(place(OLD), 'as applied')
})

const CHANGES = [
  { path: OLD, content: null, secret: false },
  { path: NEW, content: 'a key', secret: true },
]

test('files outside the generations are written and removed, and nothing stays aside', async () => {
  const replaced = await replaceFiles(edge(), CHANGES)
  expect([existsSync(place(OLD)), readFileSync(place(NEW), 'utf8')]).toEqual([false, 'a key'])
  replaced.keep()
  expect(drafts()).toEqual([])
})

test('they are taken back as they were', async () => {
  const replaced = await replaceFiles(edge(), CHANGES)
  replaced.takeBack()
  expect([readFileSync(place(OLD), 'utf8'), existsSync(place(NEW))]).toEqual(['as applied', false])
  expect(drafts()).toEqual([])
})

test('a link in the place of a file is replaced, and not written through', async () => {
  const elsewhere = at('elsewhere')
  writeFileSync(elsewhere, 'theirs')
  symlinkSync(elsewhere, place(NEW))
  const replaced = await replaceFiles(edge(), CHANGES)
  expect([readFileSync(elsewhere, 'utf8'), readFileSync(place(NEW), 'utf8')]).toEqual(['theirs', 'a key'])
  replaced.takeBack()
  expect(readlinkSync(place(NEW))).toBe(elsewhere)
})

test('what cannot be written leaves the others as they were', async () => {
  mkdirSync(place(NEW))
  await expect(replaceFiles(edge(), CHANGES)).rejects.toMatchObject({ kind: 'write_failed' })
  expect(readFileSync(place(OLD), 'utf8')).toBe('as applied')
  expect(drafts()).toEqual([])
})

test('a file that is edited while its host is taken away stays as it was edited', async () => {
  using engine = await startEngine()
  const host = 'shop.lab.test'
  await engine.place(entryOf(host))
  const { file } = engine.present.whereIs(host)
  const edit = () => writeFileSync(file, readFileSync(file, 'utf8').replace(':9;', ':10;'))
  await expect(engine.remove(host, whenAt('before-swap', edit))).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  expect(readFileSync(engine.present.whereIs(host).file, 'utf8')).toContain(':10;')
  expect(engine.generations()).toHaveLength(2)
})
