import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ANSWERS, BY_HOST, readBlock, SERVER_NAME } from '../../../src/edge/config/written-lines.ts'
import type { Site } from '../../../src/edge/contract.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

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
  const certificate = await at.certificate('lab.test')
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
  const files = await Promise.all(sites.map((one) => at.edge.filesFor(one)))
  await at.change([...new Map(files.flat().map((file) => [file.path, file])).values()])
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

test.each([
  ['a map before our include', () => addBefore(UPGRADES)],
  ['a map after our include', () => addAfter(UPGRADES)],
  [
    'sizes of hash tables and other tables',
    () => {
      addBefore('map_hash_bucket_size 128; map_hash_max_size 4096; geo $inside { default 0; 10.0.0.0/8 1; }')
      addAfter('server_names_hash_bucket_size 128; limit_req_zone $binary_remote_addr zone=mine:1m rate=9r/s;')
    },
  ],
])('%s stays valid beside names of any length', async (_, add) => {
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

test.each([
  ['before our include, by its words', () => addBefore(defaults(' default_server'))],
  ['before our include, by its place', () => addBefore(defaults(''))],
  ['after our include', () => addAfter(defaults(' default_server'))],
])("an administrator's default server %s answers unknown names, and every host goes on", async (_, add) => {
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
})

/** What version 0.1 of this layout had written: sizes of hash tables, plain names of any length, and keys with more than a name. */
function writeAsBefore() {
  const change = (name: string, by: (text: string) => string) => {
    const path = join(at.folder, name)
    writeFileSync(path, by(readFileSync(path, 'utf8')))
  }
  const kinds = {
    'names-http': SERVER_NAME,
    'names-https': SERVER_NAME,
    backends: BY_HOST,
    answers: ANSWERS,
    'tls/hosts': BY_HOST,
  }
  for (const [kind, { read }] of Object.entries(kinds))
    for (const name of readdirSync(join(at.folder, 'current', kind)))
      change(`current/${kind}/${name}`, (text) => text.replaceAll(/.*\n/g, read))
  for (const name of readdirSync(join(at.folder, 'current/blocks')))
    change(`current/blocks/${name}`, (text) => hostsOf('c').reduce((all, host) => readBlock(host, all), text))
  change('drawbridge.conf', (text) =>
    text
      .replace(/\n\n/, '\n\nserver_names_hash_bucket_size 512;\nmap_hash_bucket_size 512;\n')
      .replace(
        /map \$host \$drawbridge_proof (.*)\nmap [^}]*\{32\}[^}]*\{32\}[^}]*\}/,
        'map "$host $http_x_drawbridge_question" $drawbridge_answer $1',
      ),
  )
}

test('an edge of an earlier version is written anew in one generation, without drift', async () => {
  await placeHosts()
  const paths = ['a', 'b', 'c']
    .flatMap((kind) => hostsOf(kind as 'a'))
    .flatMap((host) => [`entries/${host}`, `hosts/${host}.conf`])
  const hashes = await at.edge.hashFiles(paths)
  writeAsBefore()
  await at.reload()
  await expectServed()
  expect(await at.edge.hashFiles(paths)).toEqual(hashes)
  const generation = at.generation()
  await at.edge.prepare()
  expect(at.generation()).toBe(generation + 1)
  expect(readFileSync(join(at.folder, 'drawbridge.conf'), 'utf8')).not.toMatch(/^\s*\w+_hash_/m)
  expect(await at.edge.hashFiles(paths)).toEqual(hashes)
  await expectServed()
  await at.edge.prepare()
  expect(at.generation()).toBe(generation + 1)
})
