import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const page = readFileSync('docs/store.md', 'utf8')
const [, drawing = ''] = page.split('```')

/** Tables and foreign keys of a new database. */
async function newDatabase(): Promise<{ tables: string[]; keys: string[] }> {
  using folder = tempFolder()
  const file = join(folder.path, 'drawbridge.db')
  await (await openStore({ kind: 'sqlite', file })).close()
  const database = new Database(file, { readonly: true })
  try {
    const names = database.prepare<[], { name: string }>(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name",
    )
    const tables = names.all().map(({ name }) => name)
    const keys = tables.flatMap((table) =>
      (database.pragma(`foreign_key_list(${table})`) as { table: string; from: string; to: string }[]).map(
        (key) => `${table}.${key.from} ==> ${key.table}.${key.to}`,
      ),
    )
    return { tables, keys }
  } finally {
    database.close()
  }
}

test('docs/store.md has every table, in its drawing and with a line, and no other', async () => {
  const { tables } = await newDatabase()
  const rows = [...page.matchAll(/^- `(\w+)`: /gm)].map(([, name = '']) => name)
  expect(rows.toSorted()).toEqual(tables)
  expect(tables.filter((table) => !new RegExp(`^.{0,20}(?<!\\w)${table}\\b`, 'm').test(drawing))).toEqual([])
})

test('its drawing has every foreign key, and no other', async () => {
  const { keys } = await newDatabase()
  const drawn = [...drawing.matchAll(/\w+\.\w+ ==> \w+\.\w+/g)].map(([key]) => key)
  expect(drawn.toSorted()).toEqual(keys.toSorted())
})
