import { describe, expect, test } from 'vitest'
import type { ZoneRecord } from '../../../src/dns/contract.ts'
import { holdsExactly } from '../../../src/dns/read-back.ts'
import { address, type Bench, exposure, freshName, text, ZONE } from './bench.ts'

export function changeSuite(on: () => Bench): void {
  describe('create', () => {
    test('adds all records at once, and a second create finds the name in use', async () => {
      const { provider, reader } = on()
      const records = exposure(freshName())
      expect(await holdsExactly(reader, records)).toBe('no')
      expect(await provider.create(records)).toBe('created')
      expect(await holdsExactly(reader, records)).toBe('yes')
      expect(await provider.create(records)).toBe('in_use')
    })

    test.each(['the host', 'the owner mark'])('adds nothing where only the name of %s is in use', async (which) => {
      const { provider, reader } = on()
      const [host, mark] = exposure(freshName())
      const taken = text(which === 'the host' ? host.name : mark.name, 'somebody else')
      await provider.addValue(taken)
      expect(await provider.create([host, mark])).toBe('in_use')
      expect(await holdsExactly(reader, [host, mark])).toBe('no')
      expect(await holdsExactly(reader, [taken])).toBe('yes')
    })

    test('succeeds for one of twenty at the same time, and the zone has the records of that one', async () => {
      const { provider, reader } = on()
      const name = freshName()
      const rivals = Array.from({ length: 20 }, (_, i) => [
        address(name, `127.0.0.${i + 1}`),
        text(`_drawbridge.${name}`, `rival ${i}`),
      ])
      const outcomes = await Promise.all(rivals.map((records) => provider.create(records)))
      expect(outcomes.toSorted()).toEqual(['created', ...Array(19).fill('in_use')])
      expect(await holdsExactly(reader, rivals[outcomes.indexOf('created')] ?? [])).toBe('yes')
    })

    test.each<[string, (name: string) => ZoneRecord[]]>([
      ['a CNAME', (name) => [{ name, type: 'CNAME', ttl: 60, value: `edge.${ZONE}` }]],
      ['a CNAME out of the zone', (name) => [{ name, type: 'CNAME', ttl: 60, value: 'edge.elsewhere.test' }]],
      ['an AAAA beside an A', (name) => [address(name), { name, type: 'AAAA', ttl: 60, value: '2001:db8::45:23' }]],
      ['several A', (name) => [address(name), address(name, '127.0.45.73')]],
      ['a text of 300 octets', (name) => [text(name, 'drawbridge '.repeat(28).slice(0, 300))]],
      ['a text with quotes, backslashes and semicolons', (name) => [text(name, 'a "b" \\ c; d')]],
      ['a text beyond ASCII', (name) => [text(name, 'Zugbrücke')]],
    ])('writes %s unchanged, and remove deletes it', async (_, recordsAt) => {
      const { provider, reader } = on()
      const records = recordsAt(freshName())
      expect(await provider.create(records)).toBe('created')
      expect(await holdsExactly(reader, records)).toBe('yes')
      expect(await provider.remove(records)).toBe('removed')
      expect(await holdsExactly(reader, records)).toBe('no')
    })

    test('writes the given TTL', async () => {
      const { provider, reader } = on()
      const record = { ...address(freshName()), ttl: 77 }
      await provider.create([record])
      const [outcome] = await reader.ask([record])
      expect(outcome).toMatchObject({ answers: [{ ttl: 77 }] })
    })
  })

  describe('remove', () => {
    test('deletes the records, and both names are free again', async () => {
      const { provider, reader } = on()
      const records = exposure(freshName())
      await provider.create(records)
      expect(await provider.remove(records)).toBe('removed')
      const outcomes = await reader.ask(records)
      expect(outcomes).toMatchObject([{ rcode: 'NXDOMAIN' }, { rcode: 'NXDOMAIN' }])
      expect(await provider.remove(records)).toBe('changed')
      expect(await provider.create(records)).toBe('created')
    })

    test('deletes nothing when a value differs', async () => {
      const { provider, reader } = on()
      const [host, mark] = exposure(freshName())
      await provider.create([host, mark])
      expect(await provider.remove([{ ...host, value: '127.0.45.99' }, mark])).toBe('changed')
      expect(await provider.remove([host, { ...mark, value: 'another exposure' }])).toBe('changed')
      expect(await holdsExactly(reader, [host, mark])).toBe('yes')
    })

    test('deletes nothing when somebody added a second address', async () => {
      const { provider, reader } = on()
      const [host, mark] = exposure(freshName())
      const second = address(host.name, '127.0.45.99')
      await provider.create([host, mark])
      await provider.addValue(second)
      expect(await provider.remove([host, mark])).toBe('changed')
      expect(await holdsExactly(reader, [host, second, mark])).toBe('yes')
    })

    test('keeps records of another type at the same name', async () => {
      const { provider, reader } = on()
      const [host, mark] = exposure(freshName())
      const theirs = text(host.name, 'not ours')
      await provider.create([host, mark])
      await provider.addValue(theirs)
      expect(await provider.remove([host, mark])).toBe('removed')
      expect(await holdsExactly(reader, [theirs])).toBe('yes')
    })
  })

  describe('single values', () => {
    test('are added once, and deleted without the others', async () => {
      const { provider, reader } = on()
      const name = `_acme-challenge.${freshName()}`
      const [one, two] = [text(name, 'first challenge'), text(name, 'second challenge')]
      for (const value of [one, one, two]) await provider.addValue(value)
      expect(await holdsExactly(reader, [one, two])).toBe('yes')
      for (const value of [one, one]) await provider.removeValue(value)
      expect(await holdsExactly(reader, [two])).toBe('yes')
      await provider.removeValue(two)
      expect(await holdsExactly(reader, [two])).toBe('no')
    })

    test('are refused next to a CNAME, where a server would silently ignore them', async () => {
      const { provider, reader } = on()
      const alias = { name: freshName(), type: 'CNAME', ttl: 60, value: `edge.${ZONE}` } as const
      await provider.create([alias])
      const adding = provider.addValue(text(alias.name, 'challenge'))
      await expect(adding).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('CNAME') })
      expect(await holdsExactly(reader, [alias])).toBe('yes')
    })
  })

  test('a test update changes nothing', async () => {
    const { provider, serial } = on()
    await provider.create(exposure(freshName()))
    const before = await serial()
    await provider.checkAccess()
    expect(await serial()).toBe(before)
  })
}
