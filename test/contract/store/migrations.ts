import { Kysely } from 'kysely'
import { describe, expect, it } from 'vitest'
import { verifyAudit } from '../../../src/operate/audit-verify.ts'
import { MIGRATIONS, type Migration, migrate } from '../../../src/store/migrations.ts'
import { eachExposure } from '../../../src/store/ports/exposures.ts'
import type { Schema } from '../../../src/store/schema.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleEvent, samplePlan, sampleRun, sampleStep } from '../samples.ts'
import { VERSION_1 } from './versions/version-1.ts'
import { VERSION_2 } from './versions/version-2.ts'
import { VERSION_3 } from './versions/version-3.ts'
import { VERSION_4 } from './versions/version-4.ts'
import { VERSION_5 } from './versions/version-5.ts'

/** The statements that each version added. */
const RELEASED = [VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5]

/** Tables that refer to others come first. */
const TABLES = [
  'request_counts',
  'certificates',
  'secrets',
  'instances',
  'deliveries',
  'webhooks',
  'events',
  'ledger',
  'authorities',
  'renewals',
  'journal',
  'runs',
  'orders',
  'capabilities',
  'exposures',
  'plans',
  'hosts',
  'host_history',
  'mutes',
  'leases',
  'audit_lines',
  'audit_head',
  'store_identity',
  'schema_versions',
]

