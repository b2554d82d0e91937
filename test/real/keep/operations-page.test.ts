import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { statePaths } from '../../../lab/state.ts'
import { visit } from '../../support/edge/visitor.ts'
import { applied } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** The commands of docs/operations.md about backup, restore and rebuild, as they stand there. */
let lab: TestLab
const hosts: string[] = []
beforeAll(async () => {
  lab = await startTestLab()
  writeFileSync(join(lab.state, 'backup.pass'), 'correct horse battery staple\n', { mode: 0o600 })
  hosts.push(
    (await applied(lab, { subdomain: 'one' })).host,
    (await applied(lab, { subdomain: 'two', tls: true })).host,
  )
}, 60_000)
afterAll(() => lab?.stop())

/** The lines of the only sh block of a section, without comments. */
function commandsOf(section: string): string[] {
  const page = readFileSync('docs/operations.md', 'utf8')
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ''
  const [, block = '', ...others] = text.split(/^```(?:sh)?$/m)
  expect(others).toHaveLength(1)
  return block.split('\n').flatMap((line) => line.replace(/\s+# .*/, '').trim() || [])
}

/** The arguments of a line, with the paths of the lab. */
function argumentsOf(line: string): string[] {
  const [program, ...args] = line
    .replaceAll('/var/backups', lab.state)
    .replaceAll('/root', lab.state)
    .replaceAll(/\bFILE\b/g, statePaths(lab.state).config)
    .split(' ')
  expect(program).toBe('drawbridge')
  return args
}

/** For the time in which the service is stopped. Throws if the command does not end with 0. */
const runStopped = (line: string): string =>
  execFileSync(launcher(), argumentsOf(line), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

async function runBeside(line: string): Promise<string> {
  const ended = await drawbridge(argumentsOf(line), { environment: { DRAWBRIDGE_URL: lab.description.inside } })
  expect(ended, line).toMatchObject({ code: 0 })
  return ended.stdout
}

/** Runs a section. What stands before the start of the service runs while it is stopped, on a state folder that is lost. */
async function follow(section: string): Promise<string[]> {
  const lines = commandsOf(section)
  const start = lines.indexOf('systemctl start drawbridge')
  const told: string[] = []
  if (start >= 0)
    await lab.restartService((given) => {
      rmSync(statePaths(lab.state).service, { recursive: true })
      const before = lines.slice(0, start).filter((line) => line !== 'systemctl stop drawbridge')
      told.push(...before.map(runStopped))
      return given
    })
  for (const line of lines.slice(start + 1)) told.push(await runBeside(line))
  return told
}

const isManaged = async () => {
  expect(rowsOf<{ host: string }>(lab, 'select host from exposures order by host').map(({ host }) => host)).toEqual(
    hosts,
  )
  for (const host of hosts)
    await until(`${host} is served`, async () =>
      [200, 301, 308].includes((await visit(lab.description.edges.primary, { host })).status),
    )
}

test('Backup', async () => {
  expect((await follow('Backup')).join()).toContain('It is encrypted.')
})

test('Restore', async () => {
  const told = (await follow('Restore')).join()
  expect(told).toContain('The store begins epoch')
  expect(told).toContain('The audit chain is intact')
  await isManaged()
})

test('Rebuild', async () => {
  const told = (await follow('Rebuild')).join()
  expect(told).toContain('Found 2 hosts that can be managed again')
  expect(told).toContain('Nothing was changed.')
  expect(told).toContain('2 hosts are in the store')
  await isManaged()
})
