import { describe, expect, test } from 'vitest'
import { judgeSite } from '../../../../src/estate/adopt/judge/judge-site.ts'
import { namesOf } from '../../../../src/estate/adopt/judge/site-blocks.ts'
import { readSite, type SiteDirective } from '../../../../src/estate/adopt/site-text.ts'
import { SITE_STYLES } from '../../../support/edge/sites/site-styles.ts'

const HOST = 'shop.example.test'
const FILES = { certificateFile: '/etc/ssl/shop.crt', keyFile: '/etc/ssl/shop.key' }
const SITE = { host: HOST, backend: '192.168.45.25:3000', http: 80, https: 443, ...FILES }

function judged(text: string, listen = ['192.168.45.23'], around = '') {
  const read = (given: string) => readSite('/etc/nginx/sites-enabled/shop', given, () => [])
  const directives = read(text)
  const servers = directives.filter((each) => each.name === 'server' && namesOf(each).includes(HOST))
  const backendsIn = (block: readonly SiteDirective[]) =>
    block.flatMap(({ name, args }) => (name === 'server' ? [args[0] ?? ''] : []))
  const upstreams = new Map(
    directives
      .filter(({ name }) => name === 'upstream')
      .map(({ args, block = [] }) => [args[0] ?? '', backendsIn(block)]),
  )
  const { adoption } = judgeSite(HOST, servers, {
    ports: { http: 80, https: 443 },
    listen,
    http: read(around),
    upstreams,
    serverAt: (address) => ({ '192.168.45.25': '25', '127.0.0.1': '23' })[address],
    named: { passwords: { office: '/etc/office' }, authorities: { inside: '/etc/inside.pem' }, snippets: {} },
  })
  return adoption
}

/** A site with these lines in its location, and these in its server. */
const site = (inLocation: string, inServer = '') => `server {
  listen 80;
  server_name ${HOST};
  ${inServer}
  location / {
    proxy_pass http://192.168.45.25:3000;
    proxy_set_header Host $host;
    ${inLocation}
  }
}`

/** What nginx does by itself, and an exposure would not. */
const DEFAULTS = { maxBody: '1m', timeouts: { connect: 60, read: 60 }, websocket: false }

/** The sentences that a plain site has anyway. */
const USUAL = /from Drawbridge, and not from the visitor|asked by HTTP\/1\.1/

const told = (findings: readonly { sentence: string }[]) => findings.filter(({ sentence }) => !USUAL.test(sentence))

const lines = (findings: readonly { directive: string; line: number }[]) =>
  findings.map(({ directive, line }) => `${directive} ${line}`)

