import { describe } from 'vitest'
import { onSqlite } from './engines.ts'
import { identitySuite } from './store/identity.ts'
import { migrationSuite } from './store/migrations.ts'
import { sqliteSuite } from './store/sqlite.ts'
import { storeSuite } from './store.ts'

describe('the store on SQLite', () => {
  storeSuite(onSqlite())
})

describe('an empty store on SQLite', () => {
  const on = onSqlite({ empty: true })
  identitySuite(on)
  migrationSuite(on)
  sqliteSuite(on)
})
