import { connect, createServer } from 'node:net'
import { Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openStore, type StoreSetting } from '../../../src/store/open.ts'
import { StoreUnavailable } from '../../../src/store/ports/store.ts'
import type { Schema } from '../../../src/store/schema.ts'
import { listening } from '../../support/listening.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleEntry, samplePlan } from '../samples.ts'

export function postgresSuite(on: Bench): void {
  const url = (): string => {
    const setting: StoreSetting = on.setting()
    if (setting.kind !== 'postgres') throw new Error('not a PostgreSQL store')
    return setting.url
  }

  describe('a lost connection', () => {
    on.it('is replaced when it was idle', async (store) => {
      await store.insertPlan(samplePlan())
      await on.cut()
      const recovered = async () => {
        await store.ping()
        return store.findPlan(samplePlan().planId)
      }
      await expect.poll(() => recovered().catch(() => undefined)).toStrictEqual(samplePlan())
    })

    on.it('fails its transaction with the reason, and commits nothing', async (store) => {
      const failing = store.transaction(async (session) => {
        await session.appendAudit(sampleEntry())
        await on.cut()
        await session.insertPlan(samplePlan())
      })
      await expect(failing).rejects.toThrow(StoreUnavailable)
      expect(await store.findPlan(samplePlan().planId)).toBeUndefined()
      expect(await store.appendAudit(sampleEntry())).toMatchObject({ seq: 1 })
    })

    on.it('between two statements of a transaction does not crash the process', async (store) => {
      const failing = store.transaction(async (session) => {
        await session.appendAudit(sampleEntry())
        await on.cut()
        // The loss is an event of the connection, which the store does not report: give it time to arrive.
        await new Promise((resolve) => setTimeout(resolve, 100))
        await session.insertPlan(samplePlan())
      })
      await expect(failing).rejects.toThrow()
      await store.ping()
    })

    it('is dropped when the server stops answering, and never used again', async () => {
      const line = await stallingLine(new URL(url()))
      const store = await openStore({
        kind: 'postgres',
        url: `${url().replace(/:\d+\//, `:${line.port}/`)}?query_timeout=300`,
      })
      try {
        const failing = store.transaction(async (session) => {
          await session.insertPlan(samplePlan())
          line.stall()
          await session.appendAudit(sampleEntry())
        })
        await expect(failing).rejects.toThrow(StoreUnavailable)
        line.resume()
        await store.appendAudit(sampleEntry())
        const other = await on.open()
        expect(await other.auditHead()).toMatchObject({ seq: 1 })
        expect(await other.findPlan(samplePlan().planId)).toBeUndefined()
      } finally {
        await store.close()
        await line.close()
      }
    })
  })

  it('tries a transaction again that the server has rolled back because of a deadlock', async () => {
    const stores = [await on.open(), await on.open()]
    const first = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const names = ['a', 'b']
    let attempts = 0
    await Promise.all(
      stores.map((store, i) =>
        store.transaction(async (session) => {
          attempts += 1
          await session.takeLease(names[i] ?? '', `${i}`, NOW, 1_000)
          first[i]?.resolve()
          await first[1 - i]?.promise
          await session.takeLease(names[1 - i] ?? '', `${i}`, NOW, 1_000)
        }),
      ),
    )
    // The one that was rolled back may take its row again before the other one wakes: then one of them is rolled back once more.
    expect(attempts).toBeGreaterThan(2)
  })

  it('reports that no server answers, without the password', async () => {
    const setting = { kind: 'postgres', url: 'postgres://drawbridge:canary-secret@127.0.0.1:1/drawbridge' } as const
    const error: unknown = await openStore(setting).catch((reason) => reason)
    expect(String(error)).toContain('The store cannot be opened (PostgreSQL): connect ECONNREFUSED 127.0.0.1:1. Check')
    expect(String(error)).not.toContain('canary')
  })

  it('reports an invalid URL, without the password', async () => {
    const setting = { kind: 'postgres', url: 'postgres://drawbridge:canary-secret@[/drawbridge' } as const
    const error: unknown = await openStore(setting).catch((reason) => reason)
    expect(String(error)).toContain('The store cannot be opened (PostgreSQL)')
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('canary-secret')
  })

  it('lets a copy hold its transaction open for as long as the other store takes, and no other', async () => {
    const engine = on.engine()
    await using db = new Kysely<Schema>({ dialect: engine.dialect })
    const limit = async (transaction: Kysely<Schema>) => {
      const { rows } = await sql<{ limit: string }>`
        select current_setting('idle_in_transaction_session_timeout') as limit`.execute(transaction)
      return rows[0]?.limit
    }
    const inCopy = db.transaction().execute(async (transaction) => {
      await engine.lockForCopy(transaction)
      return limit(transaction)
    })
    expect(await inCopy).toBe('0')
    expect(await db.transaction().execute(limit)).toBe('30s')
  })
}

/** A relay to the server that can hold back its answers. */
async function stallingLine(to: URL) {
  let stalled = false
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname)
    const held = stalled
    client.pipe(upstream)
    upstream.on('error', () => {}).on('data', (bytes) => held || stalled || client.write(bytes))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  const listens = await listening(server)
  return {
    port: listens.port,
    stall: () => {
      stalled = true
    },
    resume: () => {
      stalled = false
    },
    close: listens[Symbol.asyncDispose],
  }
}
