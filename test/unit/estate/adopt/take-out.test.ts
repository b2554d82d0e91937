import { describe, expect, test } from 'vitest'
import { readSite } from '../../../../src/estate/adopt/site-text.ts'
import { withoutBlocks } from '../../../../src/estate/adopt/take-out.ts'

const without = (text: string, name: string) => {
  const blocks = readSite('/site', text, () => [])
  const named = blocks.filter(({ block = [] }) => block.some(({ args }) => args.includes(name)))
  return withoutBlocks(text, named)
}

const block = (name: string) => `server {\n  listen 80;\n  server_name ${name};\n  location / { return 200 "}"; }\n}\n`

describe('taking server blocks out of a file', () => {
  test('leaves nothing of a file that has only them and comments', () => {
    expect(without(`# ours\n${block('a')}\n# }\n`, 'a')).toBe(null)
    expect(without(block('a') + block('a'), 'a')).toBe(null)
  })

  test('leaves the blocks of others as they are, to the byte', () => {
    expect(without(block('a') + block('b'), 'a')).toBe(block('b'))
    expect(without(block('b') + block('a'), 'a')).toBe(block('b'))
    expect(without(`${block('a')}# about b\n${block('b')}${block('a')}`, 'a')).toBe(`# about b\n${block('b')}`)
  })

  test('leaves what stands in the same line', () => {
    const text = 'upstream u { server 1.2.3.4; } server { server_name a; } # of a\nserver { server_name b; }'
    expect(without(text, 'a')).toBe('upstream u { server 1.2.3.4; }  # of a\nserver { server_name b; }')
  })
})
