import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { edgeReader } from '../../../../src/estate/reading/edge-reader.ts'
import { parseOnThread } from '../../../../src/estate/reading/parse-on-thread.ts'
import { ServerIndex } from '../../../../src/estate/reading/servers/server-index.ts'
import { systemClock } from '../../../../src/primitives/clock.ts'
import { Slices } from '../../../../src/primitives/slices.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'

const at = { address: '127.0.0.1', port: 80, tls: false }

test('a chain of 2,500 maps is followed as far as nginx follows it, and ends no reading', async () => {
  const chain = (length: number, name: string) => [
    `map $host $${name}0 { default http://192.0.2.1; }`,
    ...Array.from({ length }, (_, i) => `map $${name}${i} $${name}${i + 1} { default $${name}${i}; }`),
  ]
  const maps = [...chain(2_500, 'long'), ...chain(50, 'short')]
  using files = nginxFiles({
    'nginx.conf': `http { ${maps.join('\n')}
      server { server_name long.test; location / { proxy_pass $long2500; } }
      server { server_name short.test; location / { proxy_pass $short50; } } }`,
  })
  const map = await files.reader.read()
  expect(map.find('long.test')).toMatchObject({ proxyPass: null, unresolved: true })
  expect(map.find('short.test')).toMatchObject({ proxyPass: 'http://192.0.2.1' })
})

test('all questions of a reading have one budget of steps', async () => {
  const entries = Array.from({ length: 500 }, (_, i) => `~^(a+)+${i}$ http://192.0.2.${i % 250};`)
  const names = Array.from({ length: 5_000 }, (_, i) => `${'a'.repeat(40)}${i}.test`)
  using files = nginxFiles({
    'nginx.conf': `http { map $host $backend { ${entries.join(' ')} }
      server { server_name calm.test; location / { proxy_pass http://192.0.2.7; } }
      server { server_name ${names.join(' ')}; location / { proxy_pass $backend; } } }`,
  })
  const map = await files.reader.read()
  expect(map.hosts).toHaveLength(5_001)
  expect(map.find('calm.test')?.proxyPass).toBe('http://192.0.2.7')
  expect(map.hosts.filter(({ unresolved }) => unresolved).length).toBeGreaterThan(4_000)
})

test('a pattern of an include that leads through links is bounded, and the reader says so', async () => {
  using files = nginxFiles({
    'nginx.conf': `http {\ninclude l*/l*/l*/l*/l*/l*/l*/l*/site;\nserver { server_name calm.test; } }`,
  })
  mkdirSync(join(files.folder, 'l0'))
  for (let i = 1; i < 12; i += 1) symlinkSync('..', join(files.folder, `l0/l${i}`))
  for (let i = 1; i < 12; i += 1) symlinkSync('l0', join(files.folder, `l${i}`))
  const map = await files.reader.read()
  expect(map.find('calm.test')).toBeDefined()
  expect(map.broken).toMatchObject([{ line: 2, sentence: expect.stringContaining('matches too many paths') }])
})

test('a repetition of nothing, many times over, is not written out', async () => {
  using files = nginxFiles({
    'nginx.conf': 'http { server { listen 80; server_name "~^(?:(?:(?:){65535}){65535}){65535}$"; } }',
  })
  expect((await files.reader.read()).answers('a.test', at)?.how).toBe('unknown')
})

test('a map of many entries is built in slices', async () => {
  let turns = 0
  const count = () => {
    turns += 1
  }
  let time = 0
  // A slice that is over at once: every look at it is a turn of the event loop.
  const clock = { ...systemClock, turn: async () => count(), monotonic: () => (time += 10) }
  const entries = Array.from({ length: 10_000 }, (_, i) => [`key${i}`, 'value'] as const)
  const text = { source: '$host', default: '', hasWildcards: false, entries, gathered: [] }
  const maps = new Map([['backend', text]])
  const http = { servers: [], serversBefore: 0, hidesListens: undefined, upstreams: new Map(), maps, probes: new Map() }
  await ServerIndex.build(http, true, new Slices(clock))
  expect(turns).toBeGreaterThan(10_000 / 300)
})

const PHP = `server { server_name a.test; root html; index index.php index.html;
  location ~ \\.php$ { fastcgi_pass unix:/run/php.sock; } }`

test('behind a relative root no backend is told, because only nginx knows its files', async () => {
  using files = nginxFiles({ 'nginx.conf': `http { ${PHP} }`, 'html/index.html': '' })
  expect((await files.reader.read()).find('a.test')).toMatchObject({ proxyPass: null, unresolved: true })
})

test('a relative root starts at the folder with which nginx is started', async () => {
  using files = nginxFiles({ 'nginx.conf': `http { ${PHP} }`, 'html/index.html': '' })
  const folder = files.path('drawbridge')
  const reader = edgeReader({ ...files, prefix: files.folder, pidFile: '', folder, clock: systemClock })
  expect((await reader.read()).find('a.test')).toMatchObject({ proxyPass: null, unresolved: false })
})

test('a thread that does not answer in time is ended, and the next one answers', async () => {
  using files = nginxFiles({ 'nginx.conf': 'http { server { server_name a.test; } }' })
  const request = { config: files.config, folder: files.path('drawbridge'), generation: undefined, odd: [] }
  const limits: number[] = []
  const after = (ms: number, call: () => void) => {
    limits.push(ms)
    call()
    return { cancel: () => undefined }
  }
  const recorded = { ...systemClock, after }
  await expect(parseOnThread(request, 'servers', recorded)).rejects.toThrow('it took too long')
  expect(limits).toEqual([60_000])
  expect((await parseOnThread(request, 'servers', systemClock)).servers).toHaveLength(1)
})

test('a name with an underscore is listed, and the name of nobody is not', async () => {
  using files = nginxFiles({
    'nginx.conf': 'http { server { server_name my_app.test _; } server { server_name __; } }',
  })
  expect((await files.reader.read()).hosts.map(({ host }) => host)).toEqual(['my_app.test'])
})
