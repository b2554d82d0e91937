import { describe, expect, test } from 'vitest'
import { pattern } from '../../../../src/estate/reading/patterns/pattern.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'
import { fc, forSome } from '../../../support/fast-check.ts'

/** The work of one question. */
const newSteps = () => ({ left: 1_000_000 })

function asked(pcre: string, text: string, isCaseless = false): boolean | 'unknown' {
  const result = pattern(pcre, isCaseless).match(text, newSteps())
  return result === 'unknown' ? result : result.isMatch
}

const matches = (pcre: string, ...texts: readonly string[]) => texts.map((text) => asked(pcre, text))

describe('a pattern', () => {
  test.each([
    ['^[[:alpha:]]+$', ['abc', 'ab1', ''], [true, false, false]],
    ['^[[:^digit:]-]+$', ['a-b', 'a1'], [true, false]],
    ['^[]x]+$', [']x', 'a'], [true, false]],
    ['^[^]x]+$', ['a', ']'], [true, false]],
    ['^[a\\]b]$', [']', 'c'], [true, false]],
    ['^[\\w.-]+$', ['a.b-c', 'a/b'], [true, false]],
    ['^(a|ab)(c|bcd)$', ['abcd', 'ac', 'ab'], [true, true, false]],
    ['a{2}', ['aa', 'a'], [true, false]],
    ['^a{,2}$', ['a{,2}', 'aa'], [true, false]],
    ['^a{b$', ['a{b'], [true]],
    ['^\\Qa.b\\E$', ['a.b', 'axb'], [true, false]],
    ['^\\x61\\x{62}$', ['ab'], [true]],
    ['^a(?#no part)b$', ['ab'], [true]],
    ['^(?i)AB$', ['ab'], [true]],
    ['^a(?i:B)c$', ['abc', 'aBc', 'abC'], [true, true, false]],
    ['\\bfoo\\b', ['a.foo.b', 'afoo'], [true, false]],
    ['^a\\Kb$', ['ab'], [true]],
    ['^foo\\B', ['foobar', 'foo.bar'], [true, false]],
    ['^a$', ['a\n', 'a\n\n', '\na'], [true, false, false]],
    ['^a\\z', ['a', 'a\n'], [true, false]],
    ['^([^x]+)$', ['a', 'a\n'], [true, 'unknown']],
    ['^[[:alpha:]]$', ['\u00e9', 'K'], [false, true]],
    ['(?i)^(\\xc3\\xa9|k)$', ['é', 'É', 'K', '\u212a'], [true, false, true, false]],
    ['^[^a]+$', ['éb', 'a'], [true, false]],
    ['^a{2}{2}$', ['aaaa', 'aaa'], [true, false]],
  ])('%s', (pcre, texts, expected) => expect(matches(pcre, ...texts)).toEqual(expected))

  test('captures what PCRE captures', () => {
    const result = pattern('^(?<user>.+?)\\.(?P<zone>(a|ab)(.*))$', false).match('x.y.abc', newSteps())
    const captures = result !== 'unknown' && result.isMatch && [...result.captures].map((each) => each.join(' ')).sort()
    expect(captures).toEqual(['0 x.y.abc', '1 x.y', '2 abc', '3 a', '4 bc', 'user x.y', 'zone abc'])
  })

  test('is unknown once the steps of the question are used up, and not a match or none', () => {
    const slow = pattern('^(?:a?){40}b$', false)
    expect(slow.match('a'.repeat(30), newSteps())).toEqual({ isMatch: false })
    expect(slow.match('a'.repeat(30), { left: 20 })).toBe('unknown')
  })

  test.each([
    ['(?>a+)b', 'aab', 'unknown'],
    ['(?>a+)b', 'c', false],
    ['a++b', 'b', false],
    ['^(a)\\1$', 'aa', 'unknown'],
    ['^(a)\\1$', 'b', false],
    ['^(?!www\\.)(.+)\\.test$', 'a.test', 'unknown'],
    ['^(?!www\\.)(.+)\\.test$', 'a.example', false],
    ['^a(?=b)', 'ab', 'unknown'],
    ['^a(?=b)', 'b', false],
    ['^a{1001,}$', 'a'.repeat(1_000), 'unknown'],
    ['^a{1001,}$', 'a'.repeat(900), false],
    ['(?m)^b$', 'a\nb', 'unknown'],
    ['(?m)^b$', 'a\nc', false],
    ['(?x) a b', 'ab', 'unknown'],
    ['(?<!x)a', 'a', 'unknown'],
    ['(?<!x)a', 'b', false],
    ['(?!(?>a))b', 'b', 'unknown'],
    ['(?R)', 'a', 'unknown'],
    ['(*UTF8)a', 'a', 'unknown'],
    ['\\p{L}', 'a', 'unknown'],
    ['[', 'a', 'unknown'],
    ['(?|a|b)', 'a', 'unknown'],
  ])('%s and %s: %s, because what cannot be evaluated is not guessed', (pcre, text, expected) =>
    expect(asked(pcre, text)).toBe(expected),
  )

  test('agrees with the patterns of JavaScript where both mean the same', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '(?:ab|a)', '(a|b)', '(a*)', '^', '$')
    const times = fc.constantFrom('', '', '', '*', '+', '?', '*?', '+?', '{2}', '{1,2}', '{0,2}?')
    const part = fc.tuple(atom, times).map(([one, many]) => (/^(?:\^|\$|\(\?[=!])/.test(one) ? one : one + many))
    const source = fc.array(fc.array(part, { maxLength: 5 }), { minLength: 1, maxLength: 2 })
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 }).map((letters) => letters.join(''))
    forSome(process.env.CAMPAIGN ? 100_000 : 3_000, source, text, (options, given) => {
      const pcre = options.map((parts) => parts.join('')).join('|')
      const ours = pattern(pcre, false).match(given, newSteps())
      const theirs = new RegExp(pcre).exec(given)
      expect(ours !== 'unknown' && ours.isMatch ? ours.captures.get('0') : null).toBe(theirs?.[0] ?? null)
    })
  })
})

test('patterns that would take for ever take linear time', () => {
  const text = `${'a.'.repeat(120)}x`
  expect(asked('^(.+\\.)*example\\.test$', text)).toBe(false)
  expect(asked('^(a+)+$', `${'a'.repeat(250)}b`)).toBe(false)
  expect(asked('^((a{0,50}){0,50}){0,50}$', 'a')).toBe('unknown')
})

test('patterns that would take for ever share the work of one question', () => {
  const steps = newSteps()
  const results = Array.from({ length: 2_000 }, () => pattern('(.*a){50}', false).match('a'.repeat(255), steps))
  expect(results.at(-1)).toBe('unknown')
  expect(steps.left).toBeLessThanOrEqual(0)
})

test('a name is unknown only where a pattern might match it', async () => {
  using files = nginxFiles({
    'nginx.conf': `http {
server { listen 80; server_name ~^(?>a+)\\.test$; }
server { listen 80; server_name exact.test; }
server { listen 80; server_name ~^b; }
}`,
  })
  const map = await files.reader.read()
  const how = (host: string) => map.answers(host, { address: '10.0.0.1', port: 80, tls: false })?.how
  expect(map.broken).toEqual([])
  expect(['a.test', 'b.test', 'exact.test', 'c.test'].map(how)).toEqual(['unknown', 'regex', 'exact', 'default'])
})
