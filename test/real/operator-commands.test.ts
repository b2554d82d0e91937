import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applied, planned, removed, world } from '../support/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab.ts'

let lab: TestLab

beforeAll(async () => {
  lab = await startTestLab()
})

afterAll(() => lab?.stop())

const run = promisify(execFile)
const drawbridge = (...args: string[]) => run('bin/drawbridge', args)
const configured = () => ['--config', join(lab.state, 'drawbridge.yaml')]

test('backups are listed, and one puts the files back as they stood', async () => {
  const { planId, host } = await applied(lab, { subdomain: 'kept' })
  const file = join(lab.description.edges.primary.hosts, `${host}.conf`)
  const before = readFileSync(file, 'utf8')
  await removed(lab, planId)
  const { stdout } = await drawbridge('backups', 'list', ...configured())
  const [newest = ''] = stdout.split('\n')
  expect(newest).toContain(`${host} on 23`)
  const runId = newest.split(' ')[0] ?? ''
  const shown = await drawbridge('backups', 'restore', runId, '--show', ...configured())
  expect(shown.stdout).toBe(`would appear on 23: hosts/${host}.conf\n`)
  await expect(drawbridge('backups', 'restore', runId, ...configured())).rejects.toMatchObject({ code: 2 })
  expect(existsSync(file)).toBe(false)
  await drawbridge('backups', 'restore', runId, '--yes', ...configured())
  expect(readFileSync(file, 'utf8')).toBe(before)
  const again = await drawbridge('backups', 'restore', runId, ...configured())
  expect(again.stdout).toContain('as they stood before that run already')
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
    differences: expect.arrayContaining([{ path: `hosts/${host}.conf`, change: 'vanishes' }]),
  })
  expect(await world(lab)).toEqual(before)
  const file = join(lab.description.edges.primary.hosts, `${host}.conf`)
  await drawbridge('backups', 'restore', runId, '--yes', '--off-air', host, ...configured())
  expect(existsSync(file)).toBe(false)
})

test('an exposure is prolonged through the API, from inside only', async () => {
  const { planId } = await applied(lab, { subdomain: 'longer', expiresIn: 300 })
  const { stdout } = await drawbridge('extend', planId, '--for', '2h', '--url', lab.description.inside)
  const end = Date.parse(stdout.replace(/.* until (.*)\.\n/, '$1'))
  expect(Math.abs(end - Date.now() - 7_200_000)).toBeLessThan(60_000)
  expect(stdout).not.toContain('cap_')
  await expect(drawbridge('extend', planId, '--for', '2h', '--url', lab.description.outside)).rejects.toThrow(
    'internal network',
  )
  await expect(drawbridge('extend', planId, '--for', 'soon', '--url', lab.description.inside)).rejects.toThrow(
    'no duration',
  )
})

test('a plan that is not blocked has nothing to resolve', async () => {
  const { planId } = await planned(lab, { subdomain: 'free' })
  await expect(drawbridge('resolve', planId, ...configured())).rejects.toThrow('not blocked')
  await expect(drawbridge('backups', 'restore', 'run_00', ...configured())).rejects.toThrow('no backup')
})
