import { describe, expect, test } from 'vitest'
import { findProgram } from '../../../../lab/program.ts'
import { readSite } from '../../../../src/estate/adopt/site-text.ts'
import { judgeHosts } from '../../../../src/nginx/adopt/rehearsed.ts'
import { systemClock } from '../../../../src/primitives/clock.ts'

/** What stands in the http block counts for the site, and for the entry that stands beside it: a copy of nginx has both. */
const HOST = 'shop.example.test'
const HEADERS =
  'proxy_set_header Host $host; proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Forwarded-For $remote_addr;'

async function judged(http: string, inServer = '', headers = HEADERS) {
  const server = `server { listen 80; server_name ${HOST}; ${inServer} location / { proxy_pass http://192.168.45.25:3000; ${headers} } }`
  const directives = readSite('/etc/nginx/nginx.conf', `${http}\n${server}`, () => [])
  const isServer = ({ name }: { name: string }) => name === 'server'
  const sites = {
    servers: directives.filter(isServer),
    http: directives.filter((each) => !isServer(each)),
    upstreams: new Map(),
    firsts: new Set<never>(),
    unreadable: [],
  }
  const world = {
    ports: { http: 80, https: 443 },
    listen: [],
    serverAt: () => '25',
    named: { passwords: { office: '/etc/office' }, authorities: {}, snippets: {} },
  }
  const [adoption] = await judgeHosts([HOST], sites, world, {
    binary: findProgram('nginx', 'nginx'),
    clock: systemClock,
  })
  if (!adoption) throw new Error('The host was not judged.')
  const words = (findings: readonly { readonly sentence: string }[]) =>
    findings.map(({ sentence }) => sentence).join('\n')
  return {
    options: adoption.options,
    refused: words(adoption.refused),
    lost: words(adoption.lost),
    changed: words(adoption.changed),
  }
}

describe('the http block', () => {
  test('has the size of bodies, if the site has none', async () => {
    expect(await judged('client_max_body_size 7m;')).toMatchObject({ refused: '', options: { maxBody: '7m' } })
    expect(await judged('client_max_body_size 7m;', 'client_max_body_size 3m;')).toMatchObject({
      options: { maxBody: '3m' },
    })
    expect(await judged('')).toMatchObject({ refused: '', options: { maxBody: '1m', websocket: false } })
  })

  test('has headers of answers, which an entry does not inherit', async () => {
    expect(await judged('add_header X-Frame-Options DENY always;')).toMatchObject({
      ...{ refused: '', lost: '', options: { headers: { frameOptions: 'DENY' } } },
    })
    expect((await judged('add_header X-Own 1;')).lost).toContain('as the backend sends them')
    expect((await judged('add_header X-Own 1;', 'add_header X-Frame-Options DENY always;')).lost).toBe('')
  })

  test('has headers of requests, which an entry does not inherit', async () => {
    const own = 'proxy_set_header Host $host; proxy_set_header X-Forwarded-Proto https;'
    const { refused, lost } = await judged(own, '', '')
    expect([refused, lost]).toEqual(['', expect.stringContaining('protocol of the connection')])
  })

  test.each([
    ['a list', 'allow 192.0.2.0/24; deny all;', 'allow all;'],
    ['passwords', 'auth_basic x; auth_basic_user_file /etc/office;', 'auth_basic off;'],
  ])('with %s that a site takes back would close the host', async (_what, around, inside) => {
    expect((await judged(around, inside)).refused).not.toBe('')
    expect((await judged(around)).refused).toBe('')
    expect((await judged('', inside)).refused).toBe('')
  })

  test('with passwords of its own for a site is carried over, and the copy asks with and without one', async () => {
    const { options, refused } = await judged(
      'auth_basic x; auth_basic_user_file /etc/other;',
      'auth_basic y; auth_basic_user_file /etc/office;',
    )
    expect([refused, options?.basicAuth]).toEqual(['', 'office'])
  })
})

test('a difference that no finding tells refuses the site: the last of two headers is judged, and nginx sends both', async () => {
  const { refused } = await judged('', '', `proxy_set_header X-Real-IP fixed; ${HEADERS}`)
  expect(refused).toBe('In a rehearsal the backend got another header x-real-ip.')
})

test('challenges are left out of the copy: their backend is not looked up', async () => {
  const challenges = 'location /.well-known/acme-challenge/ { proxy_pass http://nobody.invalid:8080; }'
  expect((await judged('', challenges)).refused).toBe('')
})

test('a copy that nginx does not load refuses the site with the reason', async () => {
  const { refused } = await judged('add_header X-Own $nobody_has_this_variable;')
  expect(refused).toMatch(/^Its answers could not be compared with those of an entry: /)
})
