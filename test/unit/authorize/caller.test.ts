import { describe, expect, test } from 'vitest'
import { CallerRules } from '../../../src/authorize/caller.ts'
import { parseAddress } from '../../../src/model/address.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const INSIDE = ['192.168.45.0/24']
const direct = new CallerRules(INSIDE, [])
const proxied = new CallerRules(INSIDE, ['192.168.45.2', '10.0.0.1'])
const via = (forwarded: string | undefined, peer = '192.168.45.2') =>
  proxied.identify(peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded })

describe('without a proxy', () => {
  test.each([
    ['192.168.45.9', 'internal', '192.168.45.9'],
    ['::ffff:192.168.45.9', 'internal', '192.168.45.9'],
    ['::FFFF:c0a8:2d09', 'internal', '192.168.45.9'],
    ['192.168.46.9', 'public', '192.168.46.9'],
    ['2001:DB8:0::1', 'public', '2001:db8::1'],
    ['', 'public', 'unknown'],
  ])('%s is %s', (peer, network, address) => expect(direct.identify(peer, {})).toMatchObject({ network, address }))

  test.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-proto'])(
    '%s from an internal peer makes it public',
    (name) => {
      const caller = direct.identify('192.168.45.9', { [name]: '192.168.45.10' })
      expect(caller).toEqual({ address: '192.168.45.9', network: 'public', unconfiguredProxy: true })
    },
  )

  test('no header of any content turns public into internal', () =>
    forAll(fc.dictionary(fc.string(), fc.string()), fc.string(), (headers, forwarded) => {
      const all = { ...headers, 'x-forwarded-for': forwarded }
      return direct.identify('198.51.100.7', all).network === 'public'
    }))

  test('an empty list means nobody', () =>
    expect(new CallerRules([], []).identify('192.168.45.9', {}).network).toBe('public'))
})

test.each([
  ['192.168.45.9', 'internal', '192.168.45.9'],
  ['192.168.45.9, 198.51.100.7', 'public', '198.51.100.7'],
  ['198.51.100.7, 192.168.45.9', 'internal', '192.168.45.9'],
  ['198.51.100.7, 10.0.0.1', 'public', '198.51.100.7'],
  ['192.168.45.9, nonsense', 'public', '192.168.45.2'],
  ['192.168.45.9,', 'public', '192.168.45.2'],
  ['192.168.45.9:1234', 'public', '192.168.45.2'],
  ['10.0.0.1, 192.168.45.2', 'public', '192.168.45.2'],
  [undefined, 'public', '192.168.45.2'],
  ['', 'public', '192.168.45.2'],
])('behind a trusted proxy, X-Forwarded-For: %s', (forwarded, network, address) =>
  expect(via(forwarded)).toMatchObject({ network, address }),
)

test('behind a trusted proxy, doubled headers are read as one list, from the right', () => {
  const caller = proxied.identify('192.168.45.2', { 'x-forwarded-for': ['192.168.45.9', '198.51.100.7'] })
  expect(caller).toMatchObject({ network: 'public', address: '198.51.100.7' })
})

const OTHER_SPELLINGS = ['192.168.045.7', '127.1', '0x7f.1', '192.168.45', '1.2.3.4.5', ' 1.2.3.4', '1.2.3.4\n']
test.each([...OTHER_SPELLINGS, '::ffff:999.1.1.1'])('an address has one spelling: %j is none', (text) =>
  expect(parseAddress(text)).toBeUndefined(),
)

test('an address has one spelling: IPv4 and its mapped forms are one', () =>
  forAll(fc.ipV4(), (v4) => {
    const hex = v4.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
    return (
      parseAddress(`::ffff:${v4}`) === v4 && parseAddress(`0:0:0:0:0:FFFF:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`) === v4
    )
  }))
