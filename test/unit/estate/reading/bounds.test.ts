import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'

const at = { address: '127.0.0.1', port: 80, tls: false }

test('ranges of ports on many addresses are bounded, and the reader says so', async () => {
  const servers = Array.from(
    { length: 50 },
    (_, i) => `server { listen 127.0.0.${i + 1}:1-65535; server_name h${i}.test; }`,
  )
  using files = nginxFiles({ 'nginx.conf': `http {\n${servers.join('\n')}\n}` })
  const map = await files.reader.read()
  expect(map.hosts).toHaveLength(50)
  expect(map.find('h0.test')?.listen).toHaveLength(1_000)
  expect(map.find('h49.test')?.listen).toHaveLength(1)
  expect(map.answers('h0.test', at)?.how).toBe('exact')
  expect(map.broken[0]).toMatchObject({ line: 2, sentence: 'too many ports; some ports of a range were not read' })
})

test('names are bounded, and the reader says so', async () => {
  // A name that is repeated counts each time: few different ones are read faster.
  const names = [...Array.from({ length: 249_998 }, (_, i) => `n${i % 100}.test`), 'last.test', 'beyond.test']
  using files = nginxFiles({
    'nginx.conf': `http { server { server_name before.test; }\nserver { server_name ${names.join(' ')}; }\n}`,
  })
  const { hosts, broken, find } = await files.reader.read()
  expect(hosts).toHaveLength(102)
  expect(find('before.test')).toBeDefined()
  expect(find('last.test')).toBeDefined()
  expect(broken).toMatchObject([{ line: 2, sentence: 'too many names; the rest was not read' }])
})

test('a name on every port of a range is bounded', async () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `n${i % 100}.test`).join(' ')
  using files = nginxFiles({ 'nginx.conf': `http { server { listen 1-20000; server_name ${names}; } }` })
  const { hosts, broken } = await files.reader.read()
  expect(hosts).toHaveLength(100)
  expect(hosts[0]?.listen).toHaveLength(200)
  expect(broken).toHaveLength(1)
})

test('patterns that would take for ever do not', async () => {
  const servers = Array.from({ length: 2_000 }, (_, i) => `server { listen 80; server_name ~^(a+)+(b|c${i}+)*$; }`)
  using files = nginxFiles({ 'nginx.conf': `http {\n${servers.join('\n')}\n}` })
  const map = await files.reader.read()
  expect(map.answers('a.test', at)?.how).toBe('default')
  // The work of a question has an end, and what is not decided by then is not guessed.
  expect(map.answers(`${'a'.repeat(240)}.test`, at)?.how).toBe('unknown')
  expect(map.answers('aab', at)).toMatchObject({ how: 'regex', block: { line: 2 } })
})

test('nothing is in /dev/null, and that is no fault', async () => {
  using files = nginxFiles({
    'nginx.conf': 'http { include /dev/null; server { server_name a.test; include /dev/null; } }',
  })
  expect(await files.reader.read()).toMatchObject({ hosts: [{ host: 'a.test' }], broken: [] })
})

test('a file whose name is not UTF-8 is read', async () => {
  using files = nginxFiles({
    'nginx.conf': 'http { include sites/*.conf; }',
    'sites/a.conf': 'server { server_name a.test; }',
  })
  writeFileSync(Buffer.from(`${files.path('sites')}/b\xff.conf`, 'latin1'), 'server { server_name b.test; }')
  const map = await files.reader.read()
  expect(map.hosts.map(({ host }) => host)).toEqual(['a.test', 'b.test'])
  expect(map.broken).toEqual([])
  expect(Number.isFinite(map.changedAt)).toBe(true)
})

test('wildcards and patterns are listed up to a bound, and the reader says so', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `*.w${i}.test`).join(' ')
  using files = nginxFiles({ 'nginx.conf': `http {\nserver { server_name ${names(1_000)}; }\n}` })
  expect((await files.reader.read()).broken).toEqual([])
  writeFileSync(files.path('nginx.conf'), `http {\nserver { server_name ${names(1_001)}; }\n}`)
  const { patterns, broken } = await files.reader.read()
  expect(patterns).toHaveLength(1_000)
  expect(broken).toMatchObject([{ line: 2, sentence: 'too many wildcards and patterns; the rest is not listed' }])
})

test('places to listen are told up to a bound, and the reader says so', async () => {
  using files = nginxFiles({ 'nginx.conf': 'http {\nserver { listen 1-1001; server_name a.test; }\n}' })
  const { find, broken } = await files.reader.read()
  expect(find('a.test')?.listen).toHaveLength(1_000)
  expect(broken).toMatchObject([{ line: 2, sentence: 'more than 1000 places to listen; the others are not told' }])
})

test('files that decide where requests go are looked at up to a bound, and the reader says so', async () => {
  const tried = Array.from({ length: 5_001 }, (_, i) => `/f${i}`).join(' ')
  using files = nginxFiles({
    'nginx.conf': `http {\nserver { server_name a.test; root /nowhere; location / { try_files ${tried} =404; } }\n}`,
  })
  const { broken } = await files.reader.read()
  expect(broken.map(({ sentence }) => sentence)).toEqual([
    'too many files decide where requests go; this one and others were not looked at',
  ])
})
