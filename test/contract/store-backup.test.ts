import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Encrypter } from 'age-encryption'
import { Kysely } from 'kysely'
import { describe, expect, it, test } from 'vitest'
import { Vault } from '../../src/certificates/vault/vault.ts'
import { backupOf, restoreFrom } from '../../src/compose/machine/keep.ts'
import { type Config, readConfig } from '../../src/config/config.ts'
import { type BackupLine, writeBackup } from '../../src/operate/keep/backup-file.ts'
import { verifyAudit } from '../../src/operate/verify/audit.ts'
import { systemClock } from '../../src/primitives/clock.ts'
import { NamedFile } from '../../src/runtime/named-file.ts'
import { sqliteEngine } from '../../src/store/dialects/sqlite.ts'
import { migrate, migrationsTo, releasedVersion } from '../../src/store/migrations.ts'
import { NEWEST_SCHEMA, OLDEST_SCHEMA, openStore, restoreInto, type StoreSetting } from '../../src/store/open.ts'
import type { Store } from '../../src/store/ports/store.ts'
import type { Schema } from '../../src/store/schema.ts'
import { COPIED } from '../../src/store/tables.ts'
import { freshFolder } from '../support/fresh.ts'
import { type Bench, onPostgres, onSqlite, runSqlite } from './engines.ts'
import { NOW, sampleEntry, samplePlan, sampleRun } from './samples.ts'
import { LAST_UNRELEASED } from './store/migrations.ts'

/** A backup is one state of a store that others write to, and a restore gives exactly that state, or nothing. */
const sqlite = onSqlite()
const postgres = onPostgres()

const at = freshFolder()

/** The configuration of a machine whose store is this one. */
function machine(name: string, setting: StoreSetting): Config {
  const stateDir = at(name)
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const config = readConfig(
    `stateDir: ${stateDir}\nedges: {}\nzones: { lab.test: { primary: 127.0.0.1 } }\n`,
    at(`${name}.yaml`),
    { DRAWBRIDGE_STORE: setting.kind === 'postgres' ? setting.url : 'sqlite' },
  )
  return setting.kind === 'postgres' ? config : { ...config, store: setting }
}
const otherSqlite = (): StoreSetting => ({ kind: 'sqlite', file: at('other', 'drawbridge.db') })
const EXPOSED = { host: 'one.lab.test' }

/** Every transaction writes a plan and an audit line: one state has as many of each. */
async function write(store: Store, name: string): Promise<void> {
  await store.transaction(async (session) => {
    await session.insertPlan(samplePlan({ planId: `plan_${name}`, host: `${name}.lab.test` }))
    await session.appendAudit(sampleEntry({ facts: { text: 'NUL \u0000, half a pair \ud800, \u2028' } }))
  })
}

async function fill(store: Store, config: Config, plans: number): Promise<void> {
  for (let from = 0; from < plans; from += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => write(store, `early-${from + i}`)))
  const vault = await Vault.open({ store, file: config.storeKeyFile, now: Date.now })
  await vault.put('edge authority', 'a sealed text')
  await store.insertRun(sampleRun({ runId: 'run_open', planId: 'plan_early-0', host: 'early-0.lab.test' }))
  for (const path of [
    'certificates/a.lab.test/privkey.pem',
    'acme/x/account.key',
    'backups/run_open/0',
    'backups/run_old/0',
  ]) {
    mkdirSync(join(config.stateDir, path, '..'), { recursive: true, mode: 0o700 })
    writeFileSync(join(config.stateDir, path), `content of ${path}\0`, { mode: 0o600 })
  }
}

const engines: readonly [string, Bench][] = [
  ['SQLite', sqlite],
  ['PostgreSQL', postgres],
]

