import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { type Call, call } from '../../support/http/call.ts'
import { hurriedClock } from '../../support/hurried-clock.ts'
import { serviceHere } from '../../support/instances/service-here.ts'
import { type LabAgent, startAgents } from '../../support/lab/agents.ts'
import { editEntry, entryFile, hasEntry } from '../../support/lab/entry-file.ts'
import { applied, planned, planOf, removed, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { command } from '../../support/programs/command.ts'

vi.setConfig({ testTimeout: 240_000 })

/** The table "Who acts" of docs/cli.md: every command in every column. */
let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab()
})
afterAll(() => lab?.stop())

const EDIT = ' # somebody was here'
const edge = () => lab.description.edges.primary
const file = (name: string) => join(lab.state, `${name}.backup`)

async function drawbridge(...args: string[]): Promise<{ code: number; said: string }> {
  const { code, stdout, stderr } = await command(args)
  return { code, said: stdout + stderr }
}
const here = (...args: string[]) => drawbridge(...args, '--config', statePaths(lab.state).config)

async function acts(said: string, ...args: string[]): Promise<void> {
  expect([args, await here(...args)]).toEqual([args, { code: 0, said: expect.stringContaining(said) }])
}
async function refused(said: string, ...args: string[]): Promise<void> {
  const refusal = { code: expect.not.toBeOneOf([0]), said: expect.stringContaining(said) }
  expect([args, await here(...args)]).toEqual([args, refusal])
}

/** A plan whose rollback is blocked by an edit that has been taken back since. */
async function blocked(subdomain: string): Promise<string> {
  const host = `${subdomain}.lab.test`
  let isEdited = false
  await using backend = await startWebBackend(lab, ({ headers }, response) => {
    const isThroughEdge = headers['x-forwarded-host'] !== undefined
    if (isThroughEdge && !isEdited) editEntry(entryFile(edge(), host), host, EDIT)
    isEdited ||= isThroughEdge
    response.writeHead(isThroughEdge ? 500 : 200).end()
  })
  const { planId } = await planned(lab, { subdomain, port: backend.port })
  expect((await run(lab, planId)).body.code).toBe('rollback_blocked')
  const edited = entryFile(edge(), host)
  writeFileSync(edited, readFileSync(edited, 'utf8').replace(EDIT, ''))
  return planId
}

/** What stands for a column: a host, the run that exposed it, and a blocked plan. */
async function column(name: string) {
  const { planId } = await applied(lab, { subdomain: name })
  const { host } = await planOf(lab, planId)
  const { backups } = JSON.parse((await here('backups', 'list', '--json')).said)
  const { runId } = backups.find((backup: { host: string }) => backup.host === host)
  return { host, runId, blocked: await blocked(`${name}-blocked`) }
}
type Column = Awaited<ReturnType<typeof column>>

const backupsRestore = ({ runId, host }: Column) => ['backups', 'restore', runId, '--yes', '--off-air', host]

/** A second installation on the nginx of the lab. It only plans and reads, says who has nginx, and goes on by itself when that one has ended. */
async function withSecondService(endOfFirst: () => Promise<void>): Promise<void> {
  const { api, callers } = lab.description
  const address = new URL(api).hostname.replace(/\d+$/, '24')
  const stateDir = join(lab.state, 'second')
  mkdirSync(stateDir, { mode: 0o700 })
  await using _ = await serviceHere(lab, (config) =>
    Object.assign(config, { stateDir, listen: { ...config.listen, address } }),
  )
  const origin = api.replace(new URL(api).hostname, address)
  const second = {
    description: lab.description,
    call: (request: Omit<Call, 'from'>) => call(origin, { ...request, from: callers.internal }),
  }
  const { planId, host } = await planned(second, { subdomain: 'second' })
  using clock = hurriedClock()
  const told = await run(second, planId)
  expect([told.status, told.body.detail]).toEqual([
    503,
    expect.stringContaining(
      `Edge 23 is not prepared: Edge 23 belongs to process ${lab.description.pids.service}, and one nginx has one owner. Stop that process. ` +
        'If several services use this nginx, run the edge agent for it and set edges.23.agent in each of them.',
    ),
  ])
  clock[Symbol.dispose]()
  expect((await second.call({ method: 'GET', path: '/api/hosts' })).status).toBe(200)
  await endOfFirst()
  expect((await run(second, planId)).status).toBe(200)
  expect(hasEntry(edge(), host)).toBe(true)
  await removed(second, planId)
}

/** The second row: whoever may change the edge does all of it. */
async function secondRowActs(of: Column): Promise<void> {
  await acts('is no longer blocked', 'resolve', of.blocked)
  await acts(of.runId, 'backups', 'list')
  await acts(`no entry of ${of.host}`, ...backupsRestore(of))
  expect(hasEntry(edge(), of.host)).toBe(false)
  await acts('Edge 23 has', 'edge', 'converge')
  await acts(of.host, 'withdraw', '--show')
}

async function withdrawActs(): Promise<void> {
  await applied(lab, { subdomain: 'withdrawn' })
  await acts('withdrawn.lab.test', 'withdraw', '--all', '--yes')
  expect(hasEntry(edge(), 'withdrawn.lab.test')).toBe(false)
}

