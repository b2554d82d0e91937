import { afterEach, describe, expect, test } from 'vitest'
import type { EdgeMap } from '../../../../src/edge/served.ts'
import { pathsOf } from '../../../../src/estate/reading/include-drafts.ts'
import { NOTHING_OF_ROOT } from '../../../support/edge/nginx.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'
import { dumpOf, type Fixture, nginxFixture } from '../../../support/edge/nginx-fixture.ts'

let fixture: Fixture | undefined

afterEach(() => fixture?.[Symbol.dispose]())

/** Read by us, after nginx itself has said that it would load it. */
async function read(style: string, links?: Readonly<Record<string, string>>): Promise<EdgeMap> {
  fixture = await nginxFixture(style, links)
  const { code, errors } = await dumpOf(fixture)
  expect(errors).not.toContain('[emerg]')
  expect(code).toBe(0)
  const map = await fixture.reader.read()
  expect(map.broken).toEqual([])
  return map
}

/** `host file:line places target`. */
const told = ({ hosts }: EdgeMap): string[] =>
  hosts.map(({ host, configPath, line, listen, proxyPass, unresolved, furtherTargets }) => {
    const file = configPath.replace(`${fixture?.folder}/`, '')
    const places = listen.map(({ address, port, tls }) => {
      const name = port === fixture?.http ? 'http' : port === fixture?.https ? 'https' : String(port)
      return `${address}:${name}${tls ? '+' : ''}`
    })
    const more = furtherTargets > 0 ? ` and ${furtherTargets}` : ''
    return `${host} ${file}:${line} ${places.join(',')} ${unresolved ? 'unresolved' : (proxyPass ?? 'nowhere')}${more}`
  })

