import { describe, expect, test } from 'vitest'
import { nameUnder, parseLabel, parseName, selfAndAncestors } from '../../../src/model/dns-name.ts'
import { fc } from '../../support/fast-check.ts'

describe('labels', () => {
  test.each([
    ['hello', 'hello'],
    ['HeLLo-1', 'hello-1'],
    ['a'.repeat(63), 'a'.repeat(63)],
    ['xn--bcher-kva', 'xn--bcher-kva'],
    ['XN--BCHER-KVA', 'xn--bcher-kva'],
  ])('%s is %s', (text, label) => expect(parseLabel(text)).toBe(label))

  test.each([
    '',
    '-a',
    'a-',
    'a.b',
    'a_b',
    '_a',
    'a b',
    'a\n',
    'a;',
    'a{',
    'a}',
    'a$',
    'a"',
    "a'",
    'a#',
    'a\0',
    '*',
    'büch',
    'ａ',
    '\u212a',
    'a'.repeat(64),
    'xn--',
    'xn--a',
    'xn--zzzzzzzzzz999999',
    'ex%61mple',
    '../a',
    'a/b',
  ])('%j is none', (text) => expect(parseLabel(text)).toBeUndefined())

  test('only letters, digits and hyphens ever come out', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => /^[a-z0-9-]{1,63}$/.test(parseLabel(text) ?? 'ok')))
  })
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

  test('ancestors, nearest first', () => {
    expect(selfAndAncestors('a.b.test')).toEqual(['a.b.test', 'b.test', 'test'])
  })
})
