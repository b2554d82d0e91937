import { describe, expect, test } from 'vitest'
import { holdsExactly } from '../../../src/dns/read-back.ts'
import { startBindHost } from '../../support/dns/bind.ts'
import { startKnot } from '../../support/dns/knot.ts'
import { startPowerDns } from '../../support/dns/powerdns.ts'
import { randomKey } from '../../support/dns/served-zone.ts'
import { benchOn, exposure, freshName } from './bench.ts'
import { changeSuite } from './changes.ts'
import { readBackSuite } from './read-back.ts'
import { refusalSuite } from './refusals.ts'
import { replaceSuite } from './replace.ts'
import { startSimulated } from './simulated.ts'

describe.each([
  { name: 'BIND', start: startBindHost, complains: true },
  { name: 'Knot', start: startKnot, complains: true },
  { name: 'PowerDNS', start: startPowerDns, complains: false },
  { name: 'the simulated name server', start: startSimulated, complains: true },
])('RFC 2136 on $name', ({ start, complains }) => {
  const on = benchOn(start)
  changeSuite(on)
  replaceSuite(on)
  refusalSuite(on, complains)
  readBackSuite(on)

  describe('during the rollover of its key', () => {
    test.each(['before', 'after'])('the server knows only the one %s', async (side) => {
      const { key, providerWith, reader } = on()
      const nobody = randomKey('nobody')
      const keys = side === 'before' ? { key, nextKey: nobody } : { key: nobody, nextKey: key }
      const provider = providerWith(keys)
      const records = exposure(freshName())
      expect(await provider.create(records)).toBe('created')
      expect(await provider.create(records)).toBe('in_use')
      expect(await holdsExactly(reader, records)).toBe('yes')
      expect(await provider.remove(records)).toBe('removed')
      await provider.checkAccess()
    })

    test('the server knows neither', async () => {
      const { providerWith, serial } = on()
      const before = await serial()
      const provider = providerWith({ key: randomKey('nobody'), nextKey: randomKey('other') })
      const kind = complains ? 'refused' : 'unknown'
      await expect(provider.create(exposure(freshName()))).rejects.toMatchObject({ kind })
      expect(await serial()).toBe(before)
    })
  })

  describe('with a key for hmac-sha512', () => {
    const onLongHash = benchOn(start, 'hmac-sha512')

    test('changes are made and undone', async () => {
      const { provider, reader } = onLongHash()
      const records = exposure(freshName())
      await provider.checkAccess()
      expect(await provider.create(records)).toBe('created')
      expect(await holdsExactly(reader, records)).toBe('yes')
      expect(await provider.remove(records)).toBe('removed')
    })
  })
})
