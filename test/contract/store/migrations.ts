import { readFileSync } from 'node:fs'
import { Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openBackup, readBackup } from '../../../src/operate/keep/backup-file.ts'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import { NamedFile } from '../../../src/runtime/named-file.ts'
import { MIGRATIONS, type Migration, migrate, NEWEST_SCHEMA, OLDEST_SCHEMA } from '../../../src/store/migrations.ts'
import { eachExposure } from '../../../src/store/ports/exposures.ts'
import type { Schema } from '../../../src/store/schema.ts'
import type { Bench } from '../engines.ts'
import { samplePlan } from '../samples.ts'

/** A backup by the last version before the first release, of a service with real edges, without its files. */
export const LAST_UNRELEASED = `${import.meta.dirname}/version-18.backup`
const TABLES_THEN = `${import.meta.dirname}/version-18.sql`

export function migrationSuite(on: Bench): void {
  const withKysely = async <T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> => {
    const db = new Kysely<Schema>({ dialect: on.engine().dialect })
    return work(db).finally(() => db.destroy())
  }
  const migrateTo = (migrations: readonly Migration[]) => withKysely((db) => migrate(db, on.engine(), migrations))
  const versions = async () =>
    (await on.sql('select version from schema_versions order by version')).map((row) => Number(row.version))
  const everyVersion = MIGRATIONS.map((_, index) => NEWEST_SCHEMA - MIGRATIONS.length + 1 + index)

  /** The tables as an earlier version left them, empty. */
  const layTables = async (version: number) => {
    const creations = readFileSync(TABLES_THEN, 'utf8')
      .split('\n')
      .filter((statement) => statement.startsWith('CREATE'))
    const versions = Array.from({ length: version }, (_, i) => `(${i + 1})`)
    await withKysely(async (db) => {
      for (const statement of [...creations, `insert into schema_versions values ${versions}`])
        await sql.raw(statement).execute(db)
    })
  }

  /** The store of the last version before the first release. */
  const layFormer = async () => {
    await layTables(OLDEST_SCHEMA)
    const file = await openBackup(new NamedFile(LAST_UNRELEASED))
    await withKysely(async (db) => {
      for await (const line of readBackup(file, undefined)) {
        if ('head' in line) {
          const { epoch, storeId: store_id, keyId: key_id } = line.head
          await db.insertInto('store_identity').values({ id: 1, epoch, store_id, key_id }).execute()
        }
        if ('page' in line && line.page.rows.length > 0)
          await db
            .insertInto(line.page.table as 'plans')
            .values(line.page.rows as never)
            .execute()
      }
    }).finally(() => file.close())
  }

  /** Everything that the engine knows of the tables: columns, keys, references, indexes. */
  const shape = async () => ({
    tables: await withKysely((db) => db.introspection.getTables()),
    further: await on.sql(on.setting().kind === 'sqlite' ? SHAPE_ON_SQLITE : SHAPE_ON_POSTGRES),
  })

  const addColour: Migration = async (db) => {
    await db.schema
      .alterTable('plans')
      .addColumn('colour', 'text', (column) => column.notNull().defaultTo('red'))
      .execute()
  }

  describe('migrations', () => {
    it('all run at the first opening, and none runs again at the second', async () => {
      await on.open()
      await on.open()
      expect(await versions()).toStrictEqual(everyVersion)
    })

    it('run once when many instances open an empty database concurrently', async () => {
      const stores = await Promise.all(Array.from({ length: 6 }, () => on.open()))
      await Promise.all(stores.map((store) => store.ping()))
      expect(await versions()).toStrictEqual(everyVersion)
    })

    it('go on with the store of the last version before the first release', async () => {
      await layFormer()
      const store = await on.open()
      expect(await versions()).toStrictEqual(everyVersion)
      expect(await store.storeId()).toBe('store_02b4c4f2b5ce263020cc625c91')
      expect(await store.epoch()).toBe(1_795_015_508_698)
      const exposures = await Array.fromAsync(eachExposure(store))
      expect(exposures.map(({ host, state }) => [host, state])).toStrictEqual([
        ['plain.lab.test', 'applied'],
        ['secure.lab.test', 'applied'],
      ])
      const secure = exposures[1]
      expect(secure?.receipt?.certificate?.names).toStrictEqual(['secure.lab.test'])
      expect(await store.findPlan(secure?.planId ?? '')).toMatchObject({ steps: expect.arrayContaining(['dns']) })
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 11 })
      expect(await store.eventHead()).toBe(7)
    })

    it('give that store exactly the tables of a fresh one', async () => {
      await layTables(OLDEST_SCHEMA)
      await on.open()
      const former = await shape()
      const dropped = former.tables.map(({ name }) => name)
      // Tables that refer to others go before them.
      for (const table of ['deliveries', 'journal', 'runs', 'capabilities', 'exposures', ...dropped])
        await on.sql(`drop table if exists ${table}`)
      await on.open()
      expect(await shape()).toStrictEqual(former)
    })

    it('drop plans of versions that were never released, with their runs, and keep all others', async () => {
      await layFormer()
      const [over] = await on.sql("select plan_id from plans where state = 'removed'")
      await on.sql(`update plans set proof = null, network = null where plan_id = '${over?.plan_id}'`)
      await on.sql(`update plans set network = null where host = 'plain.lab.test'`)
      const store = await on.open()
      expect(await store.findPlan(String(over?.plan_id))).toBeUndefined()
      expect(await store.runsOf(String(over?.plan_id))).toStrictEqual([])
      const { planId = '' } = (await store.findExposure('plain.lab.test')) ?? {}
      expect(await store.findPlan(planId)).toMatchObject({ network: 'public' })
      expect(await store.runsOf(planId)).toHaveLength(1)
    })

    it.each([
      "update plans set steps = null where host = 'plain.lab.test'",
      `update exposures set receipt = '{"check":null}' where host = 'plain.lab.test'`,
    ])('refuse a host that such a version exposes still, and change nothing: %s', async (statement) => {
      await layFormer()
      await on.sql(statement)
      await expect(on.open()).rejects.toThrow(
        '1 of its exposures, such as plain.lab.test, were made by a version that was never released. Nothing was changed.',
      )
      expect(await versions()).toHaveLength(OLDEST_SCHEMA)
    })

    it('refuse a database of an earlier version, which was never released, and change nothing', async () => {
      await layTables(OLDEST_SCHEMA - 1)
      const before = await versions()
      await expect(on.open()).rejects.toThrow(
        `Its schema has version ${OLDEST_SCHEMA - 1}, and this Drawbridge upgrades versions from ${OLDEST_SCHEMA} on. ` +
          'Nothing was changed. Start the last Drawbridge before this one once',
      )
      expect(await versions()).toStrictEqual(before)
    })

    it('run once from the former version when two instances start at the same time', async () => {
      await layFormer()
      await Promise.all([migrateTo([...MIGRATIONS, addColour]), migrateTo([...MIGRATIONS, addColour])])
      expect(await versions()).toStrictEqual([...everyVersion, NEWEST_SCHEMA + 1])
      expect(await on.sql('select distinct colour from plans')).toStrictEqual([{ colour: 'red' }])
    })

    it('that fail change nothing', async () => {
      await layTables(OLDEST_SCHEMA)
      const before = await versions()
      const failing: Migration = async () => {
        throw new Error('no disk left')
      }
      await expect(migrateTo([...MIGRATIONS, addColour, failing])).rejects.toThrow('no disk left')
      await expect(on.sql('select colour from plans')).rejects.toThrow('colour')
      expect(await versions()).toStrictEqual(before)
      await migrateTo([...MIGRATIONS, addColour])
    })

    it('refuse a database of a newer version, and change nothing', async () => {
      await migrateTo([...MIGRATIONS, addColour])
      const refused = on.open()
      await expect(refused).rejects.toThrow(
        `schema has version ${NEWEST_SCHEMA + 1}, and this Drawbridge knows versions up to ${NEWEST_SCHEMA}`,
      )
      await expect(refused).rejects.toThrow('run drawbridge restore with a backup that was made before the upgrade')
      expect(await on.sql('select colour from plans')).toStrictEqual([])
      expect(await versions()).toHaveLength(MIGRATIONS.length + 1)
    })
  })

  it('keeps everything over a restart', async () => {
    const before = await on.open()
    await before.insertPlan(samplePlan())
    await before.close()
    const after = await on.open()
    expect(await after.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
  })
}

/** SQLite keeps the statements. It writes the same words in capitals, and columns that were added later after the others. */
const SHAPE_ON_SQLITE = `select name, lower(sql) as sql from sqlite_master where sql is not null order by name`

const SHAPE_ON_POSTGRES = `select conname::text as name, pg_get_constraintdef(oid) as sql from pg_constraint
    where connamespace = 'public'::regnamespace
  union select indexname::text, indexdef from pg_indexes where schemaname = 'public'
  union select table_name || '.' || column_name, ordinal_position || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '-')
    from information_schema.columns where table_schema = 'public'
  order by 1, 2`
