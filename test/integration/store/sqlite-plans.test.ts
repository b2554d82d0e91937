import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/primitives/clock.ts'
import { sqliteEngine } from '../../../src/store/dialects/sqlite.ts'
import { migrate } from '../../../src/store/migrations.ts'
import type { StoreSession } from '../../../src/store/ports/store.ts'
import { prune } from '../../../src/store/queries/prune.ts'
import type { Schema } from '../../../src/store/schema.ts'
import { sessionOn } from '../../../src/store/session.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
let db: Kysely<Schema>
let asked: { readonly sql: string; readonly parameters: readonly unknown[] }[] = []
let session: StoreSession

beforeAll(async () => {
  const engine = sqliteEngine(join(folder.path, 'drawbridge.db'), systemClock)
  db = new Kysely<Schema>({ dialect: engine.dialect, log: ({ query }) => void asked.push(query) })
  await migrate(db, engine)
  session = sessionOn(db, systemClock)
})
afterAll(async () => {
  await db.destroy()
  folder[Symbol.dispose]()
})

/** How SQLite finds the rows of everything that `work` asks. */
async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
  asked = []
  await work()
  const statements = [...asked]
  const plans: string[] = []
  for (const { sql: text, parameters } of statements) {
    const [first = '', ...rest] = text.split('?')
    const parts = rest.map((part, at) => sql`${parameters[at]}${sql.raw(part)}`)
    const found = await sql<{
      detail: string
    }>`explain query plan ${sql.raw(first)}${sql.join(parts, sql.raw(''))}`.execute(db)
    plans.push(...found.rows.map(({ detail }) => detail))
  }
  return plans
}

test.each<[string, string, () => Promise<unknown>]>([
  ['exposuresDue', 'expires_at<?', () => session.exposuresDue(1)],
  ['unsettledRunIds', 'plans_under_way', () => session.unsettledRunIds()],
  ['unfinishedRuns', 'one_live_run_per_host', () => session.unfinishedRuns()],
  ['exposuresOf', 'run_id=?', () => session.exposuresOf('run')],
  ['passClaims', 'run_id=?', () => session.passClaims('run', undefined)],
])('%s finds its rows by %s, and reads no table from end to end', async (_, index, work) => {
  const plans = await plansOf(work)
  expect(plans.join('\n')).toContain(index)
  // This index has only the runs that are under way.
  const whole = plans.filter((plan) => plan.startsWith('SCAN') && !plan.endsWith('one_live_run_per_host'))
  expect(whole).toStrictEqual([])
})

test('prune reads all runs once, for old converges, and finds those of plans by indexes', async () => {
  const plans = await plansOf(() => prune(db, { plansBefore: 1, auditBefore: 1, eventsBefore: 1, now: 1 }))
  expect(plans.filter((plan) => plan === 'SCAN runs')).toHaveLength(1)
})
