import { expect, test } from 'vitest'
import { PARTS, parseArguments, USAGE } from '../../../bench/arguments.ts'
import { rateIn } from '../../../bench/wrk.ts'

test('without arguments every part runs and the table is written', () =>
  expect(parseArguments([])).toEqual({ parts: PARTS, isShort: false, isWritten: true }))

test('one part, or a short form, is printed only', () => {
  expect(parseArguments(['serve'])).toEqual({ parts: ['serve'], isShort: false, isWritten: false })
  expect(parseArguments(['--short'])).toEqual({ parts: PARTS, isShort: true, isWritten: false })
  expect(parseArguments(['apply', '--short', 'model'])?.parts).toEqual(['apply', 'model'])
})

test('a commit is measured beside the present version, and alone', () => {
  const compared = { parts: [], compare: 'fdf3c85', isShort: false, isWritten: false }
  expect(parseArguments(['compare', 'fdf3c85'])).toEqual(compared)
  for (const wrong of [['compare'], ['compare', 'fdf3c85', 'apply']]) expect(parseArguments(wrong)).toBeUndefined()
})

test('an unknown part is refused, and the usage names all parts', () => {
  expect(parseArguments(['aply'])).toBeUndefined()
  for (const part of [...PARTS, 'model']) expect(USAGE).toContain(part)
})

test('the rate is read from the output of wrk', () =>
  expect(rateIn('  3 requests in 1.00s\nRequests/sec:   8279.35\nTransfer/sec: 1.00MB\n')).toBe(8279.35))

test('answers other than 2xx, and no answers, are not a rate', () => {
  expect(() => rateIn('  Non-2xx or 3xx responses: 12\nRequests/sec:   8279.35\n')).toThrow('12 requests')
  expect(() => rateIn('Requests/sec:      0.00\n')).toThrow('no answer')
})
