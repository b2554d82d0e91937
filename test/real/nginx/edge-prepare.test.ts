import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withoutNumber } from '../../../src/estate/reading/base-file.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { servingWorkers } from '../../../src/nginx/process/nginx-workers.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

let at: TestEdge
beforeEach(async () => {
  at = await startTestEdge()
})
afterEach(() => at?.stop())

const path = (name: string) => join(at.folder, name)
const base = () => readFileSync(path('drawbridge.conf'), 'utf8')
const isServed = async (ports = at.ports) => {
  const answer = await localEdge({ ...at, ports }).ask({ host: 'nobody.lab.test', path: '/', tls: false })
  return answer.kind === 'no_answer' && answer.reason === 'unknown_host'
}
const setMain = (change: (text: string) => string) => writeFileSync(at.config, change(readFileSync(at.config, 'utf8')))

test('makes its folders for their purpose and does nothing the second time', async () => {
  const modes = ['', 'generations', 'current', 'current/tls', 'current/tls/keys-1', '.staging'].map(
    (name) => statSync(path(name)).mode & 0o777,
  )
  expect(modes).toEqual([0o755, 0o755, 0o755, 0o700, 0o700, 0o700])
  const workers = servingWorkers(at.pid)
  await at.edge.prepare()
  expect(servingWorkers(at.pid)).toEqual(workers)
  expect(at.generation()).toBe(1)
  expect(readdirSync(path('generations'))).toEqual(['1'])
  expect(await isServed()).toBe(true)
})

test('takes away what a crash left, and nothing else', async () => {
  const shadow = join(dirname(at.config), '.drawbridge-shadow-0011')
  mkdirSync(path('.staging/shadow-0011'))
  for (const file of [shadow, path('.staging/draft-0011'), path('.staging/shadow-0011/0')]) writeFileSync(file, 'x')
  const foreign = join(dirname(at.config), '.mine')
  writeFileSync(foreign, 'x')
  await at.edge.prepare()
  expect(at.leftOvers()).toEqual(['.mine'])
})

test('takes away the texts of a site that a crash kept from being taken out, and keeps those of an adopted one', async () => {
  const sites = `${at.folder}-adopted`
  for (const plan of ['plan_whole', 'plan_unfinished']) {
    mkdirSync(join(sites, plan), { recursive: true })
    writeFileSync(join(sites, plan, '0.before'), 'x')
  }
  writeFileSync(join(sites, 'plan_whole', 'record.json'), '{}')
  await at.edge.prepare()
  expect(readdirSync(sites)).toEqual(['plan_whole'])
  rmSync(sites, { recursive: true })
})

const DAMAGES: [string, () => void][] = [
  ['deleted', () => rmSync(path('drawbridge.conf'))],
  ['replaced', () => writeFileSync(path('drawbridge.conf'), '# an older version\n')],
  ['changed', () => writeFileSync(path('drawbridge.conf'), `${base()}# by hand\n`)],
]
test.each(DAMAGES.slice(0, process.env.CAMPAIGN ? 3 : 2))(
  'writes a %s base file anew and loads it, with all hosts',
  async (_, damage) => {
    await at.place({ host: 'a.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:9' })
    const before = base()
    damage()
    await at.edge.prepare()
    expect(withoutNumber(base())).toBe(withoutNumber(before))
    expect(await isServed()).toBe(true)
  },
)

test.runIf(process.env.CAMPAIGN)('loads a base file that a crash left unloaded', async () => {
  const elsewhere = { ...at.ports, http: 8081 }
  const edge = localEdge({ ...at, ports: elsewhere })
  const stopped = localEdge({ ...at, ports: elsewhere, pidFile: path('no.pid') })
  await stopped.prepare()
  expect(await isServed(elsewhere)).toBe(false)
  await edge.prepare()
  expect(await isServed(elsewhere)).toBe(true)
})

test.runIf(process.env.CAMPAIGN)('puts the former base file back when nginx cannot run the new one', async () => {
  const before = base()
  const squatter = createServer().listen(8081, at.address)
  await once(squatter, 'listening')
  const edge = localEdge({ ...at, ports: { ...at.ports, http: 8081 } })
  await expect(edge.prepare()).rejects.toMatchObject({ kind: 'not_reloaded' })
  expect(base()).toBe(before)
  squatter.close()
  expect(await isServed()).toBe(true)
})

test("goes on with its base file beside somebody else's broken file, but does not write one there", async () => {
  writeFileSync(path('foreign.conf'), 'secret_canary on;\n')
  await at.edge.prepare()
  writeFileSync(path('drawbridge.conf'), '# an older version\n')
  await expect(at.edge.prepare()).rejects.toMatchObject({
    kind: 'config_broken',
    message: expect.stringContaining(`(${path('foreign.conf')}, line 1)`),
  })
  expect(base()).toBe('# an older version\n')
})

test.each(process.env.CAMPAIGN ? ['8080', '*:8080', '8079-8080', '0.0.0.0:8443 ssl'] : ['*:8080', '0.0.0.0:8443 ssl'])(
  "does not take visitors away from an administrator's own server with listen %s",
  async (listen) => {
    const own = join(dirname(at.config), 'own.conf')
    writeFileSync(own, `server { listen ${listen}; ssl_reject_handshake on; }\n`)
    setMain((text) => text.replace('include drawbridge', 'include own.conf; include drawbridge'))
    // The next start of nginx loads it: a running nginx cannot change from one address to all of them.
    await localEdge({ ...at, pidFile: path('no.pid') }).prepare()
    const [shared, alone] = listen.includes('8443') ? [8443, 8080] : [8080, 8443]
    expect(base()).toMatch(new RegExp(`listen 0\\.0\\.0\\.0:${shared}(?: ssl)?;`))
    expect(base()).not.toContain(`listen ${at.address}:${shared}`)
    expect(base()).toMatch(new RegExp(`listen ${at.address}:${alone}(?: ssl http2)?;`))
  },
)

test('touches nothing where nginx does not include the folder', async () => {
  setMain((text) => text.replace('include drawbridge/*.conf;', ''))
  rmSync(at.folder, { recursive: true })
  await expect(at.edge.prepare()).rejects.toMatchObject({ kind: 'unavailable' })
  expect(readdirSync(dirname(at.config))).not.toContain('drawbridge')
})

test('does not start on a folder of keys that others may enter', async () => {
  chmodSync(path('.staging'), 0o755)
  await expect(at.edge.prepare()).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining(`Run: chmod 0700 ${path('.staging')}`),
  })
})

test.each([
  ['a program', { binary: '/nowhere/nginx' }],
  ['a configuration', { config: '/nowhere/nginx.conf' }],
])('says that %s is missing', async (_, missing) => {
  writeFileSync(path('drawbridge.conf'), '# an older version\n')
  await expect(localEdge({ ...at, ...missing }).prepare()).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('ENOENT'),
  })
})
