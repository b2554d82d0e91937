import { describe, expect, test } from 'vitest'
import { DnsWriteFault, type LeasedProvider, type ZoneRecord } from '../../../../src/dns/contract.ts'
import { systemClock } from '../../../../src/primitives/clock.ts'
import {
  claimNameStep,
  releaseMarkStep,
  releaseNameStep,
  repairNameStep,
  rewriteMarkStep,
} from '../../../../src/runs/steps/dns.ts'
import type { Held } from '../../../../src/runs/steps/zone-updates.ts'

const HOST = 'app.lab.test'
const RECORD: ZoneRecord = { name: HOST, type: 'A', ttl: 60, value: '127.0.45.23' }
const THEIRS: ZoneRecord = { ...RECORD, value: '127.0.45.99' }
const UNTIL = 1_800_000_000
/** It was signed and sent. */
const lostAnswer = async (...given: readonly unknown[]) => {
  const signing = given.findLast((part) => typeof part === 'function')
  await signing?.(UNTIL)
  throw new DnsWriteFault('unknown', 'The answer was lost.')
}
const note = async () => undefined

/** A name server that tells these answers, in order; the last of them for ever. */
function zone(answers: readonly Held[], provider: Partial<LeasedProvider> = {}, sets: readonly ZoneRecord[] = []) {
  const sent: string[] = []
  const left = [...answers]
  const noting = <T>(what: string, answer: T) => {
    return async () => {
      sent.push(what)
      return answer
    }
  }
  const parts = {
    provider: {
      create: noting('create', 'created'),
      remove: noting('remove', 'removed'),
      replace: noting('replace', 'replaced'),
      assertAccess: async () => undefined,
      settle: async (validUntil: number) => void sent.push(`settle ${validUntil - UNTIL}`),
      ...provider,
    } as LeasedProvider,
    readBack: async () => (left.length > 1 ? left.shift() : left[0]) ?? 'unknown',
    readSets: async () => sets,
    patienceMs: 1,
    clock: systemClock,
  }
  return { parts, sent }
}

describe('a name is claimed', () => {
  const claim = async ({ parts }: ReturnType<typeof zone>, record = RECORD) => {
    const step = claimNameStep(HOST, [record], parts)
    return step.do({ records: [record] }, {}, note)
  }

  test('and not where somebody else has a record', () => {
    const claiming = claim(zone(['partly'], { create: async () => 'in_use' }))
    return expect(claiming).rejects.toMatchObject({ code: 'dns_name_taken' })
  })

  test('and after a lost answer only if the server has the records', async () => {
    expect(await claim(zone(['yes'], { create: lostAnswer }))).toEqual({ records: [RECORD] })
    await expect(claim(zone(['no'], { create: lostAnswer }))).rejects.toMatchObject({ untouched: true })
    await expect(claim(zone(['partly'], { create: lostAnswer }))).rejects.toMatchObject({ untouched: false })
    await expect(claim(zone(['unknown'], { create: lostAnswer }))).rejects.toMatchObject({ transient: true })
  })

  test('and records that the plan keeps have to be there', async () => {
    const at = zone(['partly'])
    await expect(claim(at, { ...RECORD, kept: true })).rejects.toMatchObject({ code: 'plan_stale' })
    expect(at.sent).toEqual([])
  })
})

test('the owner mark of a host that is given back is not left because the server is silent', async () => {
  const mark: ZoneRecord = { name: `_drawbridge.${HOST}`, type: 'TXT', ttl: 60, value: 'drawbridge exposure_1' }
  const before = (held: Held) => releaseMarkStep(HOST, [RECORD, mark], zone([held]).parts).before({})
  await expect(before('unknown')).rejects.toMatchObject({ untouched: true, transient: true })
  expect(await before('yes')).toEqual({ records: [mark] })
  expect(await before('partly')).toEqual({ records: [] })
})

