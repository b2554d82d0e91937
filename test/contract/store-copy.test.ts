import type { Kysely } from 'kysely'
import { afterEach, describe, expect, it, test } from 'vitest'
import { verifyAudit } from '../../src/operate/verify/audit.ts'
import { copyStore } from '../../src/store/copy.ts'
import type { Engine } from '../../src/store/dialects/engine.ts'
import { copyBetween, type StoreSetting } from '../../src/store/open.ts'
import type { CopyProgress } from '../../src/store/ports/copy.ts'
import type { Store } from '../../src/store/ports/store.ts'
import type { Schema } from '../../src/store/schema.ts'
import { type Bench, onPostgres, onSqlite } from './engines.ts'
import { NOW, sampleEntry, sampleEvent, samplePlan, sampleRun, sampleStep } from './samples.ts'

/** A copy has every row of its source, in a new epoch, or it does not exist. */
const sqlite = onSqlite()
const postgres = onPostgres()

const progress: CopyProgress[] = []
afterEach(() => {
  progress.length = 0
})

const copy = (from: StoreSetting, to: StoreSetting, edgeEpoch = 0) =>
  copyBetween(from, to, { now: Date.now(), edgeEpoch, onProgress: (step) => progress.push(step) })

/** More than fit on two pages. */
const PLANS = 1_203

/** A row in nearly every table, and texts that engines treat differently. */
async function fill(store: Store, plans = 10): Promise<void> {
  await store.transaction(async (session) => {
    for (let i = 0; i < plans; i += 1)
      await session.insertPlan(samplePlan({ planId: `plan_${i}`, host: `${i % 2 ? 'A' : 'a'}-${i}.lab.test` }))
  })
  const host = 'a-0.lab.test'
  await store.insertExposure({ host, planId: 'plan_0', state: 'applied', fence: 3, since: NOW })
  await store.insertRun(sampleRun({ planId: 'plan_0', host, fence: 3 }))
  await store.appendJournal(sampleStep({ image: { text: 'NUL \u0000, half a pair \ud800, ü' } }), 3)
  await store.takeLease(`host/${host}`, 'one', NOW, 1_000)
  await store.takeLease(`host/${host}`, 'one', NOW, 1_000)
  await store.appendAudit(sampleEntry({ facts: { text: 'NUL \u0000' } }))
  await store.appendAudit(sampleEntry())
  await store.appendEvent(sampleEvent())
  await store.openWebhook('chat')
  await store.putOrder({ names: 'x', directory: 'https://ca.test', url: 'u', keyFile: 'k', createdAt: NOW })
  await store.appendLedger({ directory: 'https://ca.test', names: 'x', kind: 'ordered', at: NOW, unproven: [] })
}

const directions: readonly [string, Bench, Bench][] = [
  ['SQLite to PostgreSQL', sqlite, postgres],
  ['PostgreSQL to SQLite', postgres, sqlite],
]

