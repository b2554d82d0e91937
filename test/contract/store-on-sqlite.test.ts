import { describe } from 'vitest'
import { onSqlite } from './engines.ts'
import { sqliteSuite } from './store/sqlite.ts'
import { storeSuite } from './store.ts'

describe('the store on SQLite', () => {
  const on = onSqlite()
  storeSuite(on)
  sqliteSuite(on)
})
