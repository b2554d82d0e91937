import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { statePaths } from '../../../lab/state.ts'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { visit } from '../../support/edge/visitor.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, planned, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { whileStopped } from '../../support/lab/while-stopped.ts'
import { command } from '../../support/programs/command.ts'
import { borrowPostgres, runSql } from '../../support/programs/postgres.ts'
import { until } from '../../support/until.ts'

/** Somebody's hand in a file of ours. */
const EDIT = ' # somebody was here'

vi.setConfig({ testTimeout: 120_000 })

/** The commands of docs/operations.md about blocked runs, backup, restore, rebuild and the move to PostgreSQL, as they stand there. */
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
  const text = page.split(/^###? /m).find((part) => part.startsWith(`${section}\n`)) ?? ''
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

async function runLine(line: string): Promise<string> {
  const ended = await command(argumentsOf(line), { environment: { DRAWBRIDGE_URL: lab.description.inside } })
  expect(ended, `${line}: ${ended.stderr}${ended.stdout}`).toMatchObject({ code: 0 })
  return ended.stdout
}

/** Runs a section. What stands before the start of the service runs while it is stopped, on a state folder that is lost. */
async function follow(section: string, look = () => {}): Promise<string[]> {
  const lines = commandsOf(section)
  const start = lines.indexOf('systemctl start drawbridge')
  const told: string[] = []
  if (start >= 0)
    await whileStopped(lab, async () => {
      rmSync(statePaths(lab.state).service, { recursive: true })
      for (const line of lines.slice(0, start)) if (line !== 'systemctl stop drawbridge') told.push(await runLine(line))
      look()
    })
  for (const line of lines.slice(start + 1)) told.push(await runLine(line))
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

test('Run blocked', async () => {
  const file = entryFile(lab.description.edges.primary, 'edited.lab.test')
  let isEdited = false
  await using backend = await startWebBackend(lab, (_request, response) => {
    if (!isEdited) editEntry(file, 'edited.lab.test', EDIT)
    isEdited = true
    response.writeHead(500).end()
  })
  const { planId } = await planned(lab, { subdomain: 'edited', port: backend.port })
  expect((await run(lab, planId)).body.code).toBe('rollback_blocked')

  const [list = '', show = '', mend = '', ...more] = commandsOf('Run blocked').map((line) =>
    line.replace('PLAN', planId),
  )
  expect(more).toEqual([])
  expect(await runLine(list)).toMatch(new RegExp(`blocked .*${planId}`))
  expect(await runLine(show)).toContain('Left: proxy')
  // The reason is not removed yet.
  expect((await command(argumentsOf(mend))).code).not.toBe(0)
  writeFileSync(file, readFileSync(file, 'utf8').replace(EDIT, ''))
  expect(await runLine(mend)).toContain('The rollback of edited.lab.test is finished')
})

test('Backup', async () => {
  expect((await follow('Backup')).join()).toContain('It is encrypted.')
})

test('Restore', async () => {
  const told = (await follow('Restore')).join()
  expect(told).toContain('The store begins epoch')
  expect(told).toContain('The audit chain is intact')
  expect(told).toContain('No host waits for a confirmation.')
  await isManaged()
})

test('Rebuild', async () => {
  const unconfirmed = () => rowsOf<{ unconfirmed: string }>(lab, 'select unconfirmed from exposures')
  const told = (
    await follow('Rebuild', () => expect(unconfirmed()).toEqual(Array(2).fill({ unconfirmed: 'edges' })))
  ).join()
  expect(told).toContain('Found 2 hosts that can be managed again')
  expect(told).toContain('Nothing was changed.')
  expect(told).toContain('2 hosts are in the store')
  expect(told).toContain('No host waits for a confirmation.')
  await isManaged()
  const isConfirmed = () => unconfirmed().every((row) => row.unconfirmed === null)
  await until('what is equal on every edge is confirmed', isConfirmed, 60_000)
})

test('From SQLite to PostgreSQL', async () => {
  const postgres = await borrowPostgres()
  onTestFinished(() => postgres.stop())
  const { config } = statePaths(lab.state)
  // The database is only in a file that the owner alone can read.
  writeFileSync(join(lab.state, 'secrets', 'store'), `${postgres.url}\n`, { mode: 0o600 })
  const lines = commandsOf('From SQLite to PostgreSQL').map((line) => line.replaceAll('/etc/drawbridge', lab.state))
  const [copied = '', edited = '', ...rest] = lines
  execFileSync('sh', ['-c', copied])
  expect(edited).toBe(`editor ${join(lab.state, 'postgres.yaml')}`)
  const moved = { ...parse(readFileSync(config, 'utf8')), storeFile: 'secrets/store' }
  writeFileSync(join(lab.state, 'postgres.yaml'), stringify(moved))
  const [stop, start] = [rest.indexOf('systemctl stop drawbridge'), rest.indexOf('systemctl start drawbridge')]
  expect(stop).toBeGreaterThan(0)
  for (const line of rest.slice(0, stop)) await runLine(line)
  const work = async () => {
    for (const line of rest.slice(stop + 1, start))
      if (line.startsWith('drawbridge ')) await runLine(line)
      else execFileSync('sh', ['-c', line])
  }
  await whileStopped(lab, work, (given) => ({ ...given, ...moved }))
  const told: string[] = []
  for (const line of rest.slice(start + 1)) told.push(await runLine(line))
  expect(told.join()).toContain('no difference')
  expect(told.join()).toContain('The audit chain is intact')
  expect(await runSql(postgres.url, 'select host from exposures order by host')).toEqual(
    hosts.map((host) => ({ host })),
  )
  for (const host of hosts)
    expect([200, 301, 308]).toContain((await visit(lab.description.edges.primary, { host })).status)
  // Nothing may be asked of a database that is gone.
  await lab.stopService()
})
