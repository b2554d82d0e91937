import { describe, expect, test } from 'vitest'
import { directivesIn, rewrite } from '../../../src/estate/reading/text/directives.ts'
import { UnreadableText } from '../../../src/estate/reading/text/tokens.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const told = (text: string) =>
  directivesIn(text).map(({ name, args, context }) => [...context, name, ...args].join(' '))

describe('reading', () => {
  test('directives with the blocks around them', () => {
    const text = `user nobody; # include no.conf;
events{}
http {
  include "a b.conf"; log_format main '{ "x": "$remote_addr;" }';
  server { listen 80; location ~ \\.php$ { set $a \${b}c; } }
}`
    expect(told(text)).toEqual([
      'user nobody',
      'events',
      'http',
      'http include a b.conf',
      'http log_format main { "x": "$remote_addr;" }',
      'http server',
      'http server listen 80',
      'http server location ~ \\.php$',
      `http server location set $a \${b}c`,
    ])
  })

  test.each(['http {', 'a', '}', ';', 'a "b', '{ a; }', 'a; } b;'])('%j is refused', (text) =>
    expect(() => directivesIn(text)).toThrow(UnreadableText),
  )

  test('never fails in another way, whatever the text', () =>
    forAll(fc.string({ unit: fc.constantFrom(...'ab ;{}"\'\\$#\n') }), (text) => {
      try {
        directivesIn(text)
      } catch (error) {
        expect(error).toBeInstanceOf(UnreadableText)
      }
    }))
})

test('rewriting changes what is asked for, keeps the rest and the numbers of lines', () => {
  const text = 'a 1;\nb\n  2\n;\nc { b 3; } # b 4;\n'
  const replaced = rewrite(text, ({ name, args }) => (name === 'b' ? `x ${args[0]};` : undefined))
  expect(replaced).toBe('a 1;\nx 2;\n\n\nc { x 3; } # b 4;\n')
})

test('rewriting can remove', () =>
  expect(rewrite('a; b; c;', ({ name }) => (name === 'b' ? '' : undefined))).toBe('a;  c;'))
