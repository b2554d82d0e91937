import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { blockFile, hostEntry } from '../../../src/edge/config/layout.ts'
import { renderSite } from '../../../src/edge/config/render-site.ts'
import { localEdge } from '../../../src/edge/local.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

/** An edge as version 0.1 left it: a file for every host, for every certificate and for every key. */
let at: TestEdge
let backend: Server
let target: string
beforeEach(async () => {
  at = await startTestEdge()
  backend = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  target = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
  await placeFirstLayout()
})
afterEach(async () => {
  backend?.close()
  backend?.closeAllConnections()
  await at?.stop()
})

const path = (name: string) => join(at.folder, name)
const PLAIN = 'plain.lab.test'
const SECURE = 'secure.lab.test'
const DRIFTED = 'drifted.lab.test'
const LINKED = 'linked.lab.test'
const isServed = async (host: string, tls = false) => {
  const answer = await at.edge.ask({ host, path: '/', tls })
  return answer.kind === 'answer' && answer.httpStatus === 200
}
const written = (name: string) => readFileSync(path(name), 'utf8')

async function placeFirstLayout(): Promise<void> {
  for (const folder of ['hosts', 'tls', 'tls/hosts', 'tls/certificates', 'tls/keys', 'tls/more'])
    mkdirSync(path(folder), { mode: folder.startsWith('tls') ? 0o700 : 0o755 })
  const certificate = await at.certificate(SECURE)
  const sites = [PLAIN, DRIFTED, LINKED].map((host) => ({ host, planId: PLAN_ID, target }))
  for (const site of [...sites, { host: SECURE, planId: PLAN_ID, target, certificate }])
    for (const { path: name, content } of renderSite(site, at, 'blocks')) writeFileSync(path(name), content ?? '')
  writeFileSync(path(blockFile(DRIFTED)), `${written(blockFile(DRIFTED))}# by hand, without an end`)
  const elsewhere = join(dirname(at.config), 'elsewhere.conf')
  writeFileSync(elsewhere, written(blockFile(LINKED)))
  writeFileSync(
    path('hosts/own_file.conf'),
    `server { listen ${at.address}:8080; server_name own.lab.test; return 200; }\n`,
  )
  // What 0.1 included, in a base file of the same servers and maps.
  const base = written('drawbridge.conf')
    .replace(/^.*\n/, '# Made by Drawbridge, which writes it anew when it starts. Do not edit.\n')
    .replace(/include \S+\/generations\/1\/blocks\/\S+;/, `include ${at.folder}/hosts/*.conf;`)
    .replaceAll(/include \S+\/generations\/1\/tls\/hosts\/\S+;/g, `include ${at.folder}/tls/hosts/*.map;`)
    .replaceAll(/include \S+\/generations\/1\/tls\/(certificate|key)s-1\/\S+;/g, `include ${at.folder}/tls/$1s/*.map;`)
    .replaceAll(/include \S+\/generations\/1\/\S+;/g, '')
  rmSync(path(blockFile(LINKED)))
  symlinkSync(elsewhere, path(blockFile(LINKED)))
  for (const name of ['generations', 'current']) rmSync(path(name), { recursive: true })
  rmSync(path('drawbridge.conf'))
  writeFileSync(path('drawbridge.conf'), base)
  await at.reload()
}

const HOSTS = [PLAIN, DRIFTED, LINKED, 'own.lab.test']
const OLD_FILES = ['hosts', 'tls/hosts', 'tls/certificates', 'tls/keys', 'tls/more', 'tls']

/** Visits all hosts until it is stopped. */
function startLoad() {
  let isWanted = true
  const failures: string[] = []
  let good = 0
  const visits = HOSTS.map(async (host) => {
    while (isWanted) {
      if (await isServed(host)) good += 1
      else failures.push(host)
    }
  })
  return {
    async stop() {
      isWanted = false
      await Promise.all(visits)
      return { good, failures }
    },
  }
}

test('becomes the first generation without a failed request, as it stands, and its files are gone', async () => {
  const before = new Map([PLAIN, DRIFTED, LINKED, SECURE].map((host) => [host, written(blockFile(host))]))
  const entry = written(hostEntry(SECURE))
  const load = startLoad()
  await localEdge(at).prepare()
  const { good, failures } = await load.stop()
  expect(failures).toEqual([])
  expect(good).toBeGreaterThan(0)
  expect(at.generation()).toBe(1)
  for (const host of HOSTS) expect(await isServed(host), host).toBe(true)
  expect(await isServed(SECURE, true)).toBe(true)
  for (const [host, content] of before) expect(await at.edge.read([blockFile(host)]), host).toMatchObject([{ content }])
  expect(await at.edge.read([hostEntry(SECURE)])).toMatchObject([{ content: entry }])
  for (const name of OLD_FILES) expect(existsSync(path(name)), name).toBe(false)
})

test('is taken over once: a start that was interrupted before the files were removed goes on', async () => {
  await localEdge(at).prepare()
  mkdirSync(path('hosts'))
  writeFileSync(path(blockFile(PLAIN)), '# left by a crash\n')
  await localEdge(at).prepare()
  expect(existsSync(path('hosts'))).toBe(false)
  expect(at.generation()).toBe(1)
  expect(await isServed(PLAIN)).toBe(true)
})

test('is taken over without nginx, which loads it when it starts', async () => {
  await localEdge({ ...at, pidFile: path('no.pid') }).prepare()
  expect(at.generation()).toBe(1)
  for (const host of HOSTS) expect(await isServed(host), host).toBe(true)
  await at.reload()
  for (const host of HOSTS) expect(await isServed(host), host).toBe(true)
})

// nginx tries for seconds to get the address. In npm test edge-prepare waits for it.
test.runIf(process.env.CAMPAIGN)('stays as it is when nginx cannot load the new one', async () => {
  const files = () => OLD_FILES.flatMap((name) => readdirSync(path(name)))
  const before = [...files(), written('drawbridge.conf')]
  const squatter = createServer().listen(8081, at.address)
  await once(squatter, 'listening')
  const edge = localEdge({ ...at, ports: { ...at.ports, http: 8081 } })
  await expect(edge.prepare()).rejects.toMatchObject({ kind: 'not_reloaded' })
  squatter.close()
  expect([...files(), written('drawbridge.conf')]).toEqual(before)
  expect(at.generation()).toBe(0)
  for (const host of HOSTS) expect(await isServed(host), host).toBe(true)
})
