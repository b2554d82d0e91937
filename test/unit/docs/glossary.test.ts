import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const words = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^- \*\*([^*]+)\*\*/gm)].map(
  ([, word = '']) => word,
)
const code = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `${file}\n${readFileSync(join('src', file), 'utf8')}`)
  .join('\n')

/** A word as code writes it: `control socket` is also `control-socket`, `control_socket`, `controlSocket` and `controlSockets`. */
const asWritten = (word: string): RegExp => new RegExp(`(?<![a-z])${word.split(/[ -]/).join('[\\s_-]?')}`, 'i')

test('docs/glossary.md has the words that every newcomer asks for, each once', () => {
  expect(words).toEqual(expect.arrayContaining(['plan', 'apply', 'run', 'journal', 'saga', 'fence', 'receipt']))
  expect(new Set(words).size).toBe(words.length)
})

test.each(words)('docs/glossary.md: %s is a word of the code', (word) => expect(asWritten(word).test(code)).toBe(true))

test('a word that the code does not use is found', () => expect(asWritten('moat keeper').test(code)).toBe(false))