/** The last row: it looks, whoever owns the edge. */
async function lastRowLooks(name: string, host: string, ofDoctor = 'edge 23'): Promise<void> {
  expect((await here('doctor')).said).toContain(ofDoctor)
  await acts(host, 'show', host)
  const sites = join(lab.state, 'sites')
  mkdirSync(sites, { recursive: true })
  writeFileSync(join(sites, 'one.conf'), 'server { listen 80; server_name one.lab.test; return 204; }\n')
  expect((await here('import', 'nginx', sites)).said).toContain('one.lab.test')
  await acts(file(name), 'backup', file(name), '--unencrypted')
}

/** Restores a backup as on a machine whose store is lost. The former store is back afterwards. */
async function restored(name: string): Promise<string> {
  const { service } = statePaths(lab.state)
  const away = join(lab.state, 'away')
  const parts = () => readdirSync(service).filter((one) => one.startsWith('drawbridge.db'))
  mkdirSync(away, { recursive: true })
  for (const part of parts()) renameSync(join(service, part), join(away, part))
  const { code, said } = await here('restore', file(name))
  expect(code).toBe(0)
  for (const part of parts()) rmSync(join(service, part))
  for (const part of readdirSync(away)) renameSync(join(away, part), join(service, part))
  return said
}

const RUNNING = 'Another Drawbridge service uses the state folder'
const REBUILD = ['rebuild', '--from-world', '--yes']
const HAND_OVER = ['edge', 'hand-over', 'store_4f1c', 'store_a07b', '--yes']
const NEEDS_SERVICE = [['reload'], ['housekeeping', 'converge']]

test('with an nginx of its own the service acts while it runs, a second one waits for its end, and commands act and own nginx without one', async () => {
  const handOver = [...HAND_OVER, '--server', '23']
  await withdrawActs()
  const [up, down] = [await column('up'), await column('down')]
  for (const command of NEEDS_SERVICE) await acts('', ...command)
  await refused(`Edge 23 belongs to process ${lab.description.pids.service}, and one nginx has one owner.`, ...handOver)
  await lastRowLooks('up', up.host, 'No other process owns its folder.')
  for (const command of [['restore', file('up')], REBUILD]) await refused(RUNNING, ...command)
  await secondRowActs(up)

  await withSecondService(() => lab.stopService())
  for (const command of NEEDS_SERVICE) await refused('service', ...command)
  await acts('0 hosts belong', ...handOver)
  await lastRowLooks('down', down.host)
  await acts('', ...REBUILD)
  await secondRowActs(down)
  await acts('2 names were withdrawn', 'withdraw', '--all', '--yes')
  expect(await restored('down')).toContain('The store begins epoch')
})

test('with an agent the service or the command acts through it, and what has to own nginx is refused while it runs', async () => {
  const agents = await startAgents(lab)
  onTestFinished(() => agents.stop())
  await lab.restartService(agents.configure)
  const agent = agents.agents['23'] as LabAgent
  await withdrawActs()
  const [up, down, neither] = [await column('agent-up'), await column('agent-alone'), await column('neither')]
  const onEdge = (...args: string[]) => drawbridge(...args, '--config', agent.configFile)
  const owned = [HAND_OVER, ['edge', 'leave', '--yes']]
  const ownedIsRefused = async () => {
    const owner = expect.stringContaining(`Edge 23 belongs to process ${agent.pid}, and one nginx has one owner.`)
    for (const command of owned)
      expect(await onEdge(...command)).toEqual({ code: expect.not.toBeOneOf([0]), said: owner })
  }
  for (const command of NEEDS_SERVICE) await acts('', ...command)
  await ownedIsRefused()
  await lastRowLooks('agent-up', up.host)
  for (const command of [['restore', file('agent-up')], REBUILD]) await refused(RUNNING, ...command)
  await secondRowActs(up)

  await lab.stopService()
  for (const command of NEEDS_SERVICE) await refused('service', ...command)
  await ownedIsRefused()
  await lastRowLooks('agent-alone', down.host)
  await acts('', ...REBUILD)
  await secondRowActs(down)
  expect((await here('withdraw', '--all', '--yes')).said).toContain('3 names were withdrawn')
  expect(await restored('agent-up')).not.toContain('edge 23')

  await agents.stop()
  for (const command of NEEDS_SERVICE) await refused('service', ...command)
  const unreached = [['resolve', neither.blocked], ['edge', 'converge'], backupsRestore(neither)]
  {
    using _ = hurriedClock()
    for (const command of unreached) await refused('edge 23', ...command)
  }
  await refused('edge 23', ...REBUILD)
  await refused('edge 23', 'show', neither.host)
  await refused('The agent of edge 23', 'doctor')
  expect(await restored('agent-up')).toContain('The epoch of edge 23 is not known.')

  // An nginx that still serves a host is not left.
  await agent.start()
  await acts('is no longer blocked', 'resolve', neither.blocked)
  await agent.stop()
  for (const command of owned) expect([command, await onEdge(...command)]).toMatchObject([command, { code: 0 }])
})
