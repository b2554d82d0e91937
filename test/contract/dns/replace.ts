import { describe, expect, test } from 'vitest'
import type { DnsReader, ZoneRecord } from '../../../src/dns/contract.ts'
import { readSets } from '../../../src/dns/read-back.ts'
import { startAnswerThief } from '../../support/programs/answer-thief.ts'
import { address, type Bench, exposure, freshName, text, ZONE } from './bench.ts'

const alias = (name: string, value = `edge.${ZONE}`): ZoneRecord => ({ name, type: 'CNAME', ttl: 60, value })
const address6 = (name: string): ZoneRecord => ({ name, type: 'AAAA', ttl: 60, value: '2001:db8::45:23' })

const namesOf = (...lists: readonly (readonly ZoneRecord[])[]) => lists.flat().map(({ name }) => name)
const textOf = ({ name, type, ttl, value }: ZoneRecord) => `${name} ${ttl} ${type} ${value}`

/** What the server serves, and what is expected, in comparable form. */
async function standing(reader: DnsReader, names: readonly string[]): Promise<readonly string[]> {
  const found = await readSets(reader, names)
  return found === 'unknown' ? [found] : found.map(textOf).toSorted()
}
const listed = (records: readonly ZoneRecord[]) => records.map(textOf).toSorted()

/** What stands at the names of one exposure, and what is to stand there. */
const CASES: readonly [
  string,
  (host: ZoneRecord, mark: ZoneRecord) => { found: ZoneRecord[]; wanted: ZoneRecord[] },
][] = [
  ['a changed value', (host, mark) => ({ found: [address(host.name, '127.0.45.99'), mark], wanted: [host, mark] })],
  ['another mark', (host, mark) => ({ found: [host, text(mark.name, 'another')], wanted: [host, mark] })],
  ['a missing mark', (host, mark) => ({ found: [host], wanted: [host, mark] })],
  ['a missing address', (host, mark) => ({ found: [mark], wanted: [host, mark] })],
  ['both missing', (host, mark) => ({ found: [], wanted: [host, mark] })],
  ['a CNAME in the place of an A', (host, mark) => ({ found: [alias(host.name), mark], wanted: [host, mark] })],
  [
    'several A and an AAAA in the place of a CNAME',
    (host, mark) => ({
      found: [host, address(host.name, '127.0.45.99'), address6(host.name), mark],
      wanted: [alias(host.name), mark],
    }),
  ],
  [
    'another target of a CNAME',
    (host, mark) => ({ found: [alias(host.name, 'else.where.test'), mark], wanted: [alias(host.name), mark] }),
  ],
  ['another TTL', (host, mark) => ({ found: [{ ...host, ttl: 3600 }, mark], wanted: [host, mark] })],
  [
    'another TTL and an additional value',
    (host, mark) => ({
      found: [{ ...host, ttl: 3600 }, { ...address(host.name, '127.0.45.99'), ttl: 3600 }, mark],
      wanted: [host, mark],
    }),
  ],
  ['a text beside the address', (host, mark) => ({ found: [text(host.name, 'theirs')], wanted: [host, mark] })],
  ['everything removed', (host, mark) => ({ found: [host, mark], wanted: [] })],
]

