import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { replaceFiles } from '../../../src/nginx/files/replace.ts'
import { whenAt } from '../../support/edge/edge.ts'
import { entryOf, startEngine } from '../../support/edge/engine.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const [OLD, NEW] = ['released/old.lab.test.conf', 'released/new.lab.test.key']
let temp: ReturnType<typeof tempFolder>
let folder: string
const place = (path: string) => join(`${folder}-released`, path.slice('released/'.length))
const drafts = () => readdirSync(join(folder, '.staging'))

beforeEach(() => {
  temp = tempFolder()
  folder = join(temp.path, 'edge')
  for (const name of [join(folder, '.staging'), `${folder}-released`]) mkdirSync(name, { recursive: true })
  writeFileSync(place(OLD), 'as applied')
})
afterEach(() => temp[Symbol.dispose]())

const CHANGES = [
  { path: OLD, content: null, secret: false },
  { path: NEW, content: 'a key', secret: true },
]

test('files outside the generations are written and removed, and nothing stays aside', async () => {
  const replaced = await replaceFiles(folder, CHANGES)
  expect([existsSync(place(OLD)), readFileSync(place(NEW), 'utf8')]).toEqual([false, 'a key'])
  replaced.keep()
  expect(drafts()).toEqual([])
})

test('they are taken back as they were', async () => {
  const replaced = await replaceFiles(folder, CHANGES)
  replaced.takeBack()
  expect([readFileSync(place(OLD), 'utf8'), existsSync(place(NEW))]).toEqual(['as applied', false])
  expect(drafts()).toEqual([])
})

test('a link in the place of a file is replaced, and not written through', async () => {
  const elsewhere = join(temp.path, 'elsewhere')
  writeFileSync(elsewhere, 'theirs')
  symlinkSync(elsewhere, place(NEW))
  const replaced = await replaceFiles(folder, CHANGES)
  expect([readFileSync(elsewhere, 'utf8'), readFileSync(place(NEW), 'utf8')]).toEqual(['theirs', 'a key'])
  replaced.takeBack()
  expect(readlinkSync(place(NEW))).toBe(elsewhere)
})

test('what cannot be written leaves the others as they were', async () => {
  mkdirSync(place(NEW))
  await expect(replaceFiles(folder, CHANGES)).rejects.toMatchObject({ kind: 'write_failed' })
  expect(readFileSync(place(OLD), 'utf8')).toBe('as applied')
  expect(drafts()).toEqual([])
})

test('a file that is edited while its host is taken away stays as it was edited', async () => {
  using at = await startEngine()
  const host = 'shop.lab.test'
  await at.place(entryOf(host))
  const { file } = at.present.whereIs(host)
  const edit = () => writeFileSync(file, readFileSync(file, 'utf8').replace(':9;', ':10;'))
  await expect(at.remove(host, whenAt('before-swap', edit))).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  expect(readFileSync(at.present.whereIs(host).file, 'utf8')).toContain(':10;')
  expect(at.generations()).toHaveLength(2)
})
