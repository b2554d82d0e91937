import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { EdgeMap } from '../../../../src/edge/served.ts'
import { addressesIn } from '../../../../src/estate/reading/text/hosts-file.ts'
import { parseListens, withEveryPort } from '../../../../src/estate/reading/text/listen.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'

async function read(text: string): Promise<EdgeMap> {
  using files = nginxFiles({ 'nginx.conf': `http {\n${text}\n}\n` })
  return await files.reader.read()
}

const at = (address: string, port = 80, tls = false) => ({ address, port, tls })

describe('listen', () => {
  test.each([
    ['80', ['* 80']],
    ['*', ['* 80']],
    ['*:81', ['* 81']],
    ['0.0.0.0:81', ['* 81']],
    ['127.0.0.1', ['127.0.0.1 80']],
    ['127.0.0.1:8080', ['127.0.0.1 8080']],
    ['[::]', ['[::] 80']],
    ['[::]:443', ['[::] 443']],
    ['[0:0::1]:443', ['[::1] 443']],
    ['8000-8002', ['* 8000', '* 8001', '* 8002']],
    ['127.0.0.1:8000-8001', ['127.0.0.1 8000', '127.0.0.1 8001']],
    ['unix:/run/x.sock', ['unix:/run/x.sock null']],
    ['app.internal:90', ['app.internal 90']],
    ['443 quic reuseport', ['* 443']],
  ])('%s', (text, expected) => {
    const listen = withEveryPort(parseListens([text.split(' ')], false), { left: 100 })
    expect(listen.map(({ address, port }) => `${address} ${port}`)).toEqual(expected)
  })

  test('options', () => {
    expect(parseListens([['443', 'ssl', 'http2', 'default_server', 'reuseport']], false)).toMatchObject([
      { isTls: true, isDefault: true, isDual: false },
    ])
    expect(parseListens([['[::]:80', 'default', 'ipv6only=off']], false)).toMatchObject([
      { isDefault: true, isDual: true },
    ])
  })

  test('localhost is what the machine resolves it to', async () => {
    const both = '127.0.0.1 localhost\n::1 ip6-localhost localhost # both\n'
    expect(addressesIn(both, 'localhost', true)).toEqual(['127.0.0.1', '[::1]'])
    expect(addressesIn(both, 'localhost', false)).toEqual(['127.0.0.1'])
    expect(addressesIn('127.0.0.1 localhost\n#::1 localhost\n::1 ip6-localhost', 'localhost', true)).toEqual([
      '127.0.0.1',
    ])
    const map = await read('server { listen LocalHost:8080; server_name a.test; }')
    expect(map.find('a.test')?.listen[0]).toMatchObject({ address: '127.0.0.1', port: 8080 })
    expect(map.answers('a.test', at('127.0.0.1', 8080))?.how).toBe('exact')
  })

  test('a name in the hosts file is its addresses there', () => {
    const text = '10.0.0.7 App.internal app\n10.0.0.8 app\nfd00::7 app\n'
    expect(addressesIn(text, 'app', true)).toEqual(['10.0.0.7', '10.0.0.8', '[fd00::7]'])
    expect(addressesIn(text, 'app.internal', false)).toEqual(['10.0.0.7'])
    expect(addressesIn(text, 'other', true)).toEqual(['other'])
  })

  test('a host that listens by another name is listed with that name', async () => {
    const map = await read('server { listen app.internal:80; server_name a.test; } server { listen 80; }')
    expect(map.find('a.test')?.listen).toMatchObject([{ address: 'app.internal', port: 80 }])
  })

  test('a request without a name goes to a server without one', async () => {
    const map = await read('server { listen 80 default_server; server_name a.test; } server { listen 80; return 204; }')
    expect(map.answers('', at('127.0.0.1', 80))?.block.names).toEqual([])
    expect(map.answers('b.test', at('127.0.0.1', 80))?.how).toBe('default')
  })

  test('ssl on counts where its server is the default server, also from the http block', async () => {
    const pair = (first: string, second: string) =>
      read(`server { listen 443; server_name a.test; ${first} } server { listen 443; server_name b.test; ${second} }`)
    expect((await pair('ssl on;', '')).find('b.test')?.tls).toBe(true)
    expect((await pair('', 'ssl on;')).find('b.test')?.tls).toBe(false)
    const all = await read(
      'ssl on; server { listen 443; server_name a.test; } server { listen 80; server_name b.test; ssl off; }',
    )
    expect(all.hosts.map(({ tls }) => tls)).toEqual([true, false])
  })

  test('TLS is a matter of the place: one server says it for all that share it', async () => {
    const map = await read(`server { listen 443 ssl default_server; } server { listen 443; server_name a.test; }`)
    expect(map.find('a.test')).toMatchObject({ tls: true, listen: [{ port: 443, tls: true, defaultServer: false }] })
    expect(map.answers('a.test', at('10.0.0.1', 443, true))?.how).toBe('exact')
    expect(map.answers('a.test', at('10.0.0.1', 443, false))).toBeUndefined()
    expect(map.answers('a.test', at('10.0.0.1', 80))).toBeUndefined()
  })

  test('QUIC only is told, and does not count beside TCP', async () => {
    const map = await read(
      'server { listen 443 quic; server_name a.test; } server { listen 443 quic; listen 443 ssl; server_name b.test; }',
    )
    expect(map.find('a.test')?.listen).toMatchObject([{ port: 443, tls: true, quic: true }])
    expect(map.find('b.test')?.listen).toEqual([{ address: '*', port: 443, tls: true, defaultServer: true }])
    expect(map.answers('a.test', { ...at('127.0.0.1', 443), tls: true })?.block.names).toEqual(['b.test'])
  })

  test('the PROXY protocol is a matter of the place, too', async () => {
    const map = await read(`server { listen 80 proxy_protocol; } server { listen 80; listen 81; server_name a.test; }`)
    expect(map.find('a.test')?.listen).toEqual([
      { address: '*', port: 80, tls: false, defaultServer: false, proxyProtocol: true },
      { address: '*', port: 81, tls: false, defaultServer: true },
    ])
  })

  test('IPv6 is another network, unless a socket takes both', async () => {
    const map = await read(`server { listen [::]:80; server_name six.test; } server { listen [::]:81 ipv6only=off; }`)
    expect(map.answers('six.test', at('[::1]'))?.how).toBe('exact')
    expect(map.answers('six.test', at('127.0.0.1'))).toBeUndefined()
    expect(map.answers('six.test', at('127.0.0.1', 81))?.how).toBe('default')
  })

  test('a server that has QUIC only is listed, and no TCP connection reaches it', async () => {
    const map = await read(`server { listen 443 quic; server_name q.test; }
server { listen 443 quic; listen 443 ssl; server_name both.test; }`)
    expect(map.find('q.test')?.listen).toMatchObject([{ address: '*', port: 443, tls: true }])
    expect(map.find('both.test')?.listen).toHaveLength(1)
    const answered = map.answers('q.test', at('10.0.0.1', 443, true))
    expect(answered).toMatchObject({ how: 'default', block: { names: ['both.test'] } })
    expect(map.answers('q.test', at('10.0.0.1', 80))).toBeUndefined()
  })

  test('a server without one listens where nginx may', async () => {
    const [host] = (await read('server { server_name a.test; }')).hosts
    expect(host?.listen).toMatchObject([{ address: '*', port: process.getuid?.() === 0 ? 80 : 8000 }])
  })
})