export function replaceSuite(on: () => Bench): void {
  describe('replace', () => {
    test.each(CASES)('corrects %s, and the undo restores it exactly', async (_, caseOf) => {
      const { provider, reader } = on()
      const { found, wanted } = caseOf(...exposure(freshName()))
      const names = namesOf(found, wanted)
      if (found.length > 0) await provider.create(found)
      expect(await standing(reader, names)).toEqual(listed(found))
      expect(await provider.replace(found, wanted)).toBe('replaced')
      expect(await standing(reader, names)).toEqual(listed(wanted))
      expect(await provider.replace(wanted, found)).toBe('replaced')
      expect(await standing(reader, names)).toEqual(listed(found))
    })

    test('takes what readSets found, and gives it back', async () => {
      const { provider, reader } = on()
      const [host, mark] = exposure(freshName())
      const names = namesOf([host, mark])
      await provider.create([
        { ...address6(host.name), ttl: 300 },
        text(mark.name, 'x'.repeat(300)),
        text(mark.name, ''),
      ])
      const found = await readSets(reader, names)
      if (found === 'unknown') throw new Error('The server gave no reliable answer.')
      expect(found).toHaveLength(3)
      expect(await provider.replace(found, [host, mark])).toBe('replaced')
      expect(await provider.replace([host, mark], found)).toBe('replaced')
      expect(await readSets(reader, names)).toEqual(expect.arrayContaining([...found]))
    })

    test('changes nothing where all is as wanted', async () => {
      const { provider, serial } = on()
      const records = exposure(freshName())
      await provider.create(records)
      const before = await serial()
      expect(await provider.replace(records, records)).toBe('replaced')
      expect(await serial()).toBe(before)
    })

    test('keeps records of a type that neither list names', async () => {
      const { provider, reader } = on()
      const [host, mark] = exposure(freshName())
      const found = [address(host.name, '127.0.45.99')]
      const theirs = text(host.name, 'not ours')
      await provider.create([...found, theirs])
      expect(await provider.replace(found, [host, mark])).toBe('replaced')
      expect(await standing(reader, namesOf([host, mark]))).toEqual(listed([host, theirs, mark]))
    })

    test.each<[string, (host: ZoneRecord, mark: ZoneRecord) => { found: ZoneRecord[]; now: ZoneRecord[] }]>([
      ['another value', (host) => ({ found: [host], now: [address(host.name, '127.0.45.98')] })],
      ['an additional value', (host) => ({ found: [host], now: [host, address(host.name, '127.0.45.98')] })],
      ['a value less', (host) => ({ found: [host, address(host.name, '127.0.45.98')], now: [host] })],
      ['nothing left', (host) => ({ found: [host], now: [] })],
      ['a CNAME instead', (host) => ({ found: [host], now: [alias(host.name)] })],
      ['a mark that was not there', (host, mark) => ({ found: [host], now: [host, text(mark.name, 'new')] })],
      ['an alias as mark', (host, mark) => ({ found: [host], now: [host, alias(mark.name)] })],
      ['a host that was not there', (host, mark) => ({ found: [mark], now: [address6(host.name), mark] })],
      [
        'an address that was not there beside a text',
        (host) => ({
          found: [text(host.name, 'theirs')],
          now: [text(host.name, 'theirs'), address(host.name, '127.0.45.98')],
        }),
      ],
    ])('writes nothing where somebody made it %s in between', async (_, caseOf) => {
      const { provider, reader, serial } = on()
      const [host, mark] = exposure(freshName())
      const { found, now } = caseOf(host, mark)
      if (now.length > 0) await provider.create(now)
      const before = await serial()
      expect(await provider.replace(found, [{ ...host, value: '127.0.45.97' }, mark])).toBe('changed')
      expect(await serial()).toBe(before)
      expect(await standing(reader, namesOf([host, mark]))).toEqual(listed(now))
    })

    test('adds no alias beside a record that was not found, where a server would silently ignore it', async () => {
      const { provider, reader } = on()
      const host = address(freshName())
      const theirs = text(host.name, 'not found')
      await provider.create([host, theirs])
      expect(await provider.replace([host], [alias(host.name)])).toBe('changed')
      expect(await standing(reader, [host.name])).toEqual(listed([host, theirs]))
    })

    test('refuses an alias beside another record before anything is sent', async () => {
      const name = freshName()
      const replacing = on().provider.replace([], [alias(name), text(name, 'beside')])
      await expect(replacing).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(/was not sent: .*CNAME/),
      })
    })

    test('succeeds for one of ten at the same time', async () => {
      const { provider, reader } = on()
      const found = exposure(freshName())
      await provider.create(found)
      const rivals = Array.from({ length: 10 }, (_, i) => [address(found[0].name, `127.0.1.${i + 1}`), found[1]])
      const outcomes = await Promise.all(rivals.map((wanted) => provider.replace(found, wanted)))
      expect(outcomes.toSorted()).toEqual([...Array(9).fill('changed'), 'replaced'])
      const winner = rivals[outcomes.indexOf('replaced')] ?? []
      expect(await standing(reader, namesOf(found))).toEqual(listed(winner))
    })

    test('has an unknown outcome when the answer is lost, and reading back shows the records', async () => {
      const { host, provider, providerWith, reader } = on()
      await using thief = await startAnswerThief(host.endpoint)
      const found = exposure(freshName())
      const wanted = [address(found[0].name, '127.0.45.99'), found[1]]
      await provider.create(found)
      const replacing = providerWith({ primary: thief }).replace(found, wanted)
      await expect(replacing).rejects.toMatchObject({ kind: 'unknown' })
      expect(await standing(reader, namesOf(found))).toEqual(listed(wanted))
    })

    test('sends nothing without the lease', async () => {
      const { provider, serial } = on()
      const found = exposure(freshName())
      await provider.create(found)
      const before = await serial()
      const guard = {
        assertHeld: () => undefined,
        ensureHeld: async () => {
          throw new Error('The lease is lost.')
        },
        leftMs: 0,
      }
      await expect(provider.replace(found, [], guard)).rejects.toThrow('The lease is lost.')
      expect(await serial()).toBe(before)
    })
  })
}