describe('a hand-written site', () => {
  test.each(SITE_STYLES)('$name can be adopted', ({ text, tls, losesSomething }) => {
    const adoption = judged(text(SITE))
    expect(adoption.refused).toEqual([])
    const files = ['/etc/nginx/sites-enabled/shop']
    expect(adoption).toMatchObject({ backend: { server: '25', port: 3000 }, tls, files })
    expect(adoption.lost.length > 0).toBe(losesSomething)
    expect(adoption.certificate).toEqual(tls ? FILES : undefined)
  })

  test('tells what is lost by name, file and line, and not by its text', () => {
    const { lost } = judged(
      site('proxy_set_header X-Shop secret-value;', 'add_header X-Powered-By secret-value;\n  gzip on;'),
    )
    expect(lines(lost)).toEqual(['add_header 4', 'gzip 5', 'proxy_set_header 9'])
    expect(JSON.stringify(lost)).not.toContain('secret-value')
  })

  test.each([
    ['a body size', 'client_max_body_size 8M;', { maxBody: '8m' }],
    ['a body size in bytes', 'client_max_body_size 2048;', { maxBody: '2k' }],
    ['no limit of the body', 'client_max_body_size 0;', { maxBody: '0' }],
    [
      'what an exposure has',
      'client_max_body_size 64m; proxy_read_timeout 5m;',
      { maxBody: undefined, timeouts: { connect: 60 } },
    ],
    ['timeouts', 'proxy_read_timeout 1m30s; proxy_connect_timeout 10;', { timeouts: { connect: 10, read: 90 } }],
    ['no buffering', 'proxy_buffering off; proxy_request_buffering off;', { buffering: false }],
    ['a header', 'add_header X-Frame-Options sameorigin always;', { headers: { frameOptions: 'SAMEORIGIN' } }],
    ['an access list', 'allow 10.0.0.0/8; allow 192.0.2.7; deny all;', { allow: ['10.0.0.0/8', '192.0.2.7/32'] }],
    ['passwords', 'auth_basic x; auth_basic_user_file /etc/office;', { basicAuth: 'office' }],
    ['no password', 'auth_basic off;', undefined],
    ['HSTS that no browser heeds', 'add_header Strict-Transport-Security max-age=1;', undefined],
  ])('is carried over with %s', (_what, text, options) => {
    const adoption = judged(site(text))
    expect(adoption).toMatchObject({ lost: [], refused: [] })
    expect(adoption.options).toEqual({ ...DEFAULTS, ...options })
    expect(judged(site('', text)).options).toEqual({ ...DEFAULTS, ...options })
  })

  test('has the values of its location before those of its server', () => {
    const { options, lost } = judged(
      site('client_max_body_size 2m; add_header X-Robots-Tag none;', 'client_max_body_size 1m; add_header X-Other 1;'),
    )
    expect(options).toEqual({ ...DEFAULTS, maxBody: '2m', headers: { robots: 'none' } })
    expect(lost).toEqual([])
  })

  test('tells that a header is sent with errors, too, unless the site says so itself', () => {
    const { changed } = judged(site('add_header X-Frame-Options DENY;\n    add_header X-Robots-Tag none always;'))
    expect(changed.filter(({ sentence }) => sentence === 'The header is sent with errors, too.')).toMatchObject([
      { directive: 'add_header', line: 8 },
    ])
  })

  test('tells that visitors over IPv6 go elsewhere, unless our servers listen there, too', () => {
    const ipv6 = (options = '') => site('', `listen [::]:80${options};`)
    expect(told(judged(ipv6()).changed)).toMatchObject([{ directive: 'listen', line: 4 }])
    expect(told(judged(ipv6(' ipv6only=off')).changed)).toEqual([])
    expect(told(judged(ipv6(), ['192.168.45.23', '2001:db8::23']).changed)).toEqual([])
    expect(told(judged(site('')).changed)).toEqual([])
  })

  test('has HSTS with TLS, and nothing of the redirect beside it', () => {
    const tls = 'listen 443 ssl; ssl_certificate /a; ssl_certificate_key /b;'
    const hsts = 'add_header Strict-Transport-Security "max-age=31536000; includeSubDomains" always;'
    const plain = `server { listen 80; server_name ${HOST}; client_max_body_size 9m; return 301 https://$host$request_uri; }`
    const { options, lost } = judged(`${plain}\n${site(hsts).replace('listen 80;', tls)}`)
    expect(options).toEqual({ ...DEFAULTS, headers: { hsts: { maxAge: 31_536_000, includeSubDomains: true } } })
    expect(lines(lost)).toEqual(['client_max_body_size 1'])
  })

  test('with an https backend is carried over if an authority of the configuration checks it', () => {
    const checked = 'proxy_ssl_verify on; proxy_ssl_trusted_certificate /etc/inside.pem; proxy_ssl_name app.inside;'
    const secure = (text: string) => judged(site(text).replace('http://', 'https://'))
    const backendTls = { authority: 'inside', name: 'app.inside' }
    expect(secure(checked)).toMatchObject({ refused: [], options: { backendTls } })
    expect(secure(checked.replace('verify on', 'verify off')).refused).not.toEqual([])
    expect(secure(checked.replace('inside.pem', 'other.pem')).refused).not.toEqual([])
  })

  test('loses a setting for some of its paths', () => {
    const { lost, options } = judged(
      site('', 'location /up { client_max_body_size 1g; proxy_pass http://192.168.45.25:3000; }'),
    )
    expect(options).toEqual(DEFAULTS)
    expect(lines(lost)).toContain('client_max_body_size 4')
  })

  test.each([
    ['files', site('', 'location /static/ { alias /srv/shop/; }'), 'alias'],
    ['php', site('', 'location ~ \\.php$ { fastcgi_pass unix:/run/php.sock; }'), 'fastcgi_pass'],
    ['a password', site('auth_basic shop;'), 'auth_basic'],
    ['an access list with holes', site('deny 10.1.0.0/16; allow 10.0.0.0/8; deny all;'), 'allow'],
    ['a list of those who are kept out', site('deny 10.1.0.0/16;'), 'deny'],
    ['passwords in a file without an id', site('auth_basic x; auth_basic_user_file /etc/other;'), 'auth_basic'],
    ['a hidden path', site('', 'location ~ /\\.git { deny all; }'), 'deny'],
    ['client certificates', site('', 'ssl_verify_client on;'), 'ssl_verify_client'],
    ['Lua', site('', 'access_by_lua_file /etc/shop.lua;'), 'access_by_lua_file'],
    ['a rewrite', site('rewrite ^/old /new last;'), 'rewrite'],
    ['a condition', site('if ($arg_x) { return 403; }'), 'if'],
    ['an unknown directive', site('frobnicate on;'), 'frobnicate'],
    ['a credential for the backend', site('proxy_set_header Authorization "Basic x";'), 'proxy_set_header'],
    ['another Host', site('').replace('$host', 'other.example.test'), 'proxy_set_header'],
    ['another port', site('').replace('listen 80', 'listen 8080'), 'listen'],
    ['the default server', site('').replace('listen 80', 'listen 80 default_server'), 'listen'],
    ['PROXY protocol', site('').replace('listen 80', 'listen 80 proxy_protocol'), 'listen'],
    ['a second name', site('').replace(HOST, `${HOST} www.example.test`), 'server'],
    ['a wildcard name', site('').replace(HOST, `${HOST} *.example.test`), 'server'],
    ['a backend that nobody registered', site('').replace('192.168.45.25', '10.9.9.9'), 'proxy_pass'],
    ['a backend by name', site('').replace('192.168.45.25', 'backend.internal'), 'proxy_pass'],
    ['an https backend', site('').replace('http://', 'https://'), 'proxy_pass'],
    ['a socket', site('').replace('192.168.45.25:3000', 'unix:/run/shop.sock'), 'proxy_pass'],
    ['a backend of the request', site('').replace('192.168.45.25', '$arg_to'), 'proxy_pass'],
    ['another path', site('').replace(':3000', ':3000/app/'), 'proxy_pass'],
    ['two backends by path', site('', 'location /b { proxy_pass http://192.168.45.25:4000; }'), 'server'],
    [
      'two backends together',
      `upstream u { server 192.168.45.25:1; server 192.168.45.25:2; }\n${site('').replace('192.168.45.25:3000', 'u')}`,
      'proxy_pass',
    ],
    [
      'a redirect elsewhere',
      `server { listen 80; server_name ${HOST}; return 301 https://other.example.test$request_uri; }`,
      'return',
    ],
    [
      'a redirect to HTTPS alone',
      `server { listen 80; server_name ${HOST}; return 301 https://$host$request_uri; }`,
      'server',
    ],
    ['an identity that visitors cannot send', site('proxy_set_header X-Remote-User "";'), 'proxy_set_header'],
    ['an identity of its own', site('proxy_set_header X-Webauth-User $remote_user;'), 'proxy_set_header'],
    ['headers of requests by a module', site("more_clear_input_headers 'X-Own';"), 'more_clear_input_headers'],
    ['a realm of the request', site('auth_basic $realm; auth_basic_user_file /etc/office;'), 'auth_basic'],
    ['several ports', site('').replace('listen 80', 'listen 80-90'), 'listen'],
    ['files alone', `server { listen 80; server_name ${HOST}; root /srv/shop; }`, 'server'],
  ])('is refused with %s', (_what, text, directive) => {
    const { refused } = judged(text)
    expect(refused.map((each) => each.directive)).toContain(directive)
  })

  test.each([
    ['a closed server', 'allow all;', 'deny all;', ''],
    ['a server with a password', 'auth_basic off;', 'auth_basic x; auth_basic_user_file /etc/office;', ''],
    ['a narrow list', 'allow 10.0.0.0/8; deny all;', 'allow 10.1.0.0/16; deny all;', ''],
    ['a list around the server', 'allow 10.0.0.0/8; deny all;', '', 'allow 10.1.0.0/16; deny all;'],
    ['no list', 'allow 10.0.0.0/8; deny all;', '', ''],
  ])('is refused if %s has effect at some paths only', (_what, inLocation, inServer, around) => {
    const pass = '{ proxy_pass http://192.168.45.25:3000; proxy_set_header Host $host; }'
    const refusedWith = (location: string) =>
      judged(site(inLocation, `${inServer} ${location}`), undefined, around).refused.map(({ directive }) => directive)
    for (const path of ['/admin', '= /', '~ ^/admin', '/silent'])
      expect(refusedWith(`location ${path} ${path === '/silent' ? '{ access_log off; }' : pass}`)).toContain('location')
    expect(refusedWith('')).toEqual([])
  })

  test('with an http block that asks for certificates is refused if it asks for none', () => {
    const withoutAny = site('', 'ssl_verify_client off;')
    expect(judged(withoutAny).refused).toEqual([])
    expect(judged(withoutAny, undefined, 'ssl_verify_client on;').refused).toMatchObject([
      { directive: 'ssl_verify_client' },
    ])
  })

  test('that listens on an address of its own is refused if Drawbridge listens on another', () => {
    const listening = (listen: string, ours: string[]) => judged(site('').replace('listen 80', listen), ours)
    const TLS = 'ssl; ssl_certificate /a; ssl_certificate_key /b'
    expect(listening('listen 127.0.0.1:80', ['0.0.0.0']).refused).toMatchObject([{ directive: 'listen' }])
    expect(listening('listen 10.0.0.1:80', ['10.0.0.1', '10.0.0.2']).refused).toMatchObject([{ directive: 'listen' }])
    expect(listening('listen [::1]:80', ['10.0.0.1']).refused).toMatchObject([{ directive: 'listen' }])
    expect(listening(`listen 80; listen 10.0.0.1:443 ${TLS}`, ['10.0.0.2']).refused).toMatchObject([
      { directive: 'listen' },
    ])
    expect(listening('listen 10.0.0.1:80', ['10.0.0.1']).refused).toEqual([])
    expect(listening('listen 10.0.0.1:80; listen 80', ['10.0.0.2']).refused).toEqual([])
    expect(told(listening('listen 80', ['10.0.0.1', '2001:db8::1']).changed)).toMatchObject([{ directive: 'listen' }])
  })

  test('tells that a path without its last slash is not redirected any more', () => {
    const pass = '{ proxy_pass http://192.168.45.25:3000; proxy_set_header Host $host; }'
    const changedWith = (location: string) =>
      judged(site('', location)).changed.filter(({ directive }) => directive === 'location')
    expect(changedWith(`location /api/ ${pass}`)).toHaveLength(1)
    expect(changedWith(`location = /api/ ${pass}`)).toEqual([])
    expect(changedWith(`location /api ${pass}`)).toEqual([])
  })

  test.each([
    ['server_tokens off;', 'answer server'],
    ['charset utf-8;', 'answer content-type'],
    ['proxy_hide_header X-Powered-By;', 'answer x-powered-by'],
    ['add_header X-Own 1;', 'answer x-own'],
  ])('with %s tells of no other header of answers', (text, answer) => {
    const [server] = readSite('/site', site(text), () => [])
    const { told: words } = judgeSite(HOST, server ? [server] : [], {
      ...{ ports: { http: 80, https: 443 }, upstreams: new Map(), serverAt: () => '25' },
    })
    expect([...words].filter((word) => word.startsWith('answer '))).toEqual([answer])
  })

  test('says of a header that the backend does not get that visitors can send it', () => {
    const { lost } = judged(site('proxy_set_header X-Shop 1;'))
    expect(lost.map(({ sentence }) => sentence)).toEqual([expect.stringContaining('visitors can send it themselves')])
  })

  test('whose redirect to HTTPS leaves some paths out loses HTTP there', () => {
    const redirect = 'return 301 https://$host$request_uri;'
    const tls = site('').replace('listen 80;', 'listen 443 ssl; ssl_certificate /a; ssl_certificate_key /b;')
    const hook = 'location ~ ^/hook { proxy_pass http://192.168.45.25:3000; proxy_set_header Host $host; }'
    const lostWith = (inside: string) =>
      judged(`server { listen 80; server_name ${HOST}; ${inside} }\n${tls}`).lost.map(({ sentence }) => sentence)
    expect(lostWith(`location / { ${redirect} } ${hook}`)).toEqual(['HTTP is redirected to HTTPS.'])
    expect(lostWith(`${redirect} ${hook}`)).toEqual([])
  })

  test.each([
    ['TLS', 'listen 192.0.2.1:443 ssl;', 'listen 443 ssl;'],
    ['plain HTTP', 'listen 192.0.2.1:80;', 'listen 80;'],
  ])('with two blocks for %s is refused if they differ, whichever comes first', (_what, first, second) => {
    const block = (listen: string, guard = '') => site(guard).replace('listen 80;', listen)
    const list = 'allow 10.0.0.0/8; deny all;'
    const refused = (text: string) => judged(text).refused.map(({ sentence }) => sentence)
    const otherwise = ['Another server block of the host answers the same visitors otherwise.']
    expect(refused(block(first) + block(second))).toEqual([])
    expect(refused(block(first) + block(second, list))).toEqual(otherwise)
    expect(refused(block(first, list) + block(second))).toEqual(otherwise)
  })

  test('without a Host for the backend needs consent', () =>
    expect(lines(judged(site('').replace('proxy_set_header Host $host;', '')).lost)).toEqual(['proxy_pass 6']))

  test('without a header of its own in the location has those of the server', () => {
    const text = site('')
      .replace('proxy_set_header Host $host;', '')
      .replace('location', 'proxy_set_header Host $host;\n  location')
    expect(judged(text).lost).toEqual([])
  })

  test('that serves both without a redirect loses plain HTTP', () => {
    const text = site('', 'listen 443 ssl; ssl_certificate /a.crt; ssl_certificate_key /a.key;')
    expect(judged(text).lost.map(({ sentence }) => sentence)).toEqual(['HTTP is redirected to HTTPS.'])
  })

  test('with a backend on the loopback is exposed by the address of the edge', () => {
    const adoption = judged(site('').replace('192.168.45.25', 'localhost'))
    expect(adoption.backend).toEqual({ server: '23', port: 3000 })
    expect(told(adoption.changed)).toHaveLength(1)
  })
})
