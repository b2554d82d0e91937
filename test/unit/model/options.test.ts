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
    for (const given of [{}, { websocket: true, buffering: true }, { allow: [], timeouts: {}, headers: {} }])
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

  test('knows when maintenance says nothing of its length', () => {
    expect(read({ maintenance: {} })).toEqual({ maintenance: { retryAfter: 300 } })
  })

  test('names every bad field', () => {
    const { errors } = { errors: undefined, ...readOptions({ maxBody: 'x', timeouts: { read: 0 }, raw: 1 }) }
    expect(errors?.map(({ field }) => field)).toEqual(['options.maxBody', 'options.timeouts.read', 'options.raw'])
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
