import { describe, expect, test } from 'vitest'
import { areCanonical, readOptions } from '../../../src/model/options/read-options.ts'
import { hostileOptions } from '../../support/http/hostile-options.ts'

const read = (given: unknown) => {
  const result = readOptions(given)
  if (result.errors) throw new Error(JSON.stringify(result.errors))
  return result.options
}

describe('reading options', () => {
  test('leaves out what has its default, so that such a request is one without options', () => {
    for (const given of [{}, { websocket: true, buffering: true }, { timeouts: {}, headers: {} }])
      expect(read(given)).toBeUndefined()
  })

  test('gives equal options equal text', () => {
    const one = read({ websocket: false, maxBody: '5m', allow: ['2001:DB8:0::/32', '10.0.0.1', '10.0.0.1/32'] })
    expect(one).toEqual({ maxBody: '5m', websocket: false, allow: ['2001:db8::/32', '10.0.0.1/32'] })
    expect(JSON.stringify(one)).toBe(JSON.stringify(read(one)))
    expect(areCanonical(one)).toBe(true)
    expect(areCanonical({ websocket: false, maxBody: '5m' })).toBe(false)
    expect(areCanonical({ maxBody: '5m', websocket: true })).toBe(false)
  })

  test('knows when maintenance says nothing of its length', () =>
    expect(read({ maintenance: {} })).toEqual({ maintenance: { retryAfter: 300 } }))

  test('names every bad field', () => {
    const { errors } = { errors: undefined, ...readOptions({ maxBody: 'x', timeouts: { read: 0 }, raw: 1 }) }
    expect(errors?.map(({ field }) => field)).toEqual(['options.maxBody', 'options.timeouts.read', 'options.raw'])
  })

  test.each([
    ['timeouts.connect', (value: number) => ({ timeouts: { connect: value } }), 1, 75],
    ['headers.hsts.maxAge', (value: number) => ({ headers: { hsts: { maxAge: value } } }), 0, 63_072_000],
    ['maintenance.retryAfter', (value: number) => ({ maintenance: { retryAfter: value } }), 1, 86_400],
    ['backends.0.port', (value: number) => ({ backends: [{ server: '25', port: value }] }), 1, 65_535],
  ])('takes both bounds of %s, and nothing beyond them', (field, options, lowest, highest) => {
    for (const value of [lowest, highest]) expect(readOptions(options(value)).errors).toBeUndefined()
    for (const value of [lowest - 1, highest + 1, lowest + 0.5])
      expect(readOptions(options(value)).errors).toMatchObject([{ field: `options.${field}` }])
  })

  test('refuses what is missing, mapped or too long, and repeats no name that it does not know', () => {
    const fields = (given: unknown) => readOptions(given).errors?.map(({ field }) => field)
    expect(fields({ backendTls: { name: 'a.test' } })).toEqual(['options.backendTls.authority'])
    for (const mapped of ['::ffff:10.0.0.0/104', '::ffff:10.0.0.1', '::ffff:10.0.0.1/128'])
      expect(fields({ allow: [mapped] }), mapped).toEqual(['options.allow.0'])
    expect(fields({ backendTls: { authority: 'a', name: `${'a.'.repeat(200)}test` } })).toEqual([
      'options.backendTls.name',
    ])
    expect(fields({ 'a; include x': 1, [`${'x'.repeat(33)}`]: 1 })).toEqual(['options.?', 'options.?'])
  })

  test('refuses an object that inherits its members, and one with a poisoned prototype', () => {
    expect(read(Object.create({ maxBody: '1m' }))).toBeUndefined()
    expect(readOptions(JSON.parse('{"__proto__":{"maxBody":"1m"}}')).errors).toHaveLength(1)
  })

  test('lets no hostile value through', () => {
    for (const [field, options] of hostileOptions()) {
      const { errors } = { errors: undefined, ...readOptions(options) }
      expect(errors?.[0]?.field, JSON.stringify(options)).toBe(field)
      expect(areCanonical(options)).toBe(false)
    }
  })
})
