import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { directivesIn } from '../../../../src/estate/reading/text/directives.ts'
import { UnreadableText } from '../../../../src/estate/reading/text/tokens.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'
import { fc, forSome } from '../../../support/fast-check.ts'

/** `npm run campaign -- fuzz` tries a hundred times as many. */
const RUNS = process.env.CAMPAIGN ? 20_000 : 200
vi.setConfig({ testTimeout: process.env.CAMPAIGN ? 1_800_000 : 60_000 })

const FIXTURES = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'nginx')
const texts = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .map((name) => join(FIXTURES, name))
  .filter((path) => statSync(path).isFile())
  .map((path) => readFileSync(path, 'utf8'))

const PLACES =
  '[::]:80 80-90 unix: http:// http://$a nginx.conf sub.conf *.conf a.test *.test ~^(a+)+$ ~( ^~ ${ $host $a'
const NAMES = 'http server location listen server_name proxy_pass set map upstream include if hostnames default return'
const WORDS = [...'{};"\'\\$#\n ~*./=[\0🌉', ...PLACES.split(' '), ...NAMES.split(' ')]

const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 80 })
const glue = fc.constantFrom(' ', '')
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.tuple(words, glue).map(([given, between]) => given.join(between)),
)

/** A configuration that was once right, with pieces cut out, doubled or put in. */
const cut = fc.tuple(fc.nat(), fc.nat(40), fc.constantFrom('', ...WORDS), fc.boolean())
const mutated = fc.tuple(fc.constantFrom(...texts), fc.array(cut, { minLength: 1, maxLength: 6 })).map(([text, cuts]) =>
  cuts.reduce((result, [at, length, put, isDoubled]) => {
    const start = at % (result.length + 1)
    const cut = result.slice(start, start + length)
    return result.slice(0, start) + (isDoubled ? cut + cut : put) + result.slice(start + length)
  }, text),
)

test('any text is read or refused by name', () =>
  forSome(RUNS * 5, fc.oneof(anyText, mutated), (text) => {
    try {
      directivesIn(text)
    } catch (error) {
      expect(error).toBeInstanceOf(UnreadableText)
    }
  }))

test('any configuration is read, and any question about it answered', async () => {
  using files = nginxFiles({})
  const http = (text: string) => `http { ${text}`
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyText.map(http), mutated), anyText, fc.string(), async (main, sub, host) => {
      files.write({ 'nginx.conf': main, 'sub.conf': sub })
      const map = await files.reader.read()
      for (const served of map.hosts) expect(map.find(served.host)).toBe(served)
      map.answers(host, { address: host, port: 80, tls: false })
      map.answers('a'.repeat(200), { address: '127.0.0.1', port: 80, tls: false })
      for (const { sentence } of map.broken) expect(sentence.length).toBeLessThan(120)
    }),
    { numRuns: RUNS },
  )
})

test('nesting and length without end are refused, not suffered', async () => {
  using files = nginxFiles({})
  for (const main of [
    `http { ${'location / { '.repeat(100_000)}`,
    `http { server { server_name ${'a.test '.repeat(200_000)}; } }`,
    `http { server { listen ${'"'.repeat(100_001)}`,
    `http { ${'server { listen 1-65535; }'.repeat(3)} }`,
  ]) {
    files.write({ 'nginx.conf': main })
    expect((await files.reader.read()).hosts.length).toBeLessThan(2)
  }
})
