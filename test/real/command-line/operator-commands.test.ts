import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { DUTIES, type DutyReport } from '../../../src/runs/duties.ts'
import { NEWEST_SCHEMA, OLDEST_SCHEMA, openStore } from '../../../src/store/open.ts'
import { entryFile, hasEntry } from '../../support/lab/entry-file.ts'
import { applied, planned, planOf, removed, world } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { withStore } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import type { Ended } from '../../support/programs/drawbridge.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

let lab: TestLab

beforeAll(async () => {
  lab = await borrowLab('mortal')
})

afterAll(() => lab?.stop())

/** Rejects where the command does not end with 0. */
async function drawbridge(...args: string[]): Promise<Ended> {
  const ended = await command(args)
  if (ended.code !== 0) throw Object.assign(new Error(ended.stderr), ended)
  return ended
}
const configured = () => ['--config', join(lab.state, 'drawbridge.yaml')]

test('withdraw lists every name, asks, and takes all of them out of DNS and off the edges', async () => {
  const first = await applied(lab, { subdomain: 'withdrawn', tls: true })
  const second = await applied(lab, { subdomain: 'also-withdrawn' })
  const listed = await drawbridge('withdraw', '--show', ...configured())
  expect(listed.stdout.split('\n')).toEqual(expect.arrayContaining([first.host, second.host]))
  await expect(drawbridge('withdraw', ...configured())).rejects.toMatchObject({ code: 2 })
  await expect(drawbridge('withdraw', '--all', ...configured())).rejects.toMatchObject({ code: 2 })
  const { primary, secondary } = lab.description.edges
  expect(hasEntry(primary, first.host)).toBe(true)
  const { stdout } = await drawbridge('withdraw', '--all', '--yes', '--json', ...configured())
  const { removed: hosts, failed } = JSON.parse(stdout)
  expect(failed).toEqual([])
  expect(hosts).toEqual(expect.arrayContaining([first.host, second.host]))
  for (const edge of [primary, secondary])
    expect([first.host, second.host].filter((host) => hasEntry(edge, host))).toEqual([])
  const { body } = await lab.call({ method: 'GET', path: `/api/deploy/plans/${first.planId}` })
  expect(body).toMatchObject({ state: 'removed' })
  const again = await drawbridge('withdraw', '--all', '--yes', ...configured())
  expect(again.stdout).toBe('No name points here.\n')
})

test('backups are listed, and one restores the files', async () => {
  const { planId, host } = await applied(lab, { subdomain: 'kept' })
  const file = entryFile(lab.description.edges.primary, host)
  const before = readFileSync(file, 'utf8')
  await removed(lab, planId)
  const { stdout } = await drawbridge('backups', 'list', ...configured())
  const [newest = ''] = stdout.split('\n')
  expect(newest).toContain(`${host} on 23`)
  const runId = newest.split(' ')[0] ?? ''
  const shown = await drawbridge('backups', 'restore', runId, '--show', ...configured())
  expect(shown.stdout).toContain(`would be created on 23: the entry of ${host} (`)
  await expect(drawbridge('backups', 'restore', runId, ...configured())).rejects.toMatchObject({ code: 2 })
  expect(hasEntry(lab.description.edges.primary, host)).toBe(false)
  await drawbridge('backups', 'restore', runId, '--yes', ...configured())
  expect(readFileSync(file, 'utf8')).toBe(before)
  const again = await drawbridge('backups', 'restore', runId, ...configured())
  expect(again.stdout).toContain('already the same as before that run')
  rmSync(file)
})

test('a restore that would take a live host off the air shows it, and needs the name of the host', async () => {
  const { host } = await applied(lab, { subdomain: 'live', tls: true })
  const before = await world(lab)
  const { stdout } = await drawbridge('backups', 'list', '--json', ...configured())
  const { runId } = JSON.parse(stdout).backups.find((backup: { host: string }) => backup.host === host)
  const refused = await drawbridge('backups', 'restore', runId, '--yes', ...configured()).catch((error) => error)
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`--off-air ${host}`) })
  expect(await world(lab)).toEqual(before)
  const shown = await drawbridge('backups', 'restore', runId, '--show', '--json', ...configured())
  expect(JSON.parse(shown.stdout)).toMatchObject({
    offAir: host,
    restored: false,
    differences: [{ path: expect.stringContaining('/current/backends/'), change: 'vanishes' }],
  })
  expect(await world(lab)).toEqual(before)
  await drawbridge('backups', 'restore', runId, '--yes', '--off-air', host, ...configured())
  expect(hasEntry(lab.description.edges.primary, host)).toBe(false)
})

test('an exposure is prolonged through the API, from inside only', async () => {
  const { planId } = await applied(lab, { subdomain: 'longer', expiresIn: 300 })
  const { stdout } = await drawbridge('extend', planId, '--for', '2h', '--url', lab.description.inside)
  const end = Date.parse(stdout.replace(/.* expires at (.*)\.\n/, '$1'))
  expect(Math.abs(end - Date.now() - 7_200_000)).toBeLessThan(60_000)
  expect(stdout).not.toContain('cap_')
  await expect(drawbridge('extend', planId, '--for', '2h', '--url', lab.description.outside)).rejects.toThrow(
    'internal network',
  )
  await expect(drawbridge('extend', planId, '--for', 'soon', '--url', lab.description.inside)).rejects.toThrow(
    'is not a duration',
  )
})

test('a plan that is not blocked has nothing to resolve', async () => {
  const { planId } = await planned(lab, { subdomain: 'free' })
  await expect(drawbridge('resolve', planId, ...configured())).rejects.toThrow('not blocked')
  await expect(drawbridge('backups', 'restore', 'run_00', ...configured())).rejects.toThrow('no backup')
})

