import { describe, expect, test } from 'vitest'
import { holdsExactly, readSets } from '../../../src/dns/read-back.ts'
import { address, type Bench, exposure, freshName, text } from './bench.ts'

export function readBackSuite(on: () => Bench): void {
  describe('reading back', () => {
    test('distinguishes a part of the records from all', async () => {
      const { provider, reader } = on()
      const [host, mark] = exposure(freshName())
      await provider.create([host])
      expect(await holdsExactly(reader, [host, mark])).toBe('partly')
    })

    test('finds an additional value, and another value in place of ours', async () => {
      const { provider, reader } = on()
      const ours = address(freshName())
      const theirs = address(ours.name, '127.0.45.99')
      await provider.addValue(theirs)
      expect(await holdsExactly(reader, [ours])).toBe('no')
      await provider.addValue(ours)
      expect(await holdsExactly(reader, [ours])).toBe('partly')
      expect(await holdsExactly(reader, [ours, theirs])).toBe('yes')
    })

    test('does not take a wildcard for the name, nor the name for a wildcard', async () => {
      const { provider, reader } = on()
      const parent = freshName()
      const [host, mark] = exposure(`app.${parent}`)
      await provider.addValue({ ...host, name: `*.${parent}` })
      await provider.addValue({ ...mark, name: `*.${parent}` })
      expect(await reader.ask([host])).toMatchObject([{ answers: [{ owner: host.name }] }])
      expect(await holdsExactly(reader, [host, mark])).toBe('no')
      expect(await provider.create([host, mark])).toBe('created')
      await provider.addValue({ ...host, name: `*.${host.name}` })
      expect(await holdsExactly(reader, [host, mark])).toBe('yes')
    })

    test('of all sets finds the own records of the names, and none of a wildcard', async () => {
      const { provider, reader } = on()
      const parent = freshName()
      const [host, mark] = exposure(`app.${parent}`)
      const names = [host.name, mark.name, host.name]
      for (const record of [host, mark]) await provider.addValue({ ...record, name: `*.${parent}` })
      expect(await readSets(reader, names)).toEqual([])
      const own = { ...host, ttl: 77 }
      await provider.create([own, mark])
      await provider.addValue({ ...host, name: `*.${host.name}` })
      expect(await readSets(reader, names)).toEqual([own, mark])
    })

    test('follows no alias', async () => {
      const { provider, reader } = on()
      const target = address(freshName())
      const alias = { name: freshName(), type: 'CNAME', ttl: 60, value: target.name } as const
      await provider.create([target])
      await provider.create([alias])
      expect(await holdsExactly(reader, [{ ...target, name: alias.name }])).toBe('no')
    })

    test('works for a name that is too long for a name below it', async () => {
      const { provider, reader } = on()
      const longest = text(`${`${'a'.repeat(59)}.`.repeat(4)}${freshName()}`.slice(-253), 'long')
      expect(longest.name).toHaveLength(253)
      expect(await provider.create([longest])).toBe('created')
      expect(await holdsExactly(reader, [longest])).toBe('yes')
    })
  })
}
