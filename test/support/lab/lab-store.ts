import { join } from 'node:path'
import Database from 'better-sqlite3'
import { statePaths } from '../../../lab/state.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import type { TestLab } from './lab.ts'

const fileOf = ({ state }: TestLab): string => join(statePaths(state).service, 'drawbridge.db')

/** Opens the store of a lab's service, as another instance would. */
export async function withStore<T>(lab: TestLab, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ kind: 'sqlite', file: fileOf(lab) })
  return work(store).finally(() => store.close())
}

/** Rows of the database. */
export function rowsOf<Row>(lab: TestLab, query: string): Row[] {
  const database = new Database(fileOf(lab), { readonly: true })
  try {
    return database.prepare(query).all() as Row[]
  } finally {
    database.close()
  }
}

/** Changes the database directly, for example to simulate that time has passed. */
export function change(lab: TestLab, statement: string, ...values: (string | number)[]): void {
  const database = new Database(fileOf(lab), { timeout: 5_000 })
  try {
    database.prepare(statement).run(...values)
  } finally {
    database.close()
  }
}
