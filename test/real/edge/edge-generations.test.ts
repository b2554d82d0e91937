import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { shardOf } from '../../../src/nginx/config/shards.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { PLAN_ID, placeSite, snippetFile, startTestEdge, type TestEdge, whenAt } from '../../support/edge/edge.ts'
import { listing } from '../../support/edge/edge-folder.ts'

let at: TestEdge
let backend: Server
let target: string
beforeAll(async () => {
  at = await startTestEdge(['broken'])
  writeFileSync(snippetFile(at, 'broken'), 'no_such_directive on;\n')
  backend = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  target = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
})
afterAll(async () => {
  backend?.close()
  backend?.closeAllConnections()
  await at?.stop()
})
afterEach(() => expect(at.leftOvers()).toEqual([]))

const site = (host: string) => ({ host, planId: PLAN_ID, target, proof: 'ab'.repeat(32) })
const place = (host: string, more = {}) => at.place(site(host), more)
const path = (name: string) => join(at.folder, name)
const ofHost = (host: string) => at.fileOf('backends', host)
const statusOf = async (host: string) => {
  const answer = await at.edge.ask({ host, path: '/', tls: false })
  return answer.kind === 'answer' ? answer.httpStatus : answer.reason
}
const statuses = (hosts: readonly string[]) => Promise.all(hosts.map(statusOf))
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}.lab.test`)
/** Hosts that stand in the same shards. */
const neighboursOf = (host: string) => names('n', 2_000).filter((name) => shardOf(name) === shardOf(host))
const listed = async (host: string) => (await at.edge.list([host])).hosts[0]
const standing = () => [
  readFileSync(path('drawbridge.conf'), 'utf8'),
  ...readdirSync(path('generations')).toSorted(),
  ...listing(path('current')),
]
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'served',
    (error: { kind?: string }) => error.kind ?? String(error),
  )
/** Places an entry that nginx refuses: it names a file of the administrator that nginx does not understand. */
const placeBad = (host: string) => at.place({ ...site(host), options: { snippets: ['broken'] } })

describe('changes at the same time', () => {
  test('64 of them are few generations, and all are served', async () => {
    const hosts = names('many', 64)
    const before = at.generation()
    await Promise.all(hosts.map((host) => place(host)))
    expect(at.generation() - before).toBeLessThanOrEqual(3)
    expect(new Set(await statuses(hosts))).toEqual(new Set([200]))
    await Promise.all(hosts.map((host) => at.remove(host)))
    expect(at.generation() - before).toBeLessThanOrEqual(6)
    expect(new Set(await statuses(hosts))).toEqual(new Set(['unknown_host']))
  })

  test('one bad one of 64 is refused by name, and 63 are served', async () => {
    const hosts = names('good', 63)
    const changes = hosts.map((host) => place(host))
    await expect(placeBad('bad.lab.test')).rejects.toMatchObject({
      kind: 'change_invalid',
      message: expect.stringContaining(snippetFile(at, 'broken')),
    })
    await Promise.all(changes)
    expect(new Set(await statuses(hosts))).toEqual(new Set([200]))
  })

  test('several bad ones are refused, each by its own test, and the others are served', async () => {
    const hosts = names('fine', 6)
    const bad = names('bad', 2)
    const changes = [...hosts.map((host) => place(host)), ...bad.map(placeBad)]
    const outcomes = await Promise.all(changes.map(kindOf))
    expect(outcomes).toEqual([...hosts.map(() => 'served'), ...bad.map(() => 'change_invalid')])
    expect(new Set(await statuses(hosts))).toEqual(new Set([200]))
  })

  test("are all refused by somebody else's broken file, and nothing has changed", async () => {
    writeFileSync(path('foreign.conf'), 'broken on;\n')
    const before = standing()
    const outcomes = await Promise.all(names('stuck', 8).map((host) => kindOf(place(host))))
    expect(new Set(outcomes)).toEqual(new Set(['config_broken']))
    expect(standing()).toEqual(before)
    rmSync(path('foreign.conf'))
  })

  test('are all refused when nothing proves the reload, and the former generation stands', async () => {
    const edge = localEdge({ ...at, pidFile: path('no.pid') })
    const before = standing()
    const outcomes = names('unproven', 4).map((host) => kindOf(placeSite(edge, site(host))))
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['not_reloaded']))
    expect(standing()).toEqual(before)
    await at.reload()
    expect(await statusOf('unproven0.lab.test')).toBe('unknown_host')
  })
})

describe("somebody else's hand", () => {
  test.each(['staged', 'before-swap'] as const)('is never lost when it comes at %s, in whatever way', async (point) => {
    await place('edited.lab.test')
    const neighbour = neighboursOf('edited.lab.test')[at.generation() % 20] ?? ''
    const [file, created] = [ofHost('edited.lab.test'), path('current/backends/zz-mine.map')]
    const edited = `${readFileSync(file, 'utf8')}# by hand at ${point}\n`
    let edits = 0
    const edit = () => {
      edits += 1
      if (edits > 1) return
      writeFileSync(`${file}.new`, edited)
      renameSync(`${file}.new`, file)
      writeFileSync(created, `mine.lab.test ${target};\n`)
    }
    await place(neighbour, whenAt(point, edit))
    expect(edits).toBe(2)
    expect(readFileSync(ofHost('edited.lab.test'), 'utf8')).toContain(`# by hand at ${point}\n`)
    expect(readFileSync(created, 'utf8')).toContain('mine.lab.test')
    expect(await statuses([neighbour, 'edited.lab.test'])).toEqual([200, 200])
    rmSync(created)
  })

  test('on the line of one host survives the change of another in the same file', async () => {
    const [one = '', other = ''] = neighboursOf('drifted.lab.test')
    await Promise.all([place(one), place(other)])
    const drifted = readFileSync(ofHost(one), 'utf8').replace(
      `${one} ${target};`,
      `  ${one}   http://127.0.0.1:9; # mine`,
    )
    writeFileSync(ofHost(one), drifted)
    await at.remove(other)
    await place(other)
    expect(readFileSync(ofHost(one), 'utf8')).toBe(drifted)
    expect(await statuses([one, other])).toEqual([502, 200])
  })

  test('a link in the place of a file: all hosts behind it are served, and the change of one makes it a file again', async () => {
    const [one = '', other = ''] = neighboursOf('linked.lab.test')
    await Promise.all([place(one), place(other)])
    const elsewhere = join(dirname(at.config), 'elsewhere.map')
    writeFileSync(elsewhere, readFileSync(ofHost(one)))
    rmSync(ofHost(one))
    symlinkSync(elsewhere, ofHost(one))
    await place(names('beside', 99).find((name) => shardOf(name) !== shardOf(one)) ?? '')
    expect(lstatSync(ofHost(one)).isSymbolicLink()).toBe(true)
    expect(await statuses([one, other])).toEqual([200, 200])
    for (const host of [one, other])
      expect((await listed(host))?.drift).toMatchObject([{ field: 'backend', found: 'a-link' }])
    await expect(at.remove(one)).rejects.toMatchObject({ kind: 'changed_elsewhere' })
    const linked = readFileSync(elsewhere, 'utf8')
    await at.place(site(one), { mend: true })
    expect(lstatSync(ofHost(one)).isFile()).toBe(true)
    expect(readFileSync(elsewhere, 'utf8')).toBe(linked)
    expect(await statuses([one, other])).toEqual([200, 200])
    expect([(await listed(one))?.drift, (await listed(other))?.drift]).toEqual([[], []])
  })

  test('a file that is missing is drift of every host in it, and a change of one of them brings back all that still stand', async () => {
    const [one = '', other = '', gone = '', moved = ''] = neighboursOf('missing.lab.test')
    await Promise.all([one, other, gone, moved].map((host) => place(host)))
    const whole = await listed(other)
    rmSync(ofHost(one))
    for (const host of [one, other])
      expect((await listed(host))?.drift).toMatchObject([{ field: 'backend', found: 'missing' }])
    // A change elsewhere does not touch it.
    await place(names('elsewhere', 99).find((name) => shardOf(name) !== shardOf(one)) ?? '')
    expect((await listed(other))?.drift).toMatchObject([{ field: 'backend', found: 'missing' }])
    // What changes while the file is missing is not brought back as it was.
    await at.remove(gone)
    rmSync(ofHost(one))
    await at.place({ ...site(moved), target: 'http://127.0.0.1:9' })
    rmSync(ofHost(one))

    await at.place(site(one), { mend: true })
    expect(await statuses([one, other])).toEqual([200, 200])
    expect(await listed(other)).toMatchObject({ revision: whole?.revision, entry: whole?.entry, drift: [] })
    expect(readFileSync(ofHost(one), 'utf8')).not.toContain(`${gone} `)
    expect([await statusOf(gone), await statusOf(moved)]).toEqual(['unknown_host', 502])
  })

  test("the administrator's reload in the middle loads the old whole or the new whole", async () => {
    await place('always.lab.test')
    const seen: unknown[] = []
    for (const point of ['staged', 'before-swap', 'swapped'] as const) {
      await place(
        `during-${point}.lab.test`,
        whenAt(point, () => process.kill(at.pid, 'SIGHUP')),
      )
      seen.push(...(await statuses(['always.lab.test', `during-${point}.lab.test`])))
    }
    expect(new Set(seen)).toEqual(new Set([200]))
  })
})

