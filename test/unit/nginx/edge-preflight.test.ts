import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Refusal } from '../../../src/estate/reading/refusal.ts'
import type { EdgeSettings } from '../../../src/estate/settings.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { edgePreflight } from '../../../src/nginx/preflight.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { enterGeneration } from '../../support/edge/generation.ts'
import { type NginxFiles, nginxFiles } from '../../support/edge/nginx-files.ts'
import { until } from '../../support/until.ts'

const HOST = 'app.lab.test'
/** Too long for nginx's hash tables of default size. */
/** An entry with options has server blocks of its own. */
const OPTIONS = { options: { maxBody: '2m' } }
const LONG = `app${'-long'.repeat(9)}.lab.test`

const settingsOf = ({ folder, config }: NginxFiles, listen: readonly string[]): EdgeSettings => ({
  server: '23',
  config,
  folder: `${folder}/drawbridge`,
  prefix: undefined,
  binary: '/nonexistent',
  pidFile: `${folder}/nginx.pid`,
  errorLog: `${folder}/error.log`,
  address: '192.168.45.23',
  listen,
  ports: { http: 80, https: 443 },
  clock: systemClock,
})

/** What a plan for the host would see, with an nginx that finds nothing wrong. */
async function seen(blocks: string, listen: readonly string[] = ['192.168.45.23'], host = HOST) {
  using files = nginxFiles({ 'nginx.conf': `http { ${blocks} include drawbridge/*.conf; }` })
  await enterGeneration(files.path('drawbridge'), [], listen)
  return await edgePreflight(settingsOf(files, listen), files.reader, async () => undefined).check(host, false)
}

const served = (listen: string, name: string) => `server { listen ${listen}; server_name ${name}; return 204; }`
const taken = (how: string) => ({ kind: 'taken', how, file: expect.stringMatching(/nginx\.conf$/), line: 1 })
const FREE = { kind: 'free' }
/** The main file does not include the folder of the edge. */
const UNPREPARED = { kind: 'unprepared', reason: expect.stringContaining('nginx does not include') }

describe('a block of somebody else', () => {
  const AT = '192.168.45.23:80'
  test.each([
    ['the very name', served(AT, HOST), taken('exact')],
    ['the name in another spelling', served(AT, 'App.LAB.test'), taken('exact')],
    ['the name with all below it', served(AT, `.${HOST}`), taken('exact')],
    ['the name by TLS alone', served('192.168.45.23:443 ssl', HOST), taken('exact')],
    ['the name behind another block', served(AT, 'x.test') + served(AT, `y.test ${HOST}`), taken('exact')],
    ['a wildcard, which loses', served(AT, '*.lab.test'), FREE],
    ['a trailing wildcard, which loses', served(AT, 'app.*'), FREE],
    ['a pattern, which loses', served(AT, '~^app'), FREE],
    ['no name: it is the default server there', served(AT, '_'), FREE],
    ['the name on another port', served('192.168.45.23:8080', HOST), FREE],
    ['the name on another address', served('192.168.45.24:80', HOST), FREE],
    ['the name on all addresses, where ours listens then, too', served('80', HOST), taken('exact')],
    ['another name on all addresses', served('80', 'x.test'), FREE],
  ])('with %s', async (_what, blocks, fact) => expect(await seen(blocks)).toEqual(fact))

  test.each([
    ['a wildcard', served(AT, '*.lab.test'), taken('leading_wildcard')],
    ['a pattern', served(AT, '~^app'), taken('regex')],
    ['the very name', served(AT, LONG), taken('exact')],
    ['another name', served(AT, 'x.test'), FREE],
  ])('beside a host that is a pattern in nginx, with %s', async (_what, blocks, fact) =>
    expect(await seen(blocks, undefined, LONG)).toEqual(fact),
  )

  const LAYOUTS = Object.entries({ lines: {}, blocks: OPTIONS })
  test.each(LAYOUTS)('a host that is a pattern in nginx is served by its own %s', async (_layout, more) => {
    using files = nginxFiles({ 'nginx.conf': 'http { include drawbridge/*.conf; }' })
    await enterGeneration(files.path('drawbridge'), [{ host: LONG, ...more }])
    const map = await files.reader.read()
    expect(map.find(LONG)).toMatchObject({ host: LONG, target: { host: '192.168.45.25' } })
    expect(map.answers(LONG, { address: '192.168.45.23', port: 80, tls: false })).toMatchObject({
      block: { configPath: map.find(LONG)?.configPath },
    })
    const check = edgePreflight(settingsOf(files, ['192.168.45.23']), files.reader, async () => undefined).check
    expect(await check(LONG, false)).toEqual(FREE)
  })

  test.each([
    ['the name there', served('80', HOST), taken('exact')],
    ['the name on one address', served('10.0.0.1:80', HOST), taken('exact')],
    ['a wildcard where ours does not listen', served('10.0.0.1:80', '*.lab.test'), taken('leading_wildcard')],
    ['a pattern on one address', served('10.0.0.1:80', '~^app'), taken('regex')],
    ['other names on one address, where ours listens then, too', served('192.168.45.23:80', 'x.test'), FREE],
    ['other names on the loopback', served('127.0.0.1:80', 'status'), FREE],
    ['a wildcard there, which loses', served('80', '*.lab.test'), FREE],
    ['the name by IPv6', served('[::]:80', HOST), FREE],
  ])('where ours listens on all addresses, with %s', async (_what, blocks, fact) =>
    expect(await seen(blocks, ['0.0.0.0'])).toEqual(fact),
  )

  test('by IPv6, on all addresses and on one', async () => {
    expect(await seen(served('[::]:80', HOST), ['::'])).toEqual(taken('exact'))
    expect(await seen(served('[2001:db8::1]:80', '*.lab.test'), ['::'])).toEqual(taken('leading_wildcard'))
    expect(await seen(served('80', HOST), ['::'])).toEqual(FREE)
  })

  test.each(LAYOUTS)("the host's own entry as %s is not somebody else's", async (_layout, more) => {
    using files = nginxFiles({ 'nginx.conf': 'http { include drawbridge/*.conf; }' })
    await enterGeneration(files.path('drawbridge'), [{ host: HOST, ...more }])
    const preflight = edgePreflight(settingsOf(files, ['192.168.45.23']), files.reader, async () => undefined)
    expect(await preflight.check(HOST, false)).toEqual(FREE)
  })

  test('the block of another host of ours that got the name is', async () => {
    using files = nginxFiles({ 'nginx.conf': 'http { include drawbridge/*.conf; }' })
    const folder = files.path('drawbridge')
    await enterGeneration(folder, [{ host: 'b.lab.test', ...OPTIONS }])
    const { file: path } = new PresentGeneration(folder).whereIs('b.lab.test')
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('server_name b.lab.test;', `server_name b.lab.test ${HOST};`),
    )
    const preflight = edgePreflight(settingsOf(files, ['192.168.45.23']), files.reader, async () => undefined)
    expect(await preflight.check(HOST, false)).toMatchObject({ kind: 'taken', how: 'exact', file: path })
    expect(await preflight.check('b.lab.test', false)).toEqual(FREE)
  })
})