test.runIf(process.env.CAMPAIGN)('a second service on the same state folder is refused', async () => {
  await expect(drawbridge('serve', ...configured())).rejects.toThrow('Another Drawbridge service uses the state folder')
  expect((await lab.call({ path: '/livez' })).status).toBe(200)
})

describe('housekeeping', () => {
  const housekept = (...words: string[]) => drawbridge('housekeeping', ...words, ...configured())

  test('brings the Secondary into step, and removes what has ended, when it is asked to', async () => {
    const { secondary } = lab.description.edges
    const behind = await applied(lab, { subdomain: 'behind' })
    const over = await applied(lab, { subdomain: 'over', expiresIn: 300 })
    rmSync(entryFile(secondary, behind.host))
    await withStore(lab, (store) => store.setExposureExpiry(over.host, over.planId, Date.now()))
    // A timer may be faster than a command. Then there is nothing left to say.
    const converged = await housekept('converge')
    expect(converged.stdout).toMatch(/^converge: (1 host brought into step on edge 73|every edge is in step)\.\n$/)
    expect(hasEntry(secondary, behind.host)).toBe(true)
    const expired = await housekept('expire')
    expect(expired.stdout).toMatch(/^expire: (1 exposure was removed|nothing was due)\.\n$/)
    expect((await planOf(lab, over.planId)).state).toBe('removed')
    await removed(lab, behind.planId)
  })

  test('does all duties in their order, and tells scripts and the log', async () => {
    const { stdout } = await housekept('--json')
    const { duties } = JSON.parse(stdout)
    expect(duties.map(({ duty, ok }: DutyReport) => `${duty} ${ok}`)).toEqual(DUTIES.map((duty) => `${duty} true`))
    const logged = () => readFileSync(lab.description.log, 'utf8')
    await until('the log tells it', () => logged().includes('"event":"duty_by_request","duty":"prune"'))
  })

  test('a wrong duty is refused, and without a service it says how to start one', async () => {
    await expect(housekept('everything')).rejects.toMatchObject({ code: 2 })
    using folder = tempFolder()
    const file = join(folder.path, 'drawbridge.yaml')
    const stateDir = join(folder.path, 'nobody-here')
    const { stateDir: _, ...config } = parse(readFileSync(join(lab.state, 'drawbridge.yaml'), 'utf8'))
    writeFileSync(file, stringify({ ...config, stateDir }), { mode: 0o600 })
    const refused = await drawbridge('housekeeping', '--config', file).catch((error) => error)
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain(
      `No service uses the state folder ${stateDir}. Start it: systemctl start drawbridge`,
    )
  })

  test('a service that was killed leaves its socket, and the next one takes its place', async () => {
    await lab.killService('SIGKILL')
    expect(await housekeeping(lab, 'prune')).toMatchObject([{ duty: 'prune', ok: true }])
    await lab.stopService()
    await expect(housekeeping(lab, 'prune')).rejects.toThrow('No service uses the state folder')
    expect(existsSync(join(lab.state, 'service', 'control.sock'))).toBe(false)
    // Who gives the lab back starts it again.
  })
})

describe('beside a store of another version', () => {
  const folder = tempFolder()
  afterAll(() => folder[Symbol.dispose]())
  const stateDir = join(folder.path, 'state')
  const file = join(stateDir, 'drawbridge.db')
  const config = join(folder.path, 'drawbridge.yaml')
  const versions = () => {
    const database = new Database(file, { readonly: true })
    const rows = database.prepare('select version from schema_versions order by version').all()
    database.close()
    return rows.map((row) => (row as { version: number }).version)
  }
  const setVersion = (version: number) => {
    const database = new Database(file)
    database.exec(`delete from schema_versions; insert into schema_versions values (${version})`)
    database.close()
  }
  const COMMANDS = [
    ['backups', 'list'],
    ['audit', 'verify'],
    ['webhooks', 'list'],
    ['resolve', 'plan_x', '--show'],
    ['backup', join(folder.path, 'one.backup'), '--unencrypted'],
  ]
  const answer = (command: readonly string[]) => drawbridge(...command, '--config', config).then(String, String)
  const answers = (commands = COMMANDS) => Promise.all(commands.map(answer))
  /** Makes a store where there is none, and holds the state folder alone. */
  const REBUILD = ['rebuild', '--from-world', '--dry-run']

  beforeAll(async () => {
    mkdirSync(stateDir, { mode: 0o700 })
    writeFileSync(config, `stateDir: ${stateDir}\nzones: { lab.test: { primary: 127.0.0.1 } }\n`)
  })

  test('no command makes one, brings an older one up to date, or reads a newer one', async () => {
    for (const told of await answers()) expect(told).toContain('Start the service once')
    expect(existsSync(file)).toBe(false)
    await (await openStore({ kind: 'sqlite', file })).close()
    setVersion(OLDEST_SCHEMA)
    for (const told of [...(await answers()), await answer(REBUILD)]) {
      expect(told).toContain(
        `Its schema has version ${OLDEST_SCHEMA}, and this Drawbridge needs version ${NEWEST_SCHEMA}`,
      )
      expect(told).toContain('Start the service of this version once to upgrade the store (drawbridge serve)')
    }
    expect(versions()).toEqual([OLDEST_SCHEMA])
    setVersion(OLDEST_SCHEMA - 1)
    for (const told of [...(await answers()), await answer(REBUILD), await answer(['serve'])])
      expect(told).toContain('Start the last Drawbridge before this one once')
    expect(versions()).toEqual([OLDEST_SCHEMA - 1])
    setVersion(999)
    for (const told of [...(await answers()), await answer(REBUILD), await answer(['serve'])])
      expect(told).toContain('Use the newer Drawbridge that wrote it, or go back')
    expect(versions()).toEqual([999])
  })
})
