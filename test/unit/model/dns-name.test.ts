import { describe, expect, test } from 'vitest'
import { nameUnder, parseLabel, parseName, selfAndAncestors } from '../../../src/model/dns-name.ts'
import { fc, forAll } from '../../support/fast-check.ts'

describe('labels', () => {
  test.each(['hello', 'HeLLo-1', 'a'.repeat(63), 'xn--bcher-kva', 'XN--BCHER-KVA'])(
    '%s is read in lower case',
    (text) => expect(parseLabel(text)).toBe(text.toLowerCase()),
  )

  const STRANGE = [...'_ \n;{}$"\'#\0./'].map((letter) => `a${letter}b`)
  const NONE = [
    '',
    '-a',
    'a-',
    'a.b',
    '_a',
    '*',
    'büch',
    'ａ',
    '\u212a',
    'a'.repeat(64),
    'xn--',
    'xn--a',
    'ex%61mple',
    '../a',
  ]
  test.each([...STRANGE, ...NONE, 'xn--zzzzzzzzzz999999', 'a\n', 'a;'])('%j is none', (text) =>
    expect(parseLabel(text)).toBeUndefined(),
  )

  test('only letters, digits and hyphens ever come out', () =>
    forAll(fc.string({ unit: 'binary' }), (text) => /^[a-z0-9-]{1,63}$/.test(parseLabel(text) ?? 'ok')))
})

describe('names', () => {
  test('one spelling: case and one trailing dot make no difference', () => {
    expect(parseName('EXAMPLE.test.')).toBe('example.test')
    expect(parseName('example.test..')).toBeUndefined()
    expect(parseName('.example.test')).toBeUndefined()
    expect(parseName('')).toBeUndefined()
  })

  test('at most 253 characters', () => {
    const zone = ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63), 'd'.repeat(58)].join('.')
    expect(parseName(zone)).toBe(zone)
    expect(nameUnder(zone, 'ab')).toHaveLength(253)
    expect(nameUnder(zone, 'abc')).toBeUndefined()
  })

  test('ancestors, nearest first', () => expect(selfAndAncestors('a.b.test')).toEqual(['a.b.test', 'b.test', 'test']))
})
