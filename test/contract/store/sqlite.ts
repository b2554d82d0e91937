import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import type { Lease } from '../../../src/store/ports/leases.ts'
import { type Store, StoreUnavailable } from '../../../src/store/ports/store.ts'
import type { Schema } from '../../../src/store/schema.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleCapability, sampleEntry, samplePlan } from '../samples.ts'

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

export function sqliteSuite(on: Bench): void {
  const file = (): string => {
    const setting = on.setting()
    if (setting.kind !== 'sqlite') throw new Error('not a SQLite store')
    return setting.file
  }

  describe('its file', () => {
    let umask: number
    beforeEach(() => {
      umask = process.umask(0)
    })
    afterEach(() => {
      process.umask(umask)
    })

    on.it('is private, with its side files and its folder, whatever the umask', async (store) => {
      await store.insertPlan(samplePlan())
      const folder = dirname(file())
      expect(mode(folder)).toBe('700')
      expect(readdirSync(folder).sort()).toStrictEqual(['drawbridge.db', 'drawbridge.db-shm', 'drawbridge.db-wal'])
      for (const name of readdirSync(folder)) expect(mode(join(folder, name))).toBe('600')
    })

    it('becomes private if it was not, and an existing folder keeps its mode', async () => {
      mkdirSync(dirname(file()))
      writeFileSync(file(), '')
      chmodSync(file(), 0o644)
      await on.open()
      expect(mode(file())).toBe('600')
      expect(mode(dirname(file()))).toBe('777')
    })

    it('is refused by name when it is no database', async () => {
      mkdirSync(dirname(file()))
      writeFileSync(file(), 'this is not a database, it is a text of some length '.repeat(20))
      await expect(on.open()).rejects.toThrow(`The store cannot be opened (${file()}): file is not a database. Check`)
    })

    it('is refused by name when its folder cannot exist', async () => {
      // The folder would be below a file of this user.
      mkdirSync(dirname(file()))
      writeFileSync(file(), '')
      const below = join(file(), 'drawbridge.db')
      await expect(openStore({ kind: 'sqlite', file: below })).rejects.toThrow(
        `The store cannot be opened (${below}): `,
      )
    })
  })

  it('uses write-ahead logging and foreign keys, and leaves fsync at a commit to the driver', async () => {
    const db = new Kysely<Schema>({ dialect: on.engine().dialect })
    const pragma = async (name: string) =>
      Object.values((await sql<object>`pragma ${sql.raw(name)}`.execute(db)).rows[0] ?? {})[0]
    try {
      expect(await pragma('journal_mode')).toBe('wal')
      expect(await pragma('synchronous')).toBe(1)
      expect(await pragma('foreign_keys')).toBe(1)
    } finally {
      await db.destroy()
    }
  })

  on.it('does not block the event loop while it waits for another instance', async (one, two) => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const { promise: finished, resolve: finishFirst } = Promise.withResolvers<void>()
    const first = one.transaction(async (session) => {
      await session.appendAudit(sampleEntry())
      begin()
      await finished
    })
    await begun
    const second = two.appendAudit(sampleEntry())
    // This timer would never fire if the wait blocked the event loop.
    await new Promise((resolve) => setTimeout(resolve, 50))
    finishFirst()
    await first
    expect((await second).seq).toBe(2)
  })

  describe('transactions that wait at the same moment', () => {
    const leases = async () => (await on.sql('select name from leases')).map((row) => row.name)
    const takeLease = (store: Store, name: string) =>
      store.transaction((session) => session.takeLease(name, 'one', NOW, 1_000))

    on.it('are committed together, in the order of the calls', async (store) => {
      const order: number[] = []
      const newest = Array.from({ length: 6 }, async (_, i) => {
        order.push((await store.appendAudit(sampleEntry({ at: NOW + i }))).seq)
        return (await on.sql('select max(seq) as seq from audit_lines'))[0]?.seq
      })
      expect(await Promise.all(newest)).toStrictEqual([6, 6, 6, 6, 6, 6])
      expect(order).toStrictEqual([1, 2, 3, 4, 5, 6])
      expect((await store.readAudit(0, 10)).map(({ at }) => at - NOW)).toStrictEqual([0, 1, 2, 3, 4, 5])
    })

    on.it('include leases that are taken, renewed or released alone', async (store) => {
      const names = ['a', 'b', 'c', 'd']
      const countOf = async (where: string) =>
        (await on.sql(`select count(*) as count from leases where ${where}`))[0]?.count
      const leases: Lease[] = []
      const taken = names.map(async (name) => {
        const lease = await store.takeLease(name, 'one', NOW, 1_000)
        if (lease) leases.push(lease)
        return countOf('holder is not null')
      })
      expect(await Promise.all(taken)).toStrictEqual([4, 4, 4, 4])
      const renewed = leases.map(async (lease) => {
        await store.renewLeases([lease], NOW, 9_000)
        return countOf(`expires_at = ${NOW + 9_000}`)
      })
      expect(await Promise.all(renewed)).toStrictEqual([4, 4, 4, 4])
      const released = leases.map(async (lease) => {
        await store.releaseLease(lease)
        return countOf('holder is null')
      })
      expect(await Promise.all(released)).toStrictEqual([4, 4, 4, 4])
    })

    on.it('all reject when the commit fails, and later ones are committed', async (store) => {
      await store.insertPlan(samplePlan())
      await on.sql('create table late (plan_id text references plans (plan_id) deferrable initially deferred)')
      await on.sql("create trigger fail_late after insert on capabilities begin insert into late values ('none'); end")
      const own = new Error('something went wrong')
      const outcomes = await Promise.allSettled([
        takeLease(store, 'before'),
        store.transaction((session) => session.insertCapability(sampleCapability())),
        store.transaction(() => Promise.reject(own)),
        takeLease(store, 'after'),
      ])
      expect(outcomes.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected', 'rejected', 'rejected'])
      expect(outcomes[0]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' } })
      expect(outcomes[2]).toMatchObject({ reason: own })
      expect(await leases()).toStrictEqual([])
      await takeLease(store, 'later')
      expect(await leases()).toStrictEqual(['later'])
    })

    on.it('reject when SQLite rolls all of them back, and those that had not begun are committed', async (store) => {
      await store.insertPlan(samplePlan())
      // As a full disk does.
      await on.sql(
        "create trigger full before insert on capabilities begin select raise(rollback, 'disk is full'); end",
      )
      const outcomes = await Promise.allSettled([
        takeLease(store, 'before'),
        store.transaction((session) => session.insertCapability(sampleCapability())),
        takeLease(store, 'after'),
      ])
      expect(outcomes).toMatchObject([
        { status: 'rejected', reason: expect.any(StoreUnavailable) },
        { status: 'rejected', reason: { message: 'disk is full' } },
        { status: 'fulfilled' },
      ])
      expect(await leases()).toStrictEqual(['after'])
    })
  })
}