describe('names', () => {
  test('the longest wildcard counts, a leading one before a trailing one', async () => {
    const map = await read(`
server { listen 80; server_name *.test; }
server { listen 80; server_name *.b.test; }
server { listen 80; server_name a.*; }
server { listen 80; server_name a.b.*; }
server { listen 80; server_name ~^a\\.b\\.; }`)
    const line = (host: string) => map.answers(host, at('10.0.0.1'))?.block.line
    expect(['x.test', 'x.b.test', 'a.b.test', 'a.x', 'a.b.x', 'a.c.x'].map(line)).toEqual([3, 4, 4, 5, 6, 5])
  })

  test('hosts are names that visitors can ask for', async () => {
    const names = `_ "" 10.0.0.1 A.Test a.test *.w.test t.* .dot.test ~^r$ under_score.test b.test. $hostname bücher.test`
    const { hosts } = await read(`server { server_name ${names}; }`)
    expect(hosts.map(({ host }) => host)).toEqual(
      ['a.test', 'dot.test', 'under_score.test', hostname().toLowerCase()].sort(),
    )
  })

  test('of two servers with one name the first counts, on each place by itself', async () => {
    const map = await read(`
server { listen 80; server_name a.test; location / { proxy_pass http://10.0.0.1; } }
server { listen 80; listen 81; server_name a.test; location / { proxy_pass http://10.0.0.2; } }`)
    expect(map.find('a.test')).toMatchObject({ proxyPass: 'http://10.0.0.1', listen: [{ port: 80 }, { port: 81 }] })
    expect(map.answers('a.test', at('10.0.0.9', 81))?.block.proxyPass).toBe('http://10.0.0.2')
  })
})