describe.each(engines)('on %s', (_name, bench) => {
  test('a backup under load is one state, and a restore on an empty machine has all of it', async () => {
    const store = await bench.open()
    const config = machine('source', bench.setting())
    // More than a backup reads at once.
    await fill(store, config, 700)
    let isOver = false
    let late = 0
    const load = (async () => {
      for (; !isOver; late += 1) await write(store, `late-${late}`)
    })()
    const report = await backupOf(config, new NamedFile(at('one.backup')), undefined)
    const lateDuring = late
    isOver = true
    await load
    expect(lateDuring).toBeGreaterThan(0)
    expect(statSync(at('one.backup')).mode & 0o777).toBe(0o600)
    expect(readdirSync(at()).filter((name) => name.startsWith('.'))).toStrictEqual([])

    const empty = machine('target', otherSqlite())
    const restored = await restoreFrom(empty, new NamedFile(at('one.backup')), undefined)
    const target = await openStore(otherSqlite(), { upgrade: false })
    const plans = await target.listPlans({ limit: 100_000 })
    const verdict = await verifyAudit(target)
    // The restore itself has appended a line.
    expect(verdict).toMatchObject({ ok: true, lines: plans.length + 1 })
    expect(plans.length).toBeGreaterThanOrEqual(700)
    expect(plans.length).toBeLessThan(700 + late)
    expect(report.tables.find(({ table }) => table === 'plans')?.rows).toBe(plans.length)
    expect(await target.storeId()).toBe(await store.storeId())
    expect(await target.epoch()).toBe(restored.epoch.to)
    expect(restored.epoch.to).toBeGreaterThan(await store.epoch())
    const vault = await Vault.open({ store: target, file: empty.storeKeyFile, now: Date.now })
    expect(await vault.read('edge authority')).toBe('a sealed text')
    await target.close()
    for (const path of ['certificates/a.lab.test/privkey.pem', 'acme/x/account.key', 'backups/run_open/0'])
      expect(readFileSync(join(empty.stateDir, path), 'utf8')).toBe(`content of ${path}\0`)
    expect(readdirSync(join(empty.stateDir, 'backups'))).toStrictEqual(['run_open'])
    for (const path of ['store.key', 'certificates/a.lab.test/privkey.pem'])
      expect(statSync(join(empty.stateDir, path)).mode & 0o777).toBe(0o600)

    expect(await store.lastBackupAt()).toBe(report.at)
    expect((await store.readAudit(0, 100_000)).filter(({ action }) => action === 'backup')).toHaveLength(1)
  })

  test('a backup of a store is restored on the other engine', async () => {
    await write(await bench.open(), 'one')
    await backupOf(machine('source', bench.setting()), new NamedFile(at('one.backup')), undefined)
    const other = bench === sqlite ? postgres : sqlite
    await restoreFrom(machine('target', other.setting()), new NamedFile(at('one.backup')), undefined)
    const target = await other.open()
    expect(await target.findPlan('plan_one')).toStrictEqual(await (await bench.open()).findPlan('plan_one'))
    expect(await verifyAudit(target)).toMatchObject({ ok: true })
  })

  test('a backup of the last version before the first release is restored, whole, and as one of this version', async () => {
    // A store of this version refuses a backup of an earlier one.
    if (bench === postgres) await postgres.sql('drop schema public cascade; create schema public')
    const config = machine('target', bench === sqlite ? otherSqlite() : postgres.setting())
    const report = await restoreFrom(config, new NamedFile(LAST_UNRELEASED), undefined)
    expect(report).toMatchObject({ madeBy: '0.1.0', storeId: 'store_02b4c4f2b5ce263020cc625c91' })
    const target = bench === sqlite ? await openStore(otherSqlite(), { upgrade: false }) : await postgres.open()
    expect((await target.listExposures({ after: '', limit: 10 })).map(({ host }) => host)).toStrictEqual([
      'plain.lab.test',
      'secure.lab.test',
    ])
    expect(await verifyAudit(target)).toMatchObject({ ok: true, lines: 12 })
    if (bench === sqlite) await target.close()
  })

  test('a backup of an older version is restored where a restore of it has failed before', async () => {
    if (bench === postgres) await postgres.sql('drop schema public cascade; create schema public')
    const setting = bench === sqlite ? otherSqlite() : postgres.setting()
    const engine = setting.kind === 'sqlite' ? sqliteEngine(setting.file, systemClock) : postgres.engine()
    const db = new Kysely<Schema>({ dialect: engine.dialect })
    await migrate(db, engine, migrationsTo(releasedVersion(OLDEST_SCHEMA)))
    await db.destroy()
    const report = await restoreFrom(machine('target', setting), new NamedFile(LAST_UNRELEASED), undefined)
    expect(report.tables.find(({ table }) => table === 'exposures')).toMatchObject({ rows: 2 })
  })

  test('a store that is not empty is refused and left as it is', async () => {
    await write(await sqlite.open(), 'one')
    await backupOf(machine('source', sqlite.setting()), new NamedFile(at('one.backup')), undefined)
    const other = bench === sqlite ? machine('other', otherSqlite()) : machine('other', postgres.setting())
    const target = bench === sqlite ? await openStore(otherSqlite()) : await postgres.open()
    await write(target, 'there')
    const epoch = await target.epoch()
    await expect(restoreFrom(other, new NamedFile(at('one.backup')), undefined)).rejects.toThrow(
      'its table plans has 1 row',
    )
    expect(await target.epoch()).toBe(epoch)
    expect((await target.listPlans({ limit: 10 })).map(({ planId }) => planId)).toStrictEqual(['plan_there'])
    expect(readdirSync(other.stateDir)).not.toContain('store.key')
    if (bench === sqlite) await target.close()
  })

  test('a restore that fails when it marks its hosts as unconfirmed leaves the store empty, and can be repeated', async () => {
    const source = await sqlite.open()
    await write(source, 'one')
    await source.insertExposure({ ...EXPOSED, planId: 'plan_one', state: 'applied', fence: 1, since: NOW })
    await backupOf(machine('source', sqlite.setting()), new NamedFile(at('one.backup')), undefined)
    const setting = bench === sqlite ? otherSqlite() : postgres.setting()
    const sql = setting.kind === 'sqlite' ? async (text: string) => runSqlite(setting.file, text) : postgres.sql
    await (await openStore(setting)).close()
    // Stands for a disk that is full.
    await (bench === sqlite
      ? sql("create trigger full before update on exposures begin select raise(abort, 'disk is full'); end")
      : sql(`create function full_disk() returns trigger as $$ begin raise exception 'disk is full'; end $$ language plpgsql;
          create trigger full_disk before update on exposures for each row execute function full_disk()`))
    const config = machine('target', setting)
    const restoring = () => restoreFrom(config, new NamedFile(at('one.backup')), undefined)
    await expect(restoring()).rejects.toThrow('It is still empty.')
    for (const table of COPIED.filter((name) => name !== 'audit_head'))
      expect(await sql(`select * from ${table}`), table).toStrictEqual([])
    await (bench === sqlite
      ? sql('drop trigger full')
      : sql('drop trigger full_disk on exposures; drop function full_disk'))
    await restoring()
    expect(await sql('select host, unconfirmed from exposures')).toEqual([{ ...EXPOSED, unconfirmed: 'edges' }])
  })
})

