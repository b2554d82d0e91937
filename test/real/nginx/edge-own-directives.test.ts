import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import { entryOf, PLAN_ID, type Site, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

/** Whatever the administrator adds to nginx that is valid by itself stays valid beside our files, and every host goes on. */
let at: TestEdge
let backend: Backend
beforeEach(async () => {
  backend = await startBackend((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nbackend'))
  at = await startTestEdge()
})
afterEach(async () => {
  await at?.stop()
  await backend[Symbol.asyncDispose]()
})

const proof = 'ab'.repeat(32)
const label = 'l'.repeat(60)
/** The longest name that fits nginx's default hash tables, the shortest that does not, and the longest that an edge takes. */
const NAMES = ['app', 'm'.repeat(37), 'n'.repeat(38), `${label}.${label}.${label}.${'x'.repeat(57)}`]
const hostsOf = (kind: 'a' | 'b' | 'c') => NAMES.map((name) => `${kind}${name.slice(1)}.lab.test`)

/** Hosts as lines without and with TLS, and hosts with server blocks of their own. */
async function placeHosts() {
  const certificate = await at.certificate(...hostsOf('b'), ...hostsOf('c'))
  const site = (host: string): Site => ({
    host,
    planId: PLAN_ID,
    target: `http://${backend.address}:${backend.port}`,
    proof,
  })
  const sites = [
    ...hostsOf('a').map(site),
    ...hostsOf('b').map((host) => ({ ...site(host), certificate })),
    ...hostsOf('c').map((host) => ({ ...site(host), certificate, options: { maxBody: '1m' } })),
  ]
  await at.edge.certificate(certificate)
  const items = sites.map((one) => ({
    ...{ host: one.host, expected: 'any' as const, wanted: entryOf(one) },
    fence: { host: one.host, epoch: 0, number: 0 },
  }))
  const verdicts = await at.edge.change({ items })
  expect(verdicts.filter(({ state }) => state !== 'serving')).toEqual([])
}

async function expectServed() {
  for (const [kind, tls] of [
    ['a', false],
    ['b', true],
    ['c', true],
  ] as const)
    for (const host of hostsOf(kind))
      expect([host, await at.edge.ask({ host, path: '/', tls, proof })]).toMatchObject([
        host,
        { kind: 'answer', httpStatus: 200, entry: 'ours' },
      ])
}

const setMain = (change: (text: string) => string) => writeFileSync(at.config, change(readFileSync(at.config, 'utf8')))
const addBefore = (text: string) => setMain((main) => main.replace('http {', `http { ${text}`))
const addAfter = (text: string) => setMain((main) => main.replace(/\}\s*$/, `${text}\n}\n`))

const UPGRADES = "map $http_upgrade $connection_upgrade { default upgrade; '' close; }"

const isCampaign = process.env.CAMPAIGN !== undefined

const TABLES: [string, () => void][] = [
  ['a map before our include', () => addBefore(UPGRADES)],
  [
    'sizes of hash tables and other tables',
    () => {
      addBefore('map_hash_bucket_size 128; map_hash_max_size 4096; geo $inside { default 0; 10.0.0.0/8 1; }')
      addAfter('server_names_hash_bucket_size 128; limit_req_zone $binary_remote_addr zone=mine:1m rate=9r/s;')
    },
  ],
  ['a map after our include', () => addAfter(UPGRADES)],
]
test.each(TABLES.slice(0, isCampaign ? 3 : 2))('%s stays valid beside names of any length', async (_, add) => {
  await placeHosts()
  await expectServed()
  add()
  await at.edge.assertValid()
  await at.reload()
  await expectServed()
  await at.edge.prepare()
  await at.edge.assertValid()
  await at.remove(hostsOf('b')[3] ?? '')
  await at.remove(hostsOf('c')[3] ?? '')
  await at.edge.assertValid()
})

const defaults = (more: string) =>
  `server { listen ${at.address}:${at.ports.http}${more}; return 410; }
  server { listen ${at.address}:${at.ports.https} ssl${more}; ssl_reject_handshake on; }`

const DEFAULTS: [string, () => void][] = [
  ['before our include, by its place', () => addBefore(defaults(''))],
  ['after our include', () => addAfter(defaults(' default_server'))],
  ['before our include, by its words', () => addBefore(defaults(' default_server'))],
]
test.each(DEFAULTS.slice(0, isCampaign ? 3 : 2))(
  "an administrator's default server %s answers unknown names, and every host goes on",
  async (_, add) => {
    await placeHosts()
    add()
    await at.edge.assertValid()
    await at.reload()
    const unknown = () => at.edge.ask({ host: 'unknown.test', path: '/', tls: false })
    expect(await unknown()).toMatchObject({ httpStatus: 410 })
    await expectServed()
    await at.edge.prepare()
    await at.edge.assertValid()
    expect(await unknown()).toMatchObject({ httpStatus: 410 })
    await expectServed()
  },
)
