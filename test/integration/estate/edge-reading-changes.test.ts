import { execFileSync } from 'node:child_process'
import { renameSync, symlinkSync, utimesSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { nginxFiles, settled } from '../../support/edge/nginx-files.ts'

const MAIN = 'events {}\nhttp { include sites/*.conf; }\n'
const site = (name: string, target = 'http://192.168.45.25:3000') =>
  `server { listen 80; server_name ${name}; location / { proxy_pass ${target}; } }\n`
const CANARY = 'canary7f3a'

describe('a second reading', () => {
  test('is the same object while nothing has changed', async () => {
    using files = nginxFiles({ 'nginx.conf': MAIN, 'sites/a.conf': site('a.test') })
    await settled(files.reader)
    const first = await files.reader.read()
    expect(await files.reader.read()).toBe(first)
    expect((await Promise.all([files.reader.read(), files.reader.read()])).every((map) => map === first)).toBe(true)
  })

  test('sees edits, new and removed files, and files put in the place of others', async () => {
    using files = nginxFiles({ 'nginx.conf': MAIN, 'sites/a.conf': site('a.test') })
    const hosts = async () => (await files.reader.read()).hosts.map(({ host }) => host)
    expect(await hosts()).toEqual(['a.test'])
    files.write({ 'sites/a.conf': site('b.test') }) // As long as before, and within the same moment.
    expect(await hosts()).toEqual(['b.test'])
    files.write({ 'sites/c.conf': site('c.test') })
    expect(await hosts()).toEqual(['b.test', 'c.test'])
    files.remove('sites/a.conf')
    expect(await hosts()).toEqual(['c.test'])
    await settled(files.reader)
    expect(await hosts()).toEqual(['c.test'])
    files.write({ draft: site('d.test') })
    utimesSync(files.path('draft'), 1, 1)
    renameSync(files.path('draft'), files.path('sites/c.conf'))
    expect(await hosts()).toEqual(['d.test'])
    files.remove('sites')
    expect(await hosts()).toEqual([])
    files.write({ 'sites/e.conf': site('e.test') })
    expect(await hosts()).toEqual(['e.test'])
  })

  test('begins after the call: a change made while another reading runs is in it', async () => {
    using files = nginxFiles({ 'nginx.conf': MAIN, 'sites/a.conf': site('a.test') })
    const before = files.reader.read()
    await Promise.resolve()
    files.write({ 'sites/a.conf': site('b.test') })
    const [, after] = await Promise.all([before, files.reader.read()])
    expect(after.hosts.map(({ host }) => host)).toEqual(['b.test'])
  })
})

describe('what cannot be read is told, and the rest is kept', () => {
  test.each([
    ['a missing include', 'include gone.conf;', 'gone.conf', null],
    ['a file that is none', 'include pipe;', 'pipe', null],
    ['a folder', 'include folder;', 'folder', null],
    ['a link to nowhere', 'include links/*;', 'links/dangling', null],
    ['a file that includes itself', 'include self.conf;', 'self.conf', 2],
    ['two that include each other', 'include one.conf;', 'two.conf', 1],
    ['a text that ends too early', 'include early.conf;', 'early.conf', 3],
    ['a quotation without end', 'include quote.conf;', 'quote.conf', 2],
    ['a brace too many', 'include brace.conf;', 'brace.conf', 3],
  ])('%s', async (_, include, path, line) => {
    using files = nginxFiles({
      'nginx.conf': `events {}\nhttp {\n${site('before.test')}${include}\n${site('after.test')}}\n`,
      'folder/x': '',
      'links/fine': '',
      'self.conf': `\ninclude self.conf; # ${CANARY}\n`,
      'one.conf': 'location / { include two.conf; } include two.conf;',
      'two.conf': 'server { include one.conf; } include one.conf;',
      'early.conf': `server {\n server_name ${CANARY}.test;\n ${CANARY}`,
      'quote.conf': `${site('kept.test')}set $a "${CANARY};\n`,
      'brace.conf': `${site('kept.test')}\n} ${CANARY};`,
    })
    execFileSync('mkfifo', [files.path('pipe')])
    symlinkSync('/nonexistent', files.path('links/dangling'))
    const { hosts, broken } = await files.reader.read()
    const names = hosts.map(({ host }) => host)
    expect(names).toContain('before.test')
    expect(names).toContain('after.test')
    expect(broken).toContainEqual({ path: files.path(path), line, sentence: expect.any(String) })
    expect(JSON.stringify(broken)).not.toContain(CANARY)
    expect(JSON.stringify(broken)).not.toContain('too deeply') // A loop is seen at once.
  })

  test('a main file that is not there', async () => {
    using files = nginxFiles({})
    expect(await files.reader.read()).toMatchObject({ hosts: [], broken: [{ path: files.config, line: null }] })
  })

  test('files that include one another without end, each twice', async () => {
    const chain = Array.from({ length: 30 }, (_, i) => [`${i}.conf`, `include ${i + 1}.conf; include ${i + 1}.conf;`])
    using files = nginxFiles({ 'nginx.conf': 'http { include 0.conf; }', '30.conf': '', ...Object.fromEntries(chain) })
    const { broken } = await files.reader.read()
    expect(broken.length).toBeGreaterThan(0)
  })

  test('maps that nobody needs are not even opened', async () => {
    using files = nginxFiles({
      'nginx.conf': `http { map $host $key { include secret.map; } map $host $to { include to.map; }
server { server_name a.test; location / { proxy_pass http://$to; } } }`,
      'to.map': 'a.test 192.168.45.25:1;',
    })
    const { hosts, broken } = await files.reader.read()
    expect(hosts).toMatchObject([{ proxyPass: 'http://192.168.45.25:1' }])
    expect(broken).toEqual([]) // secret.map does not exist.
  })
})
