import { describe } from 'vitest'
import { onPostgres } from './engines.ts'
import { postgresSuite } from './store/postgres.ts'
import { storeSuite } from './store.ts'

describe('the store on PostgreSQL', () => {
  const on = onPostgres()
  storeSuite(on)
  postgresSuite(on)
})
