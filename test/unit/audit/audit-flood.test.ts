import { describe, expect, it } from 'vitest'
import { RefusalFlood } from '../../../src/audit/flood.ts'
import type { AuditEntry } from '../../../src/model/audit.ts'

const NOW = 1_790_000_000_000
const MINUTE = 60_000

const REFUSAL = { at: NOW, actor: '198.51.100.9', network: 'public', action: 'plan', outcome: 'refused' } as const
const refusal = (change: Partial<AuditEntry> = {}): AuditEntry => ({ ...REFUSAL, code: 'invalid_request', ...change })

const noteTimes = (flood: RefusalFlood, times: number, entry = refusal(), now = NOW): string[] =>
  Array.from({ length: times }, () => flood.note(entry, now))

describe('a flood of refusals', () => {
  it('is written five times and counted from then on', () => {
    const answers = noteTimes(new RefusalFlood(), 8)
    expect(answers).toStrictEqual([...Array(5).fill('write'), ...Array(3).fill('count')])
  })

  it('is told in one line when its minute is over, not before', () => {
    const flood = new RefusalFlood()
    noteTimes(flood, 105)
    expect(flood.drain(NOW + MINUTE - 1)).toStrictEqual([])
    const told = { ...refusal({ at: NOW + MINUTE }), action: 'refusals', facts: { count: 100, since: NOW } }
    expect(flood.drain(NOW + MINUTE)).toStrictEqual([told])
    expect(flood.drain(NOW + 9 * MINUTE)).toStrictEqual([])
  })

  it('begins anew with the next minute', () => {
    const flood = new RefusalFlood()
    noteTimes(flood, 7)
    flood.drain(NOW + MINUTE)
    expect(flood.note(refusal(), NOW + MINUTE)).toBe('write')
    expect(noteTimes(flood, 5, refusal(), NOW + MINUTE).at(-1)).toBe('count')
  })

  it('begins anew without a drain when there was nothing to tell', () => {
    const flood = new RefusalFlood()
    noteTimes(flood, 5)
    expect(flood.note(refusal(), NOW + MINUTE - 1)).toBe('count')
    const quiet = new RefusalFlood()
    noteTimes(quiet, 5)
    expect(quiet.note(refusal(), NOW + MINUTE)).toBe('write')
  })

  it('loses no count while nobody drains', () => {
    const flood = new RefusalFlood()
    noteTimes(flood, 6)
    noteTimes(flood, 4, refusal(), NOW + 3 * MINUTE)
    expect(flood.drain(NOW + 3 * MINUTE).map((line) => line.facts?.count)).toStrictEqual([5])
  })

  it('is kept apart by address and by code', () => {
    const flood = new RefusalFlood()
    noteTimes(flood, 7)
    expect(flood.note(refusal({ actor: '198.51.100.10' }), NOW)).toBe('write')
    expect(flood.note(refusal({ code: 'dns_name_taken' }), NOW)).toBe('write')
  })

  const OTHERS = { 'of internal callers': { network: 'internal' }, 'that are none': { outcome: 'ok' } } as const
  it.each(Object.entries(OTHERS))('leaves lines %s alone', (_, change) =>
    expect(noteTimes(new RefusalFlood(), 50, refusal(change))).not.toContain('count'),
  )

  it('of more addresses than fit is counted together', () => {
    const flood = new RefusalFlood()
    for (let i = 0; i < 100_000; i++) flood.note(refusal({ actor: `2001:db8::${i.toString(16)}` }), NOW)
    const lines = flood.drain(NOW + MINUTE)
    expect(lines).toMatchObject([{ actor: 'others', code: undefined, facts: { count: 100_000 - 1_000 - 5 } }])
    expect(flood.note(refusal({ actor: '2001:db8::beef' }), NOW + MINUTE)).toBe('write')
  })

  it('is told whole at the end of the service', () => {
    const flood = new RefusalFlood()
    noteTimes(flood, 9)
    expect(flood.drainAll(NOW + 1)).toMatchObject([{ at: NOW + 1, facts: { count: 4 } }])
    expect(flood.drainAll(NOW + 1)).toStrictEqual([])
  })

  it('is counted again when its line could not be written', () => {
    const flood = new RefusalFlood()
    noteTimes(flood, 9)
    const [line] = flood.drain(NOW + MINUTE)
    if (line) flood.putBack(line)
    expect(flood.note(refusal(), NOW + MINUTE)).toBe('count')
    expect(flood.drain(NOW + 2 * MINUTE)).toMatchObject([{ facts: { count: 5, since: NOW } }])
  })
})