describe('what a server proxies to', () => {
  test.each([
    [
      'location / for the host, whatever else there is',
      'location /a { proxy_pass http://10.0.0.1; } location / { proxy_pass http://10.0.0.2; }',
      'http://10.0.0.2',
    ],
    [
      '= / before /',
      'location / { proxy_pass http://10.0.0.1; } location = / { proxy_pass http://10.0.0.2; }',
      'http://10.0.0.2',
    ],
    [
      'nothing, where only other paths have a backend',
      'location /a { proxy_pass http://10.0.0.1; } location /b { proxy_pass http://10.0.0.2; }',
      null,
    ],
    [
      'nothing, where / answers by itself',
      'location / { return 301 https://x; } location /acme { proxy_pass http://10.0.0.1; }',
      null,
    ],
    ['nothing, where the server answers by itself', 'return 404; location / { proxy_pass http://10.0.0.1; }', null],
    [
      'what is within an if, where it is the only one',
      'location / { if ($a) { proxy_pass http://10.0.0.1; } } location /b { proxy_pass http://10.0.0.2; }',
      'http://10.0.0.1',
    ],
    ['a location within another', 'location / { location ~ ^/$ { proxy_pass http://10.0.0.1; } }', 'http://10.0.0.1'],
    ['no path of it', 'location / { proxy_pass http://10.0.0.1:81/secret?token=x; }', 'http://10.0.0.1:81'],
    ['nothing, where there is none', 'location / { root /srv; }', null],
  ])('%s', async (_, text, expected) => {
    const [host] = (await read(`server { server_name a.test; ${text} }`)).hosts
    expect(host).toMatchObject({ proxyPass: expected, unresolved: false })
  })

  test('maps that lead to one another come to an end', async () => {
    const map = await read(`map $a $b { default $c; } map $b $c { default $b; } map $d $d { default $d; }
server { server_name a.test; location / { proxy_pass http://$b; } }
server { server_name b.test; set $x $x; location / { proxy_pass http://$x; } }`)
    expect(map.hosts.map(({ unresolved, proxyPass }) => unresolved && proxyPass)).toEqual([null, null])
  })

  test('a value that doubles itself does not grow without end', async () => {
    const maps = Array.from({ length: 40 }, (_, i) => `map $host $v${i} { default "$v${i + 1}$v${i + 1}"; }`)
    const map = await read(`${maps.join('\n')} map $host $v40 { default 10.0.0.1; }
server { server_name a.test; location / { proxy_pass http://$v0; } }`)
    expect(map.find('a.test')?.unresolved).toBe(true)
  })
})
