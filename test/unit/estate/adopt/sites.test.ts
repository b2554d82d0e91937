import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hostsIn, judgeHost, type Sites, sitesOfEdge, sitesOfFolder } from '../../../../src/estate/adopt/sites.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

const temporary = tempFolder()
afterAll(() => temporary[Symbol.dispose]())

const WORLD = {
  ports: { http: 80, https: 443 },
  listen: ['192.168.45.23'],
  serverAt: (address: string) => (address === '192.168.45.25' ? '25' : undefined),
}
const PROXY = 'location / { proxy_pass http://192.168.45.25:3000; proxy_set_header Host $host; }'
const server = (host: string, inside = '') => `server { listen 80; server_name ${host}; ${inside} ${PROXY} }\n`

let count = 0

/** Writes the files into a folder of their own, and says where it is. */
function written(files: Readonly<Record<string, string>>): string {
  count += 1
  const folder = join(temporary.path, String(count))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const refusedIn = (sites: Sites) =>
  Object.fromEntries(hostsIn(sites).map((host) => [host, judgeHost(host, sites, WORLD).adoption.refused]))

function judgedAt(folder: string) {
  const sites = sitesOfEdge({ config: join(folder, 'nginx.conf'), folder: join(folder, 'drawbridge') })
  return refusedIn(sites)
}

/** A guard in a file that the site includes, and another site beside it. */
const guarded = (include: string) => ({
  'nginx.conf': `http { include sites/*; }`,
  'sites/shop': server('shop.example.test', include),
  'sites/calm': server('calm.example.test'),
})

const UNREAD: readonly (readonly [string, () => string])[] = [
  [
    'a file over the limit of bytes',
    () => {
      const folder = written({ ...guarded('include guard;'), guard: 'deny all;\n' })
      truncateSync(join(folder, 'guard'), 17 * 1024 * 1024)
      return folder
    },
  ],
  ['a file with a syntax error', () => written({ ...guarded('include guard;'), guard: 'deny all; }' })],
  [
    'files that are nested too deeply',
    () => {
      const chain = Array.from({ length: 40 }, (_, at) => [`deep${at}`, `include deep${at + 1};`])
      return written({ ...guarded('include deep0;'), ...Object.fromEntries(chain), deep40: 'deny all;' })
    },
  ],
  ['a file that is missing', () => written(guarded('include guard;'))],
  [
    'a pattern that leads through links for ever',
    () => {
      const folder = written({ ...guarded('include l*/l*/l*/l*/l*/l*/guard;'), 'l0/guard': 'deny all;' })
      for (let at = 1; at < 12; at += 1) {
        symlinkSync('..', join(folder, `l0/l${at}`))
        symlinkSync('l0', join(folder, `l${at}`))
      }
      return folder
    },
  ],
  [
    'a folder in a pattern that cannot be looked into',
    () => {
      const folder = written(guarded('include private/guards/*.conf;'))
      symlinkSync('private', join(folder, 'private'))
      return folder
    },
  ],
  [
    'a folder behind a pattern that cannot be looked into',
    () => {
      const folder = written({ ...guarded('include teams/*/guard.conf;'), 'teams/one/guard.conf': '' })
      symlinkSync('private', join(folder, 'teams/private'))
      return folder
    },
  ],
]

describe('what was not read', () => {
  test.each(UNREAD)('%s refuses the block that includes it, and no other', (_what, make) => {
    const { 'shop.example.test': shop, 'calm.example.test': calm } = judgedAt(make())
    expect(shop).toMatchObject([
      { directive: 'include', line: 1, sentence: expect.stringContaining('It includes a file that was not read: ') },
    ])
    expect(calm).toEqual([])
  })

  test('refuses a site in whose location it stands', () => {
    const site = server('shop.example.test').replace('location / {', 'location / { include missing;')
    const folder = written({ 'nginx.conf': 'http { include sites/*; }', 'sites/shop': site })
    expect(judgedAt(folder)['shop.example.test']).toMatchObject([{ directive: 'include' }])
  })

  test('refuses every site where it stands in the http block', () => {
    const folder = written({
      'nginx.conf': 'http {\n  include guard;\n  include sites/*;\n}',
      'sites/shop': server('shop.example.test'),
      guard: 'deny all; }',
    })
    expect(judgedAt(folder)['shop.example.test']).toMatchObject([{ directive: 'include', line: 2 }])
  })

  test('refuses every site where it stands in an upstream', () => {
    const folder = written({
      'nginx.conf': 'http {\n  upstream u { server 192.168.45.25:3000; include more; }\n  include sites/*;\n}',
      'sites/shop': server('shop.example.test'),
    })
    expect(judgedAt(folder)['shop.example.test']).toMatchObject([{ directive: 'include', line: 2 }])
  })

  test('refuses every site of a folder in which a file is not read, and a certificate is no such file', () => {
    const folder = written({ shop: server('shop.example.test'), 'own.pem': '-----BEGIN CERTIFICATE-----\n' })
    const hosts = () => Object.values(refusedIn(sitesOfFolder(folder))).map((refused) => refused.length)
    expect(hosts()).toEqual([0])
    writeFileSync(join(folder, 'other'), 'server {')
    expect(hosts()).toEqual([1])
  })
})

test('a file of a folder that sites include stands there, and not in the http block', () => {
  const bare = server('bare.example.test').replace(' proxy_set_header Host $host;', '')
  const params = 'proxy_set_header Host $host;\nclient_max_body_size 9m;\n'
  const folder = written({
    proxy_params: params,
    'snippets/common.conf': params,
    'sites/bare': bare,
    'sites/full': bare.replace('bare', 'full').replace('location / {', 'location / { include snippets/common.conf;'),
    'conf.d/size.conf': 'client_max_body_size 7m;\n',
  })
  const sites = sitesOfFolder(folder)
  const judgedOf = (host: string) => judgeHost(host, sites, WORLD).adoption
  expect(judgedOf('bare.example.test').options?.maxBody).toBe('7m')
  expect(judgedOf('bare.example.test').lost.map(({ sentence }) => sentence)).toEqual([
    'The backend gets the Host of the visitor, and not its own address as Host.',
  ])
  expect(judgedOf('full.example.test')).toMatchObject({ lost: [], options: { maxBody: '9m' } })
})

test('a folder with nginx.conf is read as nginx reads it: only what is included', () => {
  const folder = written({
    'nginx.conf': 'http { include sites-enabled/*; include drawbridge/*.conf; }',
    'sites-enabled/on': server('on.example.test'),
    'sites-available/off': server('off.example.test'),
    'drawbridge/ours.conf': server('ours.example.test'),
  })
  expect(hostsIn(sitesOfFolder(folder))).toEqual(['on.example.test'])
})

test('relative includes of a folder below nginx.conf start where nginx.conf stands', () => {
  const folder = written({
    'nginx.conf': 'http { include sites-enabled/*; }',
    'snippets/size.conf': 'client_max_body_size 9m;\n',
    'sites-enabled/on': server('on.example.test').replace('location / {', 'include snippets/size.conf; location / {'),
  })
  const sites = sitesOfFolder(join(folder, 'sites-enabled'))
  expect(sites.unreadable).toEqual([])
  expect(judgeHost('on.example.test', sites, WORLD).adoption.options?.maxBody).toBe('9m')
})

test('a host with an underscore is listed, and cannot be adopted', () => {
  const folder = written({ 'nginx.conf': 'http { include sites/*; }', 'sites/shop': server('my_shop.example.test') })
  expect(judgedAt(folder)['my_shop.example.test']).toMatchObject([{ directive: 'server' }])
})

test('the first block of a socket is its default server, unless another one says so', () => {
  const toldIn = (last: string) => {
    const folder = written({
      'nginx.conf': 'http { include sites/*; }',
      ...{ 'sites/a': server('a.example.test'), 'sites/b': server('b.example.test'), 'sites/c': last },
    })
    const sites = sitesOfEdge({ config: join(folder, 'nginx.conf'), folder: join(folder, 'drawbridge') })
    const isTold = (host: string) =>
      judgeHost(host, sites, WORLD).adoption.changed.some(({ sentence }) => sentence.includes('the first block'))
    return ['a.example.test', 'b.example.test'].filter(isTold)
  }
  expect(toldIn('')).toEqual(['a.example.test'])
  expect(toldIn('server { listen 80 default_server; return 444; }')).toEqual([])
})

const LUA = 'access_by_lua_block { if ngx.var.arg_x == "}" then ngx.exit(403) end -- it\'s }\n }'

test.each([
  ['in the server', server('shop.example.test', `${LUA} deny all;`), ''],
  ['in an included file', server('shop.example.test', 'include guard;'), `${LUA}\ndeny all;`],
])('a program in Lua: %s is read by its own rules, with what stands behind it', (_where, site, guard) => {
  const folder = written({ 'nginx.conf': 'http { include sites/*; }', 'sites/shop': site, guard })
  const refused = judgedAt(folder)['shop.example.test']
  expect(refused?.map(({ directive }) => directive)).toEqual(expect.arrayContaining(['access_by_lua_block', 'deny']))
})

test('a program in Lua in the http block refuses every site, and one that only starts nginx does not', () => {
  const files = (program: string) =>
    written({ 'nginx.conf': `http { ${program} include sites/*; }`, 'sites/shop': server('shop.example.test') })
  expect(judgedAt(files(LUA))['shop.example.test']).toMatchObject([{ directive: 'access_by_lua_block' }])
  expect(judgedAt(files('init_by_lua_block { x = {} }'))['shop.example.test']).toEqual([])
})