describe('an edge that is not ready', () => {
  const check = (files: NginxFiles) =>
    edgePreflight(settingsOf(files, ['192.168.45.23']), files.reader, async () => undefined).check(HOST, false)

  test('has no base file yet', async () => {
    using files = nginxFiles({ 'nginx.conf': 'http { include drawbridge/*.conf; }' })
    expect(await check(files)).toEqual({ kind: 'unprepared', reason: 'Its base file is not written yet.' })
  })

  test('has no place for its servers', async () => {
    using files = nginxFiles({
      'nginx.conf': `http { include drawbridge/*.conf; ${served('80 proxy_protocol', 'x.test')} }`,
    })
    const reason = expect.stringMatching(/PROXY protocol on \*:80 \(\S+nginx\.conf, line 1\)/)
    expect(await check(files)).toEqual({ kind: 'unprepared', reason })
  })
})

describe('nginx is asked whether its configuration is valid', () => {
  const REFUSAL: Refusal = { reason: 'a file is missing', file: '/etc/nginx/own.conf', line: 3 }

  /** With a stand-in for `nginx -t` that counts how often it was asked. */
  const asked = (files: NginxFiles) => {
    const state = { times: 0, refusal: undefined as Refusal | undefined }
    const preflight = edgePreflight(settingsOf(files, ['192.168.45.23']), files.reader, async () => {
      state.times += 1
      return state.refusal
    })
    return { state, preflight }
  }

  test('once while no file changes, however many look; and again after a change', async () => {
    using files = nginxFiles({ 'nginx.conf': 'http { include own/*.conf; }', 'own/a.conf': '' })
    const { state, preflight } = asked(files)
    await Promise.all(Array.from({ length: 20 }, () => preflight.check(HOST, false)))
    expect(await preflight.check(HOST, false)).toEqual(UNPREPARED)
    expect(state.times).toBe(1)
    files.write({ 'own/b.conf': '' })
    await preflight.check(HOST, false)
    await preflight.check(HOST, false)
    expect(state.times).toBe(2)
  })

  test('each time while it refuses, because the cause may lie outside the files that were read', async () => {
    using files = nginxFiles({ 'nginx.conf': 'http { }' })
    const { state, preflight } = asked(files)
    state.refusal = REFUSAL
    expect(await preflight.check(HOST, false)).toEqual({ kind: 'broken', ...REFUSAL })
    expect((await preflight.check(HOST, false)).kind).toBe('broken')
    state.refusal = undefined
    expect(await preflight.check(HOST, false)).toEqual(UNPREPARED)
    expect(state.times).toBe(3)
  })

  test('not at all about what it has loaded itself, but about what was changed or lost since', async () => {
    using files = nginxFiles({ 'nginx.conf': 'http { include one.conf; }', 'one.conf': '' })
    const { state, preflight } = asked(files)
    const loadedAt = Date.now()
    preflight.markLoaded(loadedAt)
    await preflight.check(HOST, false)
    expect(state.times).toBe(0)
    // The clock of files goes in steps.
    await until('a step of the clock', () => Date.now() > loadedAt + 20)
    files.write({ 'one.conf': '# changed' })
    await preflight.check(HOST, false)
    expect(state.times).toBe(1)
    files.remove('one.conf')
    preflight.markLoaded(Date.now())
    await preflight.check(HOST, false)
    expect(state.times).toBe(2)
  })

  test('and with TLS whether it would write keys into a log', async () => {
    using files = nginxFiles({ 'nginx.conf': '# first line\nerror_log x debug;\nhttp { }' })
    const { preflight } = asked(files)
    expect(await preflight.check(HOST, true)).toMatchObject({ kind: 'broken', file: files.config, line: 2 })
    expect(await preflight.check(HOST, false)).toEqual(UNPREPARED)
    files.write({ 'nginx.conf': 'error_log x notice;\nhttp { }' })
    expect(await preflight.check(HOST, true)).toEqual(UNPREPARED)
  })

  test('one that cannot be asked is not known to be valid', async () => {
    using files = nginxFiles({ 'nginx.conf': 'http { }' })
    const preflight = edgePreflight(settingsOf(files, ['192.168.45.23']), files.reader, () =>
      Promise.reject(new Error('it cannot be run')),
    )
    expect(await preflight.check(HOST, false)).toEqual({ kind: 'unknown' })
  })
})
