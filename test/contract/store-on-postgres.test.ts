import { describe } from 'vitest'
import { onPostgres } from './engines.ts'
import { identitySuite } from './store/identity.ts'
import { migrationSuite } from './store/migrations.ts'
import { postgresSuite } from './store/postgres.ts'
import { storeSuite } from './store.ts'

describe('the store on PostgreSQL', () => {
  const on = onPostgres()
  storeSuite(on)
  postgresSuite(on)
})

describe('an empty store on PostgreSQL', () => {
  const on = onPostgres({ empty: true })
  identitySuite(on)
  migrationSuite(on)
})
