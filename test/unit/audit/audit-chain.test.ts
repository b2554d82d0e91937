import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ChainVerifier } from '../../../src/audit/chain.ts'
import { type AuditEntry, type AuditLine, GENESIS, lineHash } from '../../../src/model/audit.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const ENTRY = { at: 1_790_000_000_000, actor: '127.0.0.1', network: 'public', action: 'plan', outcome: 'ok' } as const
const entry = (change: Partial<AuditEntry> = {}): AuditEntry => ({ ...ENTRY, ...change })

function chainOf(entries: readonly AuditEntry[], seq = 1, previous = GENESIS): AuditLine[] {
  const lines: AuditLine[] = []
  for (const [index, each] of entries.entries()) {
    const before = lines.at(-1)?.hash ?? previous
    lines.push({ ...each, seq: seq + index, previous: before, hash: lineHash(before, seq + index, each) })
  }
  return lines
}

function verdictOn(lines: readonly AuditLine[], head = lines.at(-1)) {
  const chain = new ChainVerifier()
  for (const line of lines) {
    const fault = chain.follow(line)
    if (fault) return fault
  }
  return chain.finish(head)
}

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const facts = optional(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean())))
const anyEntry = fc.record({ at: fc.nat(), actor: fc.string({ unit: 'binary' }), code: optional(fc.string()), facts })
const entries = fc.array(anyEntry.map(entry), { minLength: 2, maxLength: 8 })

describe('the hash of a line', () => {
  it('is the SHA-256 of the documented text', () => {
    const text =
      `["drawbridge-audit-1","${'0'.repeat(64)}",1,[["action","plan"],["actor","127.0.0.1"],["at",1790000000000],` +
      '["facts",[["a",true],["b",2]]],["network","public"],["outcome","ok"]]]'
    const hash = lineHash(GENESIS, 1, entry({ facts: { b: 2, a: true }, code: undefined }))
    expect(hash).toBe(createHash('sha256').update(text).digest('hex'))
    // What sha256sum says of that text: it must not change while chains written before exist.
    expect(hash).toBe('256d9ad63ade341ad5f49fdf78e00a99714ce28c1dacade6a26986bb638b5d3e')
  })

  it('does not depend on the order of members, nor on a trip through JSON', () =>
    forAll(entries, (all) => {
      for (const each of all) {
        const turned = Object.fromEntries(Object.entries(each).reverse())
        expect(lineHash('x', 1, JSON.parse(JSON.stringify(turned)))).toBe(lineHash('x', 1, each))
      }
    }))

  it('covers each member, the kind of a fact, its place and the line before', () => {
    const members = [
      { at: 1 },
      { actor: '127.0.0.2' },
      { outcome: 'refused' },
      { host: 'a.test' },
      { facts: { a: 1 } },
    ] as const
    const hashes = [{}, ...members, { facts: { a: '1' } }].map((change) => lineHash(GENESIS, 1, entry(change)))
    hashes.push(lineHash(GENESIS, 2, entry()), lineHash('f'.repeat(64), 1, entry()))
    expect(new Set(hashes)).toHaveLength(hashes.length)
  })
})

describe('the verifier', () => {
  it('finds no fault in any chain as written', () =>
    forAll(entries, (all) => {
      expect(verdictOn(chainOf(all))).toBeUndefined()
    }))

  it('finds any one line left out', () =>
    forAll(entries, fc.nat(), (all, at) => {
      const lines = chainOf(all)
      const left = lines.filter((_, index) => index !== at % lines.length)
      expect(verdictOn(left, lines.at(-1))).toBeDefined()
    }))

  it('finds any one line rewritten, with or without its hash', () =>
    forAll(entries, fc.nat(), fc.boolean(), (all, at, rehash) => {
      const lines = chainOf(all)
      const index = at % lines.length
      const forged = lines.map((line, place) => {
        if (place !== index) return line
        const { seq, previous, hash, ...written } = line
        const changed = { ...written, actor: `${written.actor}!` }
        return { ...changed, seq, previous, hash: rehash ? lineHash(previous, seq, changed) : hash }
      })
      expect(verdictOn(forged, lines.at(-1))).toMatchObject({ seq: index + 1 })
    }))

  it('accepts a later beginning only with a prune line that vouches for exactly it', () => {
    const before = 'b'.repeat(64)
    const pruned = (facts: AuditEntry['facts']) =>
      verdictOn(chainOf([entry(), entry({ action: 'prune', facts })], 8, before))
    expect(pruned({ throughSeq: 7, throughHash: before })).toBeUndefined()
    expect(pruned({ throughSeq: 6, throughHash: before })).toMatchObject({ fault: 'beginning', seq: 8 })
    expect(pruned({ throughSeq: 7, throughHash: GENESIS })).toMatchObject({ fault: 'beginning', seq: 8 })
    expect(pruned(undefined)).toMatchObject({ fault: 'beginning', seq: 8 })
  })

  it('does not take the word of a line that is no prune line', () => {
    const facts = { throughSeq: 7, throughHash: GENESIS }
    expect(verdictOn(chainOf([entry({ facts })], 8))).toMatchObject({ fault: 'beginning' })
  })

  it('knows a first line that follows something else', () =>
    expect(verdictOn(chainOf([entry()], 1, 'f'.repeat(64)))).toMatchObject({ fault: 'beginning', seq: 1 }))

  it('tells how far it came', () => {
    const chain = new ChainVerifier()
    const lines = chainOf([entry(), entry(), entry()])
    for (const line of lines) chain.follow(line)
    expect(chain.extent).toStrictEqual({ lines: 3, first: 1, last: 3, headHash: lines[2]?.hash })
  })
})
