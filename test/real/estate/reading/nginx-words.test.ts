import { expect, test } from 'vitest'
import { freePort } from '../../../../lab/free-port.ts'
import { directivesIn } from '../../../../src/estate/reading/text/directives.ts'
import { UnreadableText } from '../../../../src/estate/reading/text/tokens.ts'
import { NOTHING_OF_ROOT, startNginx } from '../../../support/edge/nginx.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'
import { dumpOf } from '../../../support/edge/nginx-fixture.ts'
import { fc, SEED } from '../../../support/fast-check.ts'
import { call } from '../../../support/http/call.ts'

const CHARACTERS = [...'ab\\"\'{}; \t\n\r#/)(=~trn']
const inside = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 8 }).map((pieces) => pieces.join(''))

/** Bare, and in either quotation; most are well-formed, and those that are not have their own test. */
const written = fc.oneof(
  inside,
  inside.map((text) => `"${text}"`),
  inside.map((text) => `'${text}'`),
)

/** A block whose closing brace is followed by a comment: a whole configuration, but no directive that ends with `;`. */
const FOUND_BEFORE = ['a{}#', '"a"{}#', 'a {}#', "''{} #", 'a{\n}#b', 'a;#{']

/** The value of one `return` that ends with `;`; undefined when the text is something else. */
function saidBy(text: string): string | undefined {
  try {
    const whole = `return 200 ${text};`
    const [directive, ...more] = directivesIn(whole)
    const isEnded = directive?.args.length === 2 && whole.charAt(directive.end - 1) === ';'
    return more.length === 0 && isEnded ? directive.args[1] : undefined
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableText)
    return undefined
  }
}

const locationsOf = (words: readonly string[]): string =>
  words.map((text, index) => `location = /${index} { return 200 ${text};\n}`).join('\n')

/** The words that nginx refuses one by one, out of a list that it refuses as a whole. */
async function refused(words: readonly string[]): Promise<string[]> {
  using files = nginxFiles({
    'nginx.conf': `${NOTHING_OF_ROOT.main} events {} http { ${NOTHING_OF_ROOT.http} server { ${locationsOf(words)} } }`,
  })
  const { code, errors } = await dumpOf(files)
  if (code === 0) return []
  const half = words.length >> 1
  const found = half === 0 ? [] : [...(await refused(words.slice(0, half))), ...(await refused(words.slice(half)))]
  return found.length > 0 ? found : [`${JSON.stringify(words)}: ${errors}`]
}

test('words say what nginx takes them to say', async () => {
  const random = fc.sample(written, { numRuns: process.env.CAMPAIGN ? 5_000 : 400 })
  const words = [...FOUND_BEFORE, ...random].filter((text) => saidBy(text) !== undefined)
  expect({ SEED, refused: await refused(words) }).toEqual({ SEED, refused: [] })
  const port = await freePort()
  const nginx = await startNginx(
    `server { listen 127.0.0.1:${port};\n${locationsOf(words)}\n}`,
    `http://127.0.0.1:${port}`,
  )
  try {
    for (const [index, text] of words.entries()) {
      const answer = await call(`http://127.0.0.1:${port}`, { path: `/${index}`, from: '127.0.0.1' })
      expect({ SEED, text, says: answer.text }).toEqual({ SEED, text, says: saidBy(text) })
    }
  } finally {
    await nginx.stop()
  }
  expect(words.length).toBeGreaterThan(50)
})

/** The variable stays open over any number of braces. `default_type` takes its word literally. */
const WITH_DOLLARS = ['${{a', 'a${{{b', '"${{"', 'a$b', `$\{a}{b`, '$', 'a$', '"$"', '$$\\{']

test('braces after a dollar sign belong to the word', async () => {
  for (const text of WITH_DOLLARS) {
    const port = await freePort()
    const whole = `default_type ${text};`
    const isWord = (() => {
      try {
        const [directive, ...more] = directivesIn(whole)
        return more.length === 0 && directive?.args.length === 1 && whole.charAt(directive.end - 1) === ';'
      } catch {
        return false
      }
    })()
    using files = nginxFiles({
      'nginx.conf': `${NOTHING_OF_ROOT.main} events {} http { ${NOTHING_OF_ROOT.http} server { listen ${port}; ${whole} } }`,
    })
    const { code } = await dumpOf(files)
    expect({ text, isWord }).toEqual({ text, isWord: code === 0 })
  }
})

const ABOVE = [
  '\n',
  '\r\n',
  '# {"\n',
  'add_header\nA b;',
  'add_header A "b\n\n";',
  'add_header A b\\\n;',
  "add_header A '\\\n';",
]

test('lines have the numbers that nginx gives them', async () => {
  for (const pieces of fc.sample(fc.array(fc.constantFrom(...ABOVE), { minLength: 1, maxLength: 9 }), 12)) {
    const text = `http {${pieces.join(' ')} server { server_name a.test; nonsense; } }`
    using files = nginxFiles({ 'nginx.conf': text })
    const { errors } = await dumpOf(files)
    const [, line] = /unknown directive "nonsense" in \S+:(\d+)/.exec(errors) ?? []
    const { hosts } = await files.reader.read()
    expect({ text, line: hosts[0]?.line }).toEqual({ text, line: Number(line) })
  }
})