describe('configurations in the style of', () => {
  test('Debian: sites-enabled, snippets, symbolic links', async () => {
    const enabled = { default: 'default', 'wiki.conf': 'wiki.example.test', files: 'files.example.test' }
    const links = Object.entries(enabled).map(([link, site]) => [`sites-enabled/${link}`, `../sites-available/${site}`])
    const map = await read('debian', Object.fromEntries(links))
    expect(told(map)).toEqual([
      'files.example.test sites-enabled/files:1 *:http nowhere',
      'wiki.example.test sites-enabled/wiki.conf:10 *:http,[::]:http,*:https+,[::]:https+ http://192.168.45.25:8080',
      'www.wiki.example.test sites-enabled/wiki.conf:10 *:http,[::]:http,*:https+,[::]:https+ http://192.168.45.25:8080',
    ])
    const place = { address: '192.168.45.23', port: fixture?.http ?? 0, tls: false }
    expect(map.answers('nobody.test', place)).toMatchObject({ how: 'default', block: { names: ['_'] } })
  })

  test('certbot: TLS written into a site, and a redirect beside it', async () => {
    const map = await read('certbot')
    expect(told(map)).toEqual([
      'shop.example.test conf.d/shop.conf:1 *:http,[::]:http,[::]:https+,*:https+ https://192.168.45.253:8443',
      'www.shop.example.test conf.d/shop.conf:1 *:http,[::]:http,[::]:https+,*:https+ https://192.168.45.253:8443',
    ])
  })

  test('Nginx Proxy Manager: everything in variables, proxy_pass in an include', async () => {
    const map = await read('proxy-manager')
    expect(told(map)).toEqual([
      'localhost conf.d/default.conf:10 *:https+ nowhere',
      'localhost-nginx-proxy-manager conf.d/default.conf:2 *:http nowhere',
      'music.example.test proxy_host/2.conf:2 *:http https://music-backend.internal:4533',
      'photos.example.test proxy_host/1.conf:6 *:http,[::]:http,*:https+,[::]:https+ http://192.168.45.25:2283',
    ])
  })

  test('maps and upstreams: each host has a backend of its own', async () => {
    const map = await read('maps')
    const targets = Object.fromEntries(
      map.hosts.map((host) => [host.host, host.unresolved ? 'unresolved' : host.proxyPass]),
    )
    expect(targets).toEqual({
      '42.test': 'unresolved',
      'a.team.test': 'http://192.168.45.25:7000',
      'blog.test': 'http://192.168.45.25:4000',
      'by-scheme.test': 'http://192.168.45.25:7100',
      'chain.test': 'http://192.168.45.25:8180',
      'dev-1.test': 'http://192.168.45.253:7005',
      'extra.test': 'http://192.168.45.25:7200',
      'fallback.test': 'http://192.168.45.25:6000',
      'geo.test': 'unresolved',
      'git.test': 'http://unix:/run/gitea.sock',
      'mail.test': 'http://192.168.45.25:7003',
      'maybe.test': 'unresolved',
      'named.test': 'http://app.internal:3000',
      'nobody.test': 'http://192.168.45.23:1000',
      'other-scheme.test': 'http://192.168.45.25:4000',
      'people.test': 'http://192.168.45.25:7002',
      'secure.test': 'https://192.168.45.25',
      'six.test': 'http://[fd00::25]:8080',
      'socket.test': 'http://unix:/run/app.sock',
      'split.test': 'unresolved',
      'team.test': 'http://192.168.45.25:7001',
      'x.people.test': 'http://192.168.45.25:7002',
    })
    expect(map.find('blog.test')).toMatchObject({ furtherTargets: 1, target: { host: '192.168.45.25', port: 4000 } })
    expect(map.find('git.test')?.target).toBeNull()
    expect(map.find('six.test')?.target).toEqual({ protocol: 'http', host: 'fd00::25', port: 8080 })
    expect(map.find('secure.test')?.target).toEqual({ protocol: 'https', host: '192.168.45.25', port: 80 })
    const place = { address: '127.0.0.1', port: fixture?.http ?? 0, tls: false }
    expect(map.answers('new.team.test', place)).toMatchObject({
      how: 'default',
      block: { proxyPass: 'http://192.168.45.25:7000' },
    })
  })

  test('an ingress controller: one large file, quoted braces, patterns', async () => {
    const map = await read('ingress')
    expect(told(map)).toEqual([
      'a.tenants.test conf.d/tenants.conf:12 *:http,[::]:http,*:https+,[::]:https+ http://192.168.45.25:8081 and 1',
      'b.tenants.test conf.d/tenants.conf:34 *:https+ nowhere',
    ])
    const place = { address: '127.0.0.1', port: fixture?.https ?? 0, tls: true }
    const how = ['a.tenants.test', 'x.b.tenants.test', 'b-12.tenants.test', 'b-1234.tenants.test'].map(
      (host) => map.answers(host, place)?.how,
    )
    expect(how).toEqual(['exact', 'leading_wildcard', 'regex', 'default'])
  })
})

describe('includes name the files that nginx loads, in its order', () => {
  const NAMES = [
    'a.conf',
    'B.conf',
    'b.conf',
    '10.conf',
    '9.conf',
    'a-x/s.conf',
    'a/s.conf',
    '.hidden.conf',
    'x[1].conf',
  ]
  const PATTERNS = [
    '*.conf',
    '?.conf',
    '[ab].conf',
    '[!a].conf',
    '[^0-9]*.conf',
    '.*.conf',
    '*/s.conf',
    'a*/*',
    'x\\[*',
  ]

  test.each(PATTERNS)('%s', async (pattern) => {
    using files = nginxFiles({
      'nginx.conf': `${NOTHING_OF_ROOT.main} events {}\nhttp { ${NOTHING_OF_ROOT.http} include sites/${pattern}; }\n`,
    })
    files.write(Object.fromEntries(NAMES.map((name) => [`sites/${name}`, `# ${name}\n`])))
    const { errors, files: loaded } = await dumpOf(files)
    expect(errors).not.toContain('[emerg]')
    expect(pathsOf(files.path(`sites/${pattern}`), '')).toEqual(loaded.slice(1))
    expect(loaded.length).toBeGreaterThan(1)
  })
})