export function migrationSuite(on: Bench): void {
  const withKysely = async <T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> => {
    const db = new Kysely<Schema>({ dialect: on.engine().dialect })
    return work(db).finally(() => db.destroy())
  }
  const migrateTo = (migrations: readonly Migration[]) => withKysely((db) => migrate(db, on.engine(), migrations))
  const layVersion = async (version: number) => {
    // Opening a SQLite store creates its folder.
    await withKysely((db) => db.introspection.getTables())
    for (const statement of RELEASED.slice(0, version).flat()) await on.sql(statement)
    // Later versions have no frozen copy: they are what the migrations made of the last one, as an upgrade in those days did.
    if (version > RELEASED.length) await migrateTo(MIGRATIONS.slice(0, version))
  }
  const versions = async () =>
    (await on.sql('select version from schema_versions order by version')).map((row) => Number(row.version))
  const everyVersion = MIGRATIONS.map((_, index) => index + 1)
  const earlierVersions = everyVersion.slice(0, -1)
  /** `npm run campaign -- store` takes all. */
  const someVersions = process.env.CAMPAIGN ? earlierVersions : [1, MIGRATIONS.length - 1]

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

    it.each(someVersions)('upgrade a database of version %i with all rows of version 1', async (version) => {
      await layVersion(version)
      const store = await on.open()
      expect(await versions()).toStrictEqual(everyVersion)
      expect(await store.findPlan('plan_v1')).toMatchObject({
        state: 'applied',
        request: { port: 3000 },
        createdAt: NOW,
      })
      expect(await store.findExposure('shop.lab.test')).toMatchObject({ planId: 'plan_v1', fence: 4 })
      expect((await store.takeLease('host/shop.lab.test', 'one', NOW, 1))?.fence).toBe(5)
      const capability = {
        hash: 'hash',
        planId: 'plan_v1',
        digest: 'digest',
        action: 'remove',
        ip: '127.0.45.10',
      } as const
      expect(await store.spendCapability(capability, NOW)).toBe('spent')
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 1 })
      expect(await store.lastBackupAt()).toBeUndefined()
      await store.noteBackup(NOW)
      await store.noteBackup(NOW - 1)
      expect(await store.lastBackupAt()).toBe(NOW)
    })

    it('leave columns that version 1 did not have empty and usable', async () => {
      await layVersion(1)
      const store = await on.open()
      const exposure = { host: 'shop.lab.test', planId: 'plan_v1', state: 'applied', fence: 4, since: NOW } as const
      expect(await Array.fromAsync(eachExposure(store))).toStrictEqual([exposure])
      expect(await store.exposuresDue(NOW)).toStrictEqual([])
      expect(await store.setExposureExpiry('shop.lab.test', 'plan_v1', NOW)).toBe(true)
      expect(await store.exposuresDue(NOW)).toStrictEqual([{ ...exposure, expiresAt: NOW }])
      await store.insertRun(sampleRun({ planId: 'plan_v1', action: 'remove', fence: 5 }))
      expect((await store.appendJournal(sampleStep(), 5)).seq).toBe(1)
    })

    it('keep the rows of version 2', async () => {
      await layVersion(2)
      const store = await on.open()
      expect(await store.findExposure('shop.lab.test')).toMatchObject({
        receipt: { version: 2, records: [] },
        expiresAt: NOW + 600_000,
      })
      const run = sampleRun({ runId: 'run_v2', planId: 'plan_v1', action: 'remove', fence: 4 })
      expect(await store.unfinishedRuns()).toStrictEqual([run])
      const entry = await store.appendJournal(sampleStep({ runId: 'run_v2', mark: 'done' }), 4)
      expect(await store.readJournal('run_v2', 0)).toStrictEqual([
        { ...sampleStep({ runId: 'run_v2', step: 'dns', image: { ttl: 60 }, detail: 'so far' }), seq: 1 },
        { ...entry, seq: 2 },
      ])
      expect(await store.findOrder('shop.lab.test', 'https://ca.test/dir')).toMatchObject({ keyFile: 'keys/1.pem' })
    })

    it('lead to a store that reads receipts of version 1 as version 2 and refuses newer ones', async () => {
      await layVersion(5)
      const files = [{ path: 'hosts/shop.lab.test.conf', hash: 'a'.repeat(64) }]
      const records = [{ name: 'shop.lab.test', type: 'A', ttl: 60, value: '127.0.45.23' }]
      const verification = { primary: { server: '23', ok: true, detail: 'HTTP 200' }, secondary: null }
      const first = {
        check: null,
        backup: { runId: 'run_v1' },
        proxy: { files },
        dns: { records },
        verify: verification,
      }
      const write = (receipt: unknown) => on.sql(`update exposures set receipt = '${JSON.stringify(receipt)}'`)
      await write({ ...first, secondary: 'BB' })
      const store = await on.open()
      expect((await store.findExposure('shop.lab.test'))?.receipt).toStrictEqual({
        version: 2,
        records,
        verification,
        onSecondary: 'BB',
      })
      await write({ version: 3 })
      await expect(store.findExposure('shop.lab.test')).rejects.toThrow(
        'The receipt of shop.lab.test has version 3, which this version of Drawbridge cannot read. Start the version that wrote it.',
      )
    })

    it('keep the rows of version 3', async () => {
      await layVersion(3)
      const store = await on.open()
      expect(await store.readEvents(0, 10)).toStrictEqual([
        { ...sampleEvent({ planId: 'plan_v1', facts: { tls: false } }), seq: 7, id: 'evt_v3' },
      ])
      expect(await store.appendEvent(sampleEvent())).toMatchObject({ seq: 8 })
      expect(await on.sql('select hook, seq, state from deliveries')).toMatchObject([{ hook: 'chat', state: 'dead' }])
    })

    it('keep the rows of version 4', async () => {
      await layVersion(4)
      const store = await on.open()
      const directory = 'https://ca.test/dir'
      const line = { directory, names: 'shop.lab.test', kind: 'failed', at: NOW, unproven: ['shop.lab.test'] } as const
      await store.appendLedger(line)
      expect(await store.readLedger({ directory, since: 0 })).toStrictEqual([line, line])
      expect(await store.authorityPause(directory)).toStrictEqual({ newOrders: NOW + 60_000, everything: 0 })
    })

    it('keep the rows of version 5', async () => {
      await layVersion(5)
      const store = await on.open()
      expect(await store.findRenewal('AA:BB')).toMatchObject({ names: ['*.lab.test'], failures: 1 })
    })

    it('give an older store its epoch once', async () => {
      await layVersion(5)
      const before = Date.now()
      const epoch = await (await on.open()).epoch()
      expect(epoch).toBeGreaterThanOrEqual(before)
      expect(await (await on.open()).epoch()).toBe(epoch)
    })

    it.each(someVersions)('lead from version %i to the same tables as a fresh database has', async (version) => {
      await layVersion(version)
      await on.open()
      const migrated = await withKysely((db) => db.introspection.getTables())
      const [{ epoch } = {}] = await on.sql('select epoch from store_identity')
      for (const table of TABLES) await on.sql(`drop table ${table}`)
      const later = await on.open()
      expect(await later.epoch()).toBeGreaterThan(Number(epoch))
      expect(await withKysely((db) => db.introspection.getTables())).toStrictEqual(migrated)
      expect(migrated.map(({ name }) => name).sort()).toStrictEqual([...TABLES].sort())
    })

    it('run once from the current version when two instances start at the same time', async () => {
      await layVersion(1)
      await Promise.all([migrateTo([...MIGRATIONS, addColour]), migrateTo([...MIGRATIONS, addColour])])
      expect(await versions()).toStrictEqual([...everyVersion, MIGRATIONS.length + 1])
      expect(await on.sql('select colour from plans')).toStrictEqual([{ colour: 'red' }])
    })

    it('that fail change nothing', async () => {
      await layVersion(1)
      const failing: Migration = async () => {
        throw new Error('no disk left')
      }
      await expect(migrateTo([...MIGRATIONS, addColour, failing])).rejects.toThrow('no disk left')
      await expect(on.sql('select colour from plans')).rejects.toThrow('colour')
      await migrateTo([...MIGRATIONS, addColour])
    })

    it('refuse a database of a newer version, and change nothing', async () => {
      await migrateTo([...MIGRATIONS, addColour])
      const refused = on.open()
      await expect(refused).rejects.toThrow(
        `schema has version ${MIGRATIONS.length + 1}, and this Drawbridge knows versions up to ${MIGRATIONS.length}`,
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
