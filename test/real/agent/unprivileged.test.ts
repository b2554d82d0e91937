import { execFile } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { launcher } from '../../../lab/checkout.ts'
import { type Daemon, startDaemon } from '../../../lab/daemon.ts'
import { isRoot } from '../../../lab/program.ts'
import { httpStatus } from '../../../lab/web-question.ts'
import { type LabAgents, startAgents } from '../../support/lab/agents.ts'
import { entryFile, hasEntry } from '../../support/lab/entry-file.ts'
import { applied, expected, invariants, removed, run } from '../../support/lab/exposure.ts'
import { untilChecked } from '../../support/lab/housekeeping.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'

/** A user that nobody has on this machine. */
const USER = '8045'
const AS_USER = ['--reuid', USER, '--regid', USER, '--clear-groups', process.execPath, launcher()]

let lab: TestLab
let agents: LabAgents
let service: Daemon | undefined

/** The service's own files belong to its user. What it shares with nginx belongs to root. */
function handOver(path: string): void {
  const found = lstatSync(path)
  if (found.isDirectory()) for (const name of readdirSync(path)) handOver(join(path, name))
  chownSync(path, Number(USER), Number(USER))
}

beforeAll(async () => {
  if (!isRoot()) return
  lab = await startTestLab({ service: false })
  mkdirSync(join(lab.state, 'service'), { mode: 0o700 })
  agents = await startAgents(lab, { group: USER })
  const file = join(lab.state, 'drawbridge.yaml')
  writeFileSync(file, stringify(agents.configure(parse(readFileSync(file, 'utf8')))))
  for (const path of ['drawbridge.yaml', 'secrets', 'service', 'certificates']) handOver(join(lab.state, path))
  chmodSync(join(lab.state, 'pebble'), 0o711)
  service = await startDaemon({
    name: 'The service',
    program: 'setpriv',
    args: [...AS_USER, 'serve', '--config', file],
    logFile: lab.description.log,
    readyWithinMs: 60_000,
    isReady: async () => (await httpStatus(`${lab.description.api}/readyz`)) === 200,
  })
}, 180_000)
afterAll(async () => {
  await service?.stop()
  await agents?.stop()
  await lab?.stop()
}, 60_000)

const here = test.skipIf(!isRoot())

here('the service has no right to nginx', () => {
  const status = readFileSync(`/proc/${service?.pid}/status`, 'utf8')
  expect(status).toMatch(new RegExp(`^Uid:\\s+${USER}\\s+${USER}`, 'm'))
  expect(status).toMatch(/^CapEff:\s+0+$/m)
  const { folder, pidFile } = lab.description.edges.primary
  for (const path of [folder, dirname(folder), pidFile]) {
    expect(lstatSync(path).uid).toBe(0)
    expect(lstatSync(path).mode & 0o022).toBe(0)
  }
})

here('plan, apply, diagnosis, repair and remove work through the agents', { timeout: 120_000 }, async () => {
  const { planId, host } = await applied(lab, { subdomain: 'plain', tls: true })
  const { primary, secondary } = lab.description.edges
  expect([hasEntry(primary, host), hasEntry(secondary, host)]).toEqual([true, true])
  await untilChecked(lab, 'the host runs', async () => {
    const { body } = await lab.call({ method: 'GET', path: `/api/health?host=${host}` })
    return body.badge === 'RUNNING'
  })
  const { body: found } = await lab.call({ method: 'GET', path: `/api/diagnose?host=${host}` })
  expect(found).toMatchObject({ host, managed: true, server: '25', configPath: entryFile(primary, host) })

  const file = entryFile(primary, host)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(':3000;', ':3001;'))
  const { body: drift } = await lab.call({ method: 'GET', path: `/api/deploy/plans/${planId}/drift` })
  expect(drift.differences).toMatchObject([{ part: 'entry' }])
  expected(await run(lab, planId, 'repair', {}, { overwrite: true }), 200)
  expect(readFileSync(file, 'utf8')).toBe(text)

  await removed(lab, planId)
  expect([hasEntry(primary, host), hasEntry(secondary, host)]).toEqual([false, false])
  await invariants(lab)
})

here('doctor, as the same user, asks the agents', { timeout: 60_000 }, async () => {
  const config = join(lab.state, 'drawbridge.yaml')
  const { stdout } = await promisify(execFile)('setpriv', [...AS_USER, 'doctor', '--json', '--config', config]).catch(
    (error: { stdout: string }) => error,
  )
  const { findings } = JSON.parse(stdout) as { findings: { subject: string; status: string; sentence: string }[] }
  const ofEdges = findings.filter(({ subject }) => subject.startsWith('edge '))
  expect(ofEdges.filter(({ status }) => status === 'fault')).toEqual([])
  expect(ofEdges.filter(({ sentence }) => sentence === 'Its agent answers.').map(({ subject }) => subject)).toEqual([
    'edge 23',
    'edge 73',
  ])
})