// A commit whose answer is lost looks the same: an error, and rows.
it('is not called empty when rows are in it after a restore has failed', async () => {
  const target = await postgres.open()
  const pages = async function* () {
    await target.openWebhook('chat')
    yield* []
    throw new Error('The connection was lost.')
  }
  const head = { schema: NEWEST_SCHEMA, storeId: 'store_x', epoch: 1, keyId: null }
  const content = { ...head, tables: [], pages: pages() }
  await expect(restoreInto(postgres.setting(), content, { now: NOW, edgeEpoch: 0 })).rejects.toThrow(
    'It may have been written all the same. Move it away or name a new database',
  )
})

describe('a backup file', () => {
  const made = async (passphrase?: string): Promise<string> => {
    const store = await sqlite.open()
    const config = machine('source', sqlite.setting())
    await fill(store, config, 50)
    await backupOf(config, new NamedFile(at('one.backup')), passphrase)
    return at('one.backup')
  }
  const restoring = (file: string, passphrase?: string) =>
    restoreFrom(machine('target', otherSqlite()), new NamedFile(file), passphrase)
  /** A backup without rows, and with one file. */
  const forged = async (name: string, schema: number, path: string): Promise<void> => {
    const lines = async function* (): AsyncGenerator<BackupLine> {
      yield { head: { version: '0', at: NOW, schema, storeId: 'store_x', epoch: 1, keyId: null } }
      yield { file: { path, content: 'ZXZpbA==' } }
      yield { end: { tables: [], files: 1 } }
    }
    await writeBackup(new NamedFile(at(name)), lines(), undefined)
  }
  const nothingWritten = () => readdirSync(at('target')).filter((name) => !name.startsWith('instance'))

  it('overwrites nothing', async () => {
    await made()
    const before = readFileSync(at('one.backup'))
    await expect(
      backupOf(machine('source', sqlite.setting()), new NamedFile(at('one.backup')), undefined),
    ).rejects.toThrow('exists already')
    expect(readFileSync(at('one.backup'))).toStrictEqual(before)
  })

  /** As `made` with a passphrase, but with less work for each guess of it, which the file tells and every reader obeys. */
  const cheaplyEncrypted = async (secret: string): Promise<Buffer> => {
    const encrypter = new Encrypter()
    encrypter.setScryptWorkFactor(2)
    encrypter.setPassphrase(secret)
    return Buffer.from(await encrypter.encrypt(readFileSync(await made())))
  }

  it.each([undefined, 'correct horse battery'])('is refused when it was changed, passphrase %s', async (secret) => {
    const whole = secret === undefined ? readFileSync(await made()) : await cheaplyEncrypted(secret)
    const flipped = [70, 250, Math.floor(whole.length / 2), whole.length - 1].map((place) => {
      const copy = Buffer.from(whole)
      copy[place] = (copy[place] ?? 0) ^ 1
      return copy
    })
    const cut = [whole.subarray(0, -1), whole.subarray(0, 100), Buffer.concat([whole, Buffer.alloc(1)])]
    for (const [index, content] of [...flipped, ...cut].entries()) {
      writeFileSync(at(`bad-${index}`), content)
      await expect(restoring(at(`bad-${index}`), secret), `variant ${index}`).rejects.toThrow('Nothing of it was used')
    }
    writeFileSync(at('not-ours'), 'hello\n')
    await expect(restoring(at('not-ours'))).rejects.toThrow('not a backup of Drawbridge')
    expect(nothingWritten()).toStrictEqual([])
  })

  it('with a passphrase shows nothing of its content, and opens with that passphrase', async () => {
    const secret = 'correct horse battery'
    const bytes = readFileSync(await made(secret))
    for (const text of ['early-1.lab.test', 'BEGIN', 'key-']) expect(bytes.includes(text)).toBe(false)
    const { tables } = await restoring(at('one.backup'), secret)
    expect(bytes.toString('latin1')).toMatch(/^age-encryption\.org\/v1\n-> scrypt \S+ 16\n/)
    expect(tables.find(({ table }) => table === 'plans')?.rows).toBe(50)
  })

  it('opens with no other passphrase, and not without one', async () => {
    writeFileSync(at('cheap.backup'), await cheaplyEncrypted('correct horse battery'))
    await expect(restoring(at('cheap.backup'))).rejects.toThrow('is encrypted')
    await expect(restoring(at('cheap.backup'), 'wrong horse battery')).rejects.toThrow('passphrase does not open')
    expect(nothingWritten()).toStrictEqual([])
  })

  it('never overwrites a file that differs, and names it before anything is written', async () => {
    await made()
    const there = join(machine('target', otherSqlite()).stateDir, 'certificates', 'a.lab.test', 'privkey.pem')
    mkdirSync(join(there, '..'), { recursive: true })
    writeFileSync(there, 'another key')
    await expect(restoring(at('one.backup'))).rejects.toThrow(`differ from the backup: ${there}`)
    expect(readFileSync(there, 'utf8')).toBe('another key')
    expect(nothingWritten()).toStrictEqual(['certificates'])
  })

  it.each(['../evil', 'certificates/../../evil', '/tmp/evil', 'certificates//evil', 'drawbridge.db', 'certificates'])(
    'that names the file %s is refused',
    async (path) => {
      await forged('evil.backup', NEWEST_SCHEMA, path)
      await expect(restoring(at('evil.backup'))).rejects.toThrow('a file outside the state folder')
      expect(nothingWritten()).toStrictEqual([])
    },
  )

  it.each([
    [OLDEST_SCHEMA - 1, `this Drawbridge restores versions from ${OLDEST_SCHEMA} on. Nothing was changed.`],
    [NEWEST_SCHEMA + 1, `this Drawbridge knows versions up to ${NEWEST_SCHEMA}. Nothing was changed.`],
  ])('of schema version %i is refused before anything is written', async (schema, sentence) => {
    await forged('other.backup', schema, 'certificates/a.lab.test/privkey.pem')
    await expect(restoring(at('other.backup'))).rejects.toThrow(sentence)
    expect(nothingWritten()).toStrictEqual([])
  })

  it('is not written when the key file does not open what is sealed', async () => {
    await made()
    const config = machine('source', sqlite.setting())
    writeFileSync(config.storeKeyFile, '', { mode: 0o600 })
    await expect(backupOf(config, new NamedFile(at('two.backup')), undefined)).rejects.toThrow('No backup was written')
    expect(readdirSync(at())).not.toContain('two.backup')
  })

  it('begins an epoch above those of the edges of its machine', async () => {
    await made()
    const edge = at('edge')
    mkdirSync(edge)
    const told = Date.now() + 3_600_000
    writeFileSync(join(edge, '.fences'), `# Fences ${'0'.repeat(32)}: epoch.\n\n${told} 1 x.lab.test;\n`)
    const config = machine('target', otherSqlite())
    const edges = { '23': { folder: edge } } as unknown as Config['edges']
    expect((await restoreFrom({ ...config, edges }, new NamedFile(at('one.backup')), undefined)).epoch.to).toBe(
      told + 1,
    )
  })
})
