import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { directivesIn } from '../../../src/edge/reading/text/directives.ts'
import { UnreadableText } from '../../../src/edge/reading/text/tokens.ts'
import { startNginx } from '../../support/edge/nginx.ts'
import { nginxFiles } from '../../support/edge/nginx-files.ts'
import { dumpOf } from '../../support/edge/nginx-fixture.ts'
import { call } from '../../support/http/call.ts'

const CHARACTERS = [...'ab\\"\'{}; \t\n\r#/)(=~trn']
const inside = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 8 }).map((pieces) => pieces.join(''))

/** Bare, and in either quotation; most are well-formed, and those that are not have their own test. */
const written = fc.oneof(
  inside,
  inside.map((text) => `"${text}"`),
  inside.map((text) => `'${text}'`),
)

/** What a directive's one value says; undefined when the text is something else. */
function saidBy(text: string): string | undefined {
  try {
    const [directive, ...more] = directivesIn(`return 200 ${text};`)
    return more.length === 0 && directive?.args.length === 2 ? directive.args[1] : undefined
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableText)
    return undefined
  }
}

test('words say what nginx takes them to say', async () => {
  const words = fc.sample(written, process.env.CAMPAIGN ? 5_000 : 400).filter((text) => saidBy(text) !== undefined)
  const port = await freePort()
  const locations = words.map((text, index) => `location = /${index} { return 200 ${text};\n}`)
  const nginx = await startNginx(
    `server { listen 127.0.0.1:${port};\n${locations.join('\n')}\n}`,
    `http://127.0.0.1:${port}`,
  )
  try {
    for (const [index, text] of words.entries()) {
      const answer = await call(`http://127.0.0.1:${port}`, { path: `/${index}`, from: '127.0.0.1' })
      expect({ text, says: answer.text }).toEqual({ text, says: saidBy(text) })
    }
  } finally {
    await nginx.stop()
  }
  expect(words.length).toBeGreaterThan(50)
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