describe.each(directions)('%s', (_name, from, to) => {
  test('every row arrives, counted and hashed, and the copy begins a new epoch', async () => {
    const source = await from.open()
    await fill(source, PLANS)
    const report = await copy(from.setting(), to.setting())
    const target = await to.open()
    expect(report.tables.find(({ table }) => table === 'plans')).toMatchObject({ rows: PLANS })
    expect(await target.listPlans({ limit: 2_000 })).toStrictEqual(await source.listPlans({ limit: 2_000 }))
    expect(await target.readJournal('run_1', 0)).toStrictEqual(await source.readJournal('run_1', 0))
    expect(await verifyAudit(target)).toStrictEqual(await verifyAudit(source))
    expect(await target.eventHead()).toBe(1)
    expect((await target.takeLease('host/a-0.lab.test', 'two', NOW + 1_000, 1))?.fence).toBe(3)
    expect(await target.storeId()).toBe(await source.storeId())
    expect(report.epoch).toStrictEqual({ from: await source.epoch(), to: await target.epoch() })
    expect(report.epoch.to).toBeGreaterThan(report.epoch.from)
    expect(progress.filter(({ table }) => table === 'plans').at(-1)).toMatchObject({ rows: PLANS, of: PLANS })
  })

  test('the epoch is above every one that an edge tells', async () => {
    await from.open()
    const told = Date.now() + 86_400_000
    expect((await copy(from.setting(), to.setting(), told)).epoch.to).toBe(told + 1)
  })

  test('a target that is not empty is refused and left as it is', async () => {
    await fill(await from.open())
    const target = await to.open()
    await target.insertPlan(samplePlan({ planId: 'plan_there' }))
    const epoch = await target.epoch()
    await expect(copy(from.setting(), to.setting())).rejects.toThrow('its table plans has 1 row')
    expect((await target.listPlans({ limit: 10 })).map(({ planId }) => planId)).toStrictEqual(['plan_there'])
    expect(await target.epoch()).toBe(epoch)
  })

  test.each(['source', 'target'])('while a service runs on the %s nothing is copied', async (which) => {
    const [source, target] = [await from.open(), await to.open()]
    const instance = {
      name: 'instance-a',
      process: 'p',
      address: '127.0.45.23:8045',
      version: '1',
      edges: [],
      keys: [],
    }
    const on = which === 'source' ? source : target
    await on.announceInstance({ ...instance, startedAt: NOW }, Date.now(), 60_000)
    await source.insertPlan(samplePlan())
    await expect(copy(from.setting(), to.setting())).rejects.toThrow(`A service runs on the ${which} (instance-a`)
    expect(await target.listPlans({ limit: 10 })).toStrictEqual([])
  })

  test('a database that fails while it is written leaves the target empty, and that is told', async () => {
    await fill(await from.open())
    const target = await to.open()
    // Stands for a disk that is full.
    await (to === sqlite
      ? to.sql("create trigger full before insert on webhooks begin select raise(abort, 'disk is full'); end")
      : to.sql(`create function full_disk() returns trigger as $$ begin raise exception 'disk is full'; end $$ language plpgsql;
          create trigger full_disk before insert on webhooks for each row execute function full_disk()`))
    await expect(copy(from.setting(), to.setting())).rejects.toThrow('The target is still empty.')
    expect(await target.listPlans({ limit: 10 })).toStrictEqual([])
  })

  test('a row that was written otherwise than it was read leaves the target empty', async () => {
    await fill(await from.open())
    const target = await to.open()
    // Stands for a driver or a server that changes a value.
    await (to === sqlite
      ? to.sql(`create trigger alter_it after insert on plans when new.plan_id = 'plan_7'
          begin update plans set digest = 'other' where plan_id = new.plan_id; end`)
      : to.sql(`create function alter_it() returns trigger as $$ begin
          if new.plan_id = 'plan_7' then new.digest = 'other'; end if; return new; end $$ language plpgsql;
          create trigger alter_it before insert on plans for each row execute function alter_it()`))
    await expect(copy(from.setting(), to.setting())).rejects.toThrow('Table plans was not copied faithfully')
    expect(await target.listPlans({ limit: 10 })).toStrictEqual([])
  })
})

/** Commits, and then fails: a connection that is lost while it commits, or a disk that does not keep what was written. */
function losingItsEnd(engine: Engine): Engine {
  const { dialect } = engine
  const createDriver = () => {
    const driver = dialect.createDriver()
    const commit = driver.commitTransaction.bind(driver)
    driver.commitTransaction = async (connection) => {
      await commit(connection)
      throw new Error('The connection was lost.')
    }
    return driver
  }
  const others = {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db: Kysely<Schema>) => dialect.createIntrospector(db),
  }
  return { ...engine, dialect: { createDriver, ...others } }
}

it('is a copy, however the source ends its reading', async () => {
  await fill(await sqlite.open())
  const options = { now: Date.now(), edgeEpoch: 0, onProgress: () => undefined }
  const report = await copyStore(losingItsEnd(sqlite.engine()), postgres.engine(), options)
  expect(await (await postgres.open()).epoch()).toBe(report.epoch.to)
})

it('knows every table of the schema', async () => {
  await sqlite.open()
  const tables = await sqlite.sql("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
  const report = await copy(sqlite.setting(), postgres.setting())
  const notCopied = ['schema_versions', 'store_identity', 'instances', 'request_counts']
  expect([...report.tables.map(({ table }) => table), ...notCopied].toSorted()).toStrictEqual(
    tables.map(({ name }) => name).toSorted(),
  )
})

it('refuses a source that does not exist, and creates nothing for it', async () => {
  const missing = { kind: 'sqlite', file: '/nonexistent/drawbridge.db' } as const
  await expect(copy(missing, postgres.setting())).rejects.toThrow('The source does not exist.')
})