describe('old generations', () => {
  test.runIf(process.env.CAMPAIGN)('go beyond fifty, and their keys earlier', async () => {
    const certificate = await at.certificate('keyed.lab.test')
    await at.place({ ...site('keyed.lab.test'), certificate })
    // Copies: to make each of them by a change would take a minute.
    const [former, count] = [at.generation(), 60]
    for (let number = former + 1; number <= former + count; number += 1)
      cpSync(path(`generations/${former}`), path(`generations/${number}`), { recursive: true })
    await place('counted.lab.test')
    await at.remove('counted.lab.test')
    expect(at.generation()).toBe(former + count + 2)
    const kept = () =>
      readdirSync(path('generations'))
        .map(Number)
        .toSorted((a, b) => a - b)
    await expect.poll(kept).toEqual(Array.from({ length: 50 }, (_, i) => at.generation() - 49 + i))
    const withKeys = () => kept().filter((number) => existsSync(path(`generations/${number}/tls`)))
    await expect.poll(withKeys).toEqual([at.generation() - 1, at.generation()])
  })

  test('that a crash left before they were entered are removed by the next start', async () => {
    const left = [at.generation() + 1, at.generation() + 2].map((number) => path(`generations/${number}`))
    for (const folder of left) mkdirSync(join(folder, 'tls'), { recursive: true })
    const before = at.generation()
    await at.edge.prepare()
    expect(left.map((folder) => existsSync(folder))).toEqual([false, false])
    expect(at.generation()).toBe(before)
    await place('after-a-crash.lab.test')
    expect(await statusOf('after-a-crash.lab.test')).toBe(200)
  })
})
