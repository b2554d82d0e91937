import { type Kysely, sql } from 'kysely'
import type { JournalEntry, Run } from '../../model/run.ts'
import { type RunStore, StaleFence } from '../ports/runs.ts'
import type { JournalRow, RunRow, Schema } from '../schema.ts'
import { statement } from '../statement.ts'

type Runs = Pick<
  RunStore,
  | 'insertRun'
  | 'findRun'
  | 'runsOf'
  | 'runsOfHost'
  | 'newestRuns'
  | 'unfinishedRuns'
  | 'rolledBackApplies'
  | 'unsettledRunIds'
  | 'adoptRun'
  | 'finishRun'
>

/** Written out: a partial index serves no statement with parameters. */
const isRunning = sql<boolean>`state = 'running'`
const isUnderWay = sql<boolean>`plans.state in ('applying', 'removing', 'blocked')`

const findOne = statement((db, { runId }: { runId: string }) =>
  db.selectFrom('runs').selectAll().where('run_id', '=', runId),
)

export const runsIn = (db: Kysely<Schema>): Runs => ({
  async insertRun(run) {
    await db.insertInto('runs').values(toRow(run)).execute()
  },

  async findRun(runId) {
    const [row] = (await findOne(db, { runId })).rows
    return row && toRun(row)
  },

  async runsOf(planId) {
    const rows = await inOrder(db).where('plan_id', '=', planId).execute()
    return rows.map(toRun)
  },

  async runsOfHost(host) {
    const plans = db.selectFrom('plans').select('plan_id').where('host', '=', host)
    const rows = await inOrder(db).where('plan_id', 'in', plans).execute()
    return rows.map(toRun)
  },

  async newestRuns(planIds) {
    if (planIds.length === 0) return []
    const rows = await inOrder(db).where('plan_id', 'in', planIds).execute()
    const newest = new Map(rows.map((row) => [row.plan_id, row]))
    return [...newest.values()].map(({ run_id, plan_id, state, entries }) => ({
      runId: run_id,
      planId: plan_id,
      state,
      entries,
    }))
  },

  async unfinishedRuns() {
    const rows = await oldestFirst(db).where(isRunning).execute()
    return rows.map(toRun)
  },

  async rolledBackApplies(since) {
    const rows = await oldestFirst(db)
      .where('state', '=', 'rolled_back')
      .where('action', '=', 'apply')
      .where('finished_at', '>=', since)
      .execute()
    return rows.map(toRun)
  },

  async unsettledRunIds() {
    const ofPlans = db.selectFrom('runs').innerJoin('plans', 'plans.plan_id', 'runs.plan_id').where(isUnderWay)
    const running = db.selectFrom('runs').where(isRunning)
    const rows = await ofPlans.select('runs.run_id').unionAll(running.select('run_id')).execute()
    return [...new Set(rows.map(({ run_id }) => run_id))]
  },

  async adoptRun(read, holder, fence) {
    const { numUpdatedRows } = await db
      .updateTable('runs')
      .set({ holder, fence })
      .where('run_id', '=', read.runId)
      .where('state', '=', 'running')
      .where('fence', '=', read.fence)
      .where('fence', '<', fence)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },

  async finishRun(runId, state, at, fence) {
    const { numUpdatedRows } = await db
      .updateTable('runs')
      .set({ state, finished_at: at })
      .where('run_id', '=', runId)
      .where('state', '=', 'running')
      .where('fence', '<=', fence)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) await rejectStale(db, runId, fence)
    return numUpdatedRows === 1n
  },
})

/** Finds the reason of a refusal. The conditional statement has decided already. */
async function rejectStale(db: Kysely<Schema>, runId: string, shown: number): Promise<void> {
  const run = await db.selectFrom('runs').select('fence').where('run_id', '=', runId).executeTakeFirst()
  if (run && run.fence > shown) throw new StaleFence(runId, shown, run.fence)
}

/** The runs of a plan are all on its host, and each has a higher fence than the one before, whatever the clock said. */
const inOrder = (db: Kysely<Schema>) => db.selectFrom('runs').selectAll().orderBy('fence')

const oldestFirst = (db: Kysely<Schema>) => db.selectFrom('runs').selectAll().orderBy('started_at').orderBy('run_id')

const toRow = (run: Run): RunRow => ({
  run_id: run.runId,
  plan_id: run.planId,
  host: run.host,
  action: run.action,
  state: run.state,
  holder: run.holder,
  fence: run.fence,
  actor: run.actor,
  started_at: run.startedAt,
  finished_at: run.finishedAt ?? null,
  entries: 0,
  network: run.network,
  proven_by: run.right,
})

const toRun = (row: RunRow): Run => ({
  runId: row.run_id,
  planId: row.plan_id,
  host: row.host,
  action: row.action,
  state: row.state,
  holder: row.holder,
  fence: row.fence,
  actor: row.actor,
  startedAt: row.started_at,
  ...(row.finished_at !== null && { finishedAt: row.finished_at }),
  network: row.network,
  right: row.proven_by,
})

type Journal = Pick<RunStore, 'appendJournal' | 'readJournal'>

export const journalIn = (db: Kysely<Schema>): Journal => ({
  appendJournal: (entry, fence) => append(db, entry, fence),

  async readJournal(runId, afterSeq) {
    const rows = await db
      .selectFrom('journal')
      .selectAll()
      .where('run_id', '=', runId)
      .where('seq', '>', afterSeq)
      .orderBy('seq')
      .execute()
    return rows.map(toEntry)
  },
})

const countEntry = statement((db, { runId, fence }: { runId: string; fence: number }) =>
  db
    .updateTable('runs')
    .set((eb) => ({ entries: eb('entries', '+', 1) }))
    .where('run_id', '=', runId)
    .where('fence', '<=', fence)
    .returning('entries as seq'),
)
const insertEntry = statement((db, { run_id, seq, at, step, mark, content }: JournalRow) =>
  db.insertInto('journal').values({ run_id, seq, at, step, mark, content }),
)

/** Updates the run first: this checks the fence and locks out all other appenders until the transaction ends. */
async function append(
  transaction: Kysely<Schema>,
  entry: Omit<JournalEntry, 'seq'>,
  fence: number,
): Promise<JournalEntry> {
  const { runId, at, step, mark, ...content } = entry
  const [counted] = (await countEntry(transaction, { runId, fence })).rows
  if (!counted) {
    await rejectStale(transaction, runId, fence)
    throw new Error(`Run ${runId} does not exist, so nothing can be written to its journal.`)
  }
  const { seq } = counted
  await insertEntry(transaction, { run_id: runId, seq, at, step, mark, content: JSON.stringify(content) })
  return { ...entry, seq }
}

const toEntry = (row: JournalRow): JournalEntry => ({
  runId: row.run_id,
  seq: row.seq,
  at: row.at,
  step: row.step,
  mark: row.mark,
  ...(JSON.parse(row.content) as Pick<JournalEntry, 'image' | 'detail'>),
})
