import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** Two spellings of one name are one host, or one of them is refused: nobody exposes a name twice. */
const label = (character: string, length = 63) => character.repeat(length)
/** 200 octets: with a label under it a name can be exactly as long as DNS allows, or longer. */
const long = `${label('a')}.${label('b')}.${label('c')}.${label('d', 3)}.test`
const LONGEST_NAME = 253
let site: Site

beforeAll(async () => {
  site = await startSite({ sockets: false, zones: ['lab.test', long] })
})

afterAll(() => site.stop())

describe('one host', () => {
  test.each([
    ['lab.test', 'hello'],
    ['LAB.TEST', 'HELLO'],
    ['LAB.TEST.', 'hello'],
    ['lab.test.', 'hEllO'],
    ['Lab.tesT', 'Hello'],
  ])('%s and %s', async (zone, subdomain) => {
    const { status, body } = await site.plan({ zone, subdomain })
    expect(status).toBe(201)
    expect(body.host).toBe('hello.lab.test')
    expect(body.request).toMatchObject({ zone: 'lab.test', subdomain: 'hello' })
  })

  test('the same digest, whatever the spelling', async () => {
    const plans = [await site.plan(), await site.plan({ zone: 'LAB.test.', subdomain: 'HELLO' })]
    expect(plans[0]?.body.digest).toBe(plans[1]?.body.digest)
  })

  test('a real A-label is a label', async () => {
    const { status, body } = await site.plan({ subdomain: 'XN--bcher-KVA' })
    expect([status, body.host]).toEqual([201, 'xn--bcher-kva.lab.test'])
  })
})

describe('a name that is none', () => {
  test.each([
    ['two trailing dots', { zone: 'lab.test..' }],
    ['only a dot', { zone: '.' }],
    ['nothing', { zone: '' }],
    ['an empty label', { zone: 'lab..test' }],
    ['a leading dot', { zone: '.lab.test' }],
    ['a dot in the label', { subdomain: 'a.b' }],
    ['a trailing dot in the label', { subdomain: 'hello.' }],
    ['the whole name as the label', { subdomain: 'hello.lab.test' }],
    ['Unicode', { subdomain: 'bücher' }],
    ['a wide letter', { subdomain: 'ｈello' }],
    ['the Kelvin sign', { subdomain: '\u212aelvin' }],
    ['a dotless i', { subdomain: 'h\u0131' }],
    ['an ideographic full stop', { zone: 'lab\u3002test' }],
    ['a soft hyphen', { subdomain: 'hel\u00adlo' }],
    ['a zero-width joiner', { subdomain: 'hel\u200dlo' }],
    ['64 octets', { subdomain: label('a', 64) }],
    ['a hyphen first', { subdomain: '-hello' }],
    ['a hyphen last', { subdomain: 'hello-' }],
    ['an underscore', { subdomain: '_acme-challenge' }],
    ['an owner mark', { subdomain: '_drawbridge' }],
    ['a wildcard', { subdomain: '*' }],
    ['the zone itself', { subdomain: '@' }],
    ['nothing as a label', { subdomain: '' }],
    ['xn-- and nothing', { subdomain: 'xn--' }],
    ['xn-- junk', { subdomain: 'xn--zzzzzzzz99999' }],
    ['xn-- of plain letters', { subdomain: 'xn--hello-' }],
    ['an address', { zone: '127.0.0.1' }],
    ['a numeric zone', { zone: '1.2.3.4' }],
    ['an escape', { zone: 'lab%2etest' }],
    ['a decimal escape', { zone: 'lab\\046test' }],
  ])('%s is refused', async (_name, overrides) => {
    const { status, body } = await site.plan(overrides)
    const [field] = Object.keys(overrides)
    expect([status, body.code, body.errors?.[0]?.field]).toEqual(
      status === 422 ? [422, 'zone_not_managed', field] : [400, 'invalid_request', field],
    )
  })
})

describe('a long name', () => {
  const over = (length: number) => label('x', length - long.length - 1)

  test.each([LONGEST_NAME + 1, LONGEST_NAME + 10])('of %i octets is refused', async (length) => {
    const { status, body } = await site.plan({ zone: long, subdomain: over(length) })
    expect([status, body.errors]).toMatchObject([400, [{ field: 'subdomain' }]])
  })

  test('that leaves no room for its owner mark is refused before anything is asked', async () => {
    const mark = '_drawbridge.'.length
    for (let length = LONGEST_NAME - mark + 1; length <= LONGEST_NAME; length += mark - 1) {
      const { status, body } = await site.plan({ zone: long, subdomain: over(length) })
      expect([status, body.errors]).toMatchObject([400, [{ field: 'subdomain' }]])
    }
    const { status, body } = await site.plan({ zone: long, subdomain: over(LONGEST_NAME - mark) })
    expect([status, body.host?.length]).toEqual([201, LONGEST_NAME - mark])
  })

  test('of 100 KB is refused for its size', async () => {
    for (const field of ['zone', 'subdomain']) {
      const { status } = await site.plan({ [field]: 'a-'.repeat(50_000) })
      expect(status).toBe(413)
      const { body } = await site.plan({ [field]: 'a-'.repeat(7_000) })
      expect(body.errors).toMatchObject([{ field }])
    }
  })
})

test('none of the refused was stored', () => {
  expect(stored(site.api).plans).toBe(9)
})