test('a claim that an earlier version began is undone as its journal says', async () => {
  const asked: (readonly ZoneRecord[])[] = []
  const remove = async (records: readonly ZoneRecord[]) => {
    asked.push(records)
    return 'removed' as const
  }
  const { parts } = zone(['yes', 'no'], { remove })
  const written = { ...RECORD, value: '127.0.45.7' }
  await claimNameStep(HOST, [RECORD], parts).undo({ records: [written] }, {}, note)
  expect(asked).toEqual([[written]])
})

describe('a name is released', () => {
  const release = ({ parts }: ReturnType<typeof zone>) =>
    releaseNameStep(HOST, [RECORD], parts).do({ records: [RECORD] }, {}, note)

  // A removal begins with this step: where our clock is wrong, no end of a host is enforced.
  test('and not where the server does not accept our time', async () => {
    const refusal = new DnsWriteFault('refused', 'The clock of this machine is 3600 s ahead (BADTIME).')
    const at = zone(['yes'], { assertAccess: () => Promise.reject(refusal) })
    const message = expect.stringContaining('3600 s ahead')
    await expect(release(at)).rejects.toMatchObject({ untouched: true, message })
    expect(at.sent).toEqual([])
  })

  test.each<[Held, string]>([
    ['partly', 'were changed outside Drawbridge'],
    ['unknown', 'gave no certain answer'],
  ])('and not while the server has them %s', async (held, sentence) => {
    const at = zone([held])
    await expect(release(at)).rejects.toThrow(sentence)
    expect(at.sent).toEqual([])
  })

  test('the removal of its records is read back', async () => {
    await release(zone(['yes', 'no']))
    await expect(release(zone(['yes', 'yes']))).rejects.toThrow('may still serve them (yes)')
  })
})

test('a repair overwrites records of others only if it is told to', async () => {
  const repair = (overwrite: boolean, { parts }: ReturnType<typeof zone>) =>
    repairNameStep(HOST, [RECORD], overwrite, parts).do({ found: [THEIRS] }, {}, note)
  const kept = zone([], {}, [THEIRS])
  await expect(repair(false, kept)).rejects.toMatchObject({ code: 'changed_elsewhere' })
  expect(kept.sent).toEqual([])
  const overwritten = zone([], {}, [THEIRS])
  await repair(true, overwritten)
  expect(overwritten.sent).toEqual(['replace'])
})

describe('an owner mark that names a plan is rewritten', () => {
  const mark: ZoneRecord = {
    ...RECORD,
    name: `_drawbridge.${HOST}`,
    type: 'TXT',
    value: `drawbridge plan_${'0'.repeat(26)}`,
  }
  const text = `drawbridge exposure_${'0'.repeat(26)}`
  const rewritten = { records: [RECORD, { ...mark, value: text }] }
  const rewrite = ({ parts }: ReturnType<typeof zone>) =>
    rewriteMarkStep(HOST, [RECORD, mark], text, parts).do({ records: [RECORD, mark] }, {}, note)

  test('in one update of the mark alone', async () => {
    const sent: unknown[] = []
    const at = zone([], {
      replace: async (...sets) => {
        sent.push(sets.slice(0, 2))
        return 'replaced'
      },
    })
    expect(await rewrite(at)).toEqual(rewritten)
    expect(sent).toEqual([[[mark], [{ ...mark, value: text }]]])
  })

  test('and after a lost answer or an interrupted attempt the new one is found', async () => {
    expect(await rewrite(zone(['yes'], { replace: lostAnswer }))).toEqual(rewritten)
    expect(await rewrite(zone(['yes'], { replace: async () => 'changed' }))).toEqual(rewritten)
  })

  test('and not where somebody changed it or nobody can tell', async () => {
    const changed: Partial<LeasedProvider> = { replace: async () => 'changed' }
    await expect(rewrite(zone(['no'], changed))).rejects.toMatchObject({ untouched: true, code: 'changed_elsewhere' })
    await expect(rewrite(zone(['unknown'], changed))).rejects.toThrow('no certain answer')
  })
})
