import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verifyAudit } from '../../../src/operate/audit-verify.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'

describe('verifying a long audit', () => {
  let folder: string
  let store: Store
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drawbridge-verify-'))
    store = await openStore({ kind: 'sqlite', file: join(folder, 'store.db') })
    await store.transaction(async (session) => {
      for (let at = 1; at <= 2_500; at++) {
        await session.appendAudit({ at, actor: '127.0.0.1', network: 'public', action: 'plan', outcome: 'ok' })
      }
    })
  })
  afterEach(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('reads all pages', async () => {
    expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 2_500, first: 1, last: 2_500 })
  })

  it('accepts a pruning between two pages', async () => {
    let pruned = false
    const prunedMeanwhile: Store = {
      ...store,
      async readAudit(afterSeq, limit) {
        if (afterSeq >= 1_000 && !pruned) {
          pruned = true
          await store.prune({ plansBefore: 0, auditBefore: 1_501, eventsBefore: 0, now: 9_999 })
        }
        return store.readAudit(afterSeq, limit)
      },
    }
    expect(await verifyAudit(prunedMeanwhile)).toMatchObject({ ok: true, first: 1_501, last: 2_501 })
    expect(pruned).toBe(true)
  })
})
