import { describe, expect, it } from 'vitest'
import { GENESIS, lineHash } from '../../../src/model/audit.ts'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleEntry } from '../samples.ts'

export const auditSuite = (on: Bench) =>
  describe('the audit', () => {
    const openWithLines = async (count: number): Promise<Store> => {
      const store = await on.open()
      for (let i = 0; i < count; i++) await store.appendAudit(sampleEntry({ at: NOW + i }))
      return store
    }

    on.it('is empty and valid before its first line', async (store) => {
      expect(await store.auditHead()).toBeUndefined()
      expect(await store.readAudit(0, 10)).toStrictEqual([])
      expect(await verifyAudit(store)).toStrictEqual({ ok: true, lines: 0, first: 0, last: 0, headHash: GENESIS })
    })

    on.it('chains every line to the one before', async (store) => {
      const first = await store.appendAudit(sampleEntry())
      const second = await store.appendAudit(sampleEntry({ at: NOW + 1 }))
      expect(first).toStrictEqual({
        ...sampleEntry(),
        seq: 1,
        previous: GENESIS,
        hash: lineHash(GENESIS, 1, sampleEntry()),
      })
      expect(second.previous).toBe(first.hash)
      expect(await store.readAudit(0, 10)).toStrictEqual([first, second])
      expect(await store.auditHead()).toStrictEqual({ seq: 2, hash: second.hash })
    })

    it('is read in pages', async () => {
      const store = await openWithLines(5)
      const seqs = async (after: number, limit: number) => (await store.readAudit(after, limit)).map((line) => line.seq)
      expect(await seqs(0, 2)).toStrictEqual([1, 2])
      expect(await seqs(2, 2)).toStrictEqual([3, 4])
      expect(await seqs(4, 2)).toStrictEqual([5])
      expect(await seqs(5, 2)).toStrictEqual([])
    })

    on.it('keeps the text of a caller exactly', async (store) => {
      const strange = sampleEntry({ host: 'a\u0000b\ud800', facts: { __proto__: 'x', 'ü"\n': '\u2028🌉', zero: -0 } })
      const line = await store.appendAudit(strange)
      expect(await store.readAudit(0, 1)).toEqual([{ ...line, facts: { ...line.facts, zero: 0 } }])
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 1 })
    })

    on.it('is one unbroken chain when two instances append at once', async (one, two) => {
      await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 ? one : two).appendAudit(sampleEntry({ at: i }))))
      expect(await verifyAudit(one)).toMatchObject({ ok: true, lines: 100, first: 1, last: 100 })
      const times = (await two.readAudit(0, 200)).map((line) => line.at).sort((a, b) => a - b)
      expect(times).toStrictEqual(Array.from({ length: 100 }, (_, i) => i))
    })

    it('is valid while it grows', async () => {
      const [one, two] = [await openWithLines(10), await on.open()]
      const growing = Promise.all(Array.from({ length: 50 }, () => two.appendAudit(sampleEntry())))
      for (let i = 0; i < 10; i++) expect(await verifyAudit(one)).toMatchObject({ ok: true })
      await growing
    })

    it.each([
      ['its time', `update audit_lines set at = at + 1 where seq = 3`],
      ['its action', `update audit_lines set action = 'token' where seq = 3`],
      ['its actor', `update audit_lines set entry = replace(entry, '127.0.0.1', '127.0.0.2') where seq = 3`],
      [
        'a member too many',
        `update audit_lines set entry = replace(entry, '{"actor"', '{"x":1,"actor"') where seq = 3`,
      ],
      ['text that cannot be read', `update audit_lines set entry = 'broken' where seq = 3`],
      ['its previous hash', `update audit_lines set previous = '${GENESIS}' where seq = 3`],
      ['its own hash', `update audit_lines set hash = '${GENESIS}' where seq = 3`],
    ])('reports a changed line: %s', async (_, tampering) => {
      const store = await openWithLines(5)
      await on.sql(tampering)
      expect(await verifyAudit(store)).toMatchObject({ ok: false, seq: 3, fault: 'changed' })
      expect(await store.readAudit(0, 10)).toHaveLength(5)
    })

    it('reports a line that was replaced together with its hash', async () => {
      const store = await openWithLines(5)
      const [, , third] = await store.readAudit(0, 3)
      const forged = lineHash(third?.previous ?? '', 3, sampleEntry({ at: 7 }))
      await on.sql(`update audit_lines set at = 7, hash = '${forged}' where seq = 3`)
      expect(await verifyAudit(store)).toMatchObject({ ok: false, seq: 3, fault: 'changed' })
    })

    it('reports the last line when it was replaced together with its hash', async () => {
      const store = await openWithLines(3)
      const [, , third] = await store.readAudit(0, 3)
      const forged = lineHash(third?.previous ?? '', 3, sampleEntry({ at: 7 }))
      await on.sql(`update audit_lines set at = 7, hash = '${forged}' where seq = 3`)
      expect(await verifyAudit(store)).toMatchObject({ ok: false, seq: 3, fault: 'head' })
    })

    it.each([
      ['in the middle', 'seq in (3, 4)', { seq: 3, fault: 'missing', sentence: 'Lines 3 to 4 are missing.' }],
      ['at the beginning', 'seq <= 2', { seq: 3, fault: 'beginning' }],
      ['at the end', 'seq >= 4', { seq: 4, fault: 'head', sentence: 'Lines 4 to 5 are missing at the end.' }],
      ['altogether', 'seq > 0', { seq: 1, fault: 'head' }],
    ])('reports lines missing %s', async (_, which, fault) => {
      const store = await openWithLines(5)
      await on.sql(`delete from audit_lines where ${which}`)
      expect(await verifyAudit(store)).toMatchObject({ ok: false, ...fault })
    })

    it('reports a line that was added after the head', async () => {
      const store = await openWithLines(2)
      const { hash = '' } = (await store.auditHead()) ?? {}
      const forged = lineHash(hash, 3, { at: 7, actor: 'x', network: 'self', action: 'plan', outcome: 'ok' })
      const members = `{"actor":"x","network":"self","outcome":"ok"}`
      await on.sql(`insert into audit_lines (seq, at, action, entry, previous, hash)
      values (3, 7, 'plan', '${members}', '${hash}', '${forged}')`)
      expect(await verifyAudit(store)).toMatchObject({ ok: false, seq: 3, fault: 'head' })
    })

    it('refuses a line when its head is missing', async () => {
      const store = await openWithLines(2)
      await on.sql('delete from audit_head')
      await expect(store.appendAudit(sampleEntry())).rejects.toThrow('The head of the audit chain is missing')
      expect(await verifyAudit(store)).toMatchObject({ ok: false, seq: 1, fault: 'head' })
    })
  })
