import { describe, expect, test } from 'vitest'
import { parseStrictJson } from '../../../src/http/guard/strict-json.ts'
import { Problem } from '../../../src/model/errors.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const parse = (text: string) => parseStrictJson(Buffer.from(text))

describe('strict JSON', () => {
  test('reads whatever JSON.stringify writes', () => {
    const safeKey = fc.string().filter((key) => key !== '__proto__' && key !== 'constructor')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 0 }),
        fc.array(tie('value')),
        fc.dictionary(safeKey, tie('value')),
      ),
    }))
    forAll(value, (sample) => {
      expect(parse(JSON.stringify(sample))).toEqual(JSON.parse(JSON.stringify(sample)))
    })
  })

  test.each([
    ['{"a":1,"a":2}', 'twice'],
    ['{"a":1,"\\u0061":2}', 'twice'],
    ['{"b":{"a":1, "a" :2}}', 'twice'],
    ['{"__proto__":{}}', 'not allowed'],
    ['{"x":{"\\u005f_proto__":1}}', 'not allowed'],
    ['{"constructor":{"prototype":{}}}', 'not allowed'],
    ['{"a":1', 'not valid JSON'],
    ['', 'not valid JSON'],
    ['\uFEFF{}', 'not valid JSON'],
  ])('%j is refused', (text, reason) => expect(() => parse(text)).toThrow(reason))

  test('bytes that are not UTF-8 are refused', () =>
    expect(() => parseStrictJson(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))).toThrow('UTF-8'))

  test('keys may repeat in different objects and inside strings', () =>
    expect(parse('[{"a":1},{"a":"{\\"a\\":1}"}]')).toEqual([{ a: 1 }, { a: '{"a":1}' }]))

  test('throws nothing but its own problem, whatever comes', () =>
    forAll(fc.uint8Array(), (bytes) => {
      try {
        parseStrictJson(Buffer.from(bytes))
      } catch (error) {
        expect(error).toBeInstanceOf(Problem)
      }
    }))
})
