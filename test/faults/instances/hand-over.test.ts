import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { launcher } from '../../../lab/checkout.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { serves } from '../../support/edge/edge-folder.ts'
import type { Answer } from '../../support/http/call.ts'
import { type InstanceLab, type RunningInstance, startInstanceLab } from '../../support/instances/instances.ts'
import { askAgent } from '../../support/lab/agents.ts'
import { until } from '../../support/until.ts'

/** Two services on one PostgreSQL. The blind one has no way to the agent of the Primary's edge. */
let lab: InstanceLab
let backend: WebBackend
let blind: RunningInstance
let isSick = false
const running: RunningInstance[] = []

beforeAll(async () => {
  lab = await startInstanceLab()
  backend = await startWebBackend(lab.lab, (_request, response) => {
    response.writeHead(isSick ? 500 : 200).end('ok')
  })
  blind = await startBlind()
}, 180_000)
afterEach(async () => {
  isSick = false
  await Promise.all(running.splice(0).map(({ daemon }) => daemon.stop()))
})
afterAll(async () => {
  await backend?.[Symbol.asyncDispose]()
  await lab?.stop()
})

const { stringify } = JSON
const edgesOf = (sees: boolean): Record<string, { agent: { socket: string } }> => {
  const edges = lab.agents.configure({}).edges as Record<string, { agent: { socket: string } }>
  return sees ? edges : { ...edges, 23: { agent: { socket: `${edges[23]?.agent.socket}.missing` } } }
}

async function startSighted(environment = {}): Promise<RunningInstance> {
  const instance = await lab.start('sighted', 23, { environment, settings: { edges: edgesOf(true) } })
  running.push(instance)
  return instance
}

const startBlind = (): Promise<RunningInstance> => lab.start('blind', 24, { settings: { edges: edgesOf(false) } })

interface Asked {
  readonly planId: string
  readonly host: string
}

async function planned(instance: RunningInstance, subdomain: string, more: object = {}): Promise<Asked> {
  const request = { zone: 'lab.test', subdomain, server: '25', port: backend.port, health: '/', tls: false, ...more }
  const { status, body } = await instance.post('/api/deploy/plan', request)
  if (status !== 201) throw new Error(`No plan for ${subdomain}: ${stringify(body)}`)
  return body
}

async function capability(instance: RunningInstance, { planId }: Asked, action: string) {
  const { body } = await instance.post('/api/internal/token', { planId, action })
  return { 'x-deploy-capability': body.capability as string }
}

async function act(instance: RunningInstance, action: string, asked: Asked) {
  const right = await capability(instance, asked, action)
  return instance.post(`/api/deploy/${action}`, { planId: asked.planId }, right)
}

const hasName = async (host: string): Promise<boolean> => {
  const [answer] = await dnsReader(lab.lab.description.dns.primary).ask([{ name: host, type: 'A' }])
  return answer?.kind === 'answer' && answer.rcode === 'NOERROR'
}

const isStopped = (pid: number): boolean => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

/** Whether the host can be reached by name and through the edge. */
const isUp = async (host: string) => [await hasName(host), await serves(lab.lab.description.edges.primary, host)]

test.runIf(process.env.CAMPAIGN)(
  'runs through an instance that does not reach the edge are executed by one that does, and answered as its own',
  {
    timeout: 240_000,
  },
  async () => {
    const sighted = await startSighted()
    const first = await planned(blind, 'handed')
    const right = await capability(blind, first, 'apply')
    const applied = await blind.post('/api/deploy/apply', { planId: first.planId }, right)
    expect([applied.status, applied.body.state]).toEqual([200, 'applied'])
    expect(applied.body.verification.primary.ok).toBe(true)
    expect(applied.body.steps.map(({ name }: { name: string }) => name)).toEqual([
      'check',
      'backup',
      'proxy',
      'dns',
      'verify',
    ])
    expect(await isUp(first.host)).toEqual([true, true])
    expect((await blind.get(`/api/health?host=${first.host}`)).status).toBe(200)
    for (const instance of [sighted, blind]) {
      const again = await instance.post('/api/deploy/apply', { planId: first.planId }, right)
      expect(again.body.code).toBe('capability_used')
    }
    const runs = await lab.store.runsOf(first.planId)
    const [name] = (await lab.store.liveInstances(Date.now())).filter(({ address }) => address === sighted.origin)
    expect(runs).toMatchObject([
      { state: 'succeeded', holder: name?.name, actor: lab.lab.description.callers.internal },
    ])
    expect(sighted.log()).toContain('"event":"run_taken_up"')

    const numbers = (await blind.get('/metrics')).text
    const blindName = (await lab.store.liveInstances(Date.now())).find(({ address }) => address === blind.origin)?.name
    for (const line of [
      'drawbridge_store_up 1',
      'drawbridge_store_unconfirmed_seconds 0',
      `drawbridge_instance_info{name="${name?.name}",address="${sighted.origin}",`,
      `drawbridge_instance_info{name="${blindName}",address="${blind.origin}",`,
      `drawbridge_instance_edge_reached{name="${name?.name}",server="23"} 1`,
      `drawbridge_instance_edge_reached{name="${blindName}",server="23"} 0`,
      `drawbridge_instance_edge_reached{name="${blindName}",server="73"} 1`,
      `drawbridge_instance_duty_held{name="${name?.name}",duty="monitor"} 1`,
    ])
      expect(numbers).toContain(line)

    const second = await planned(blind, 'handed', { replaces: first.planId, tls: true })
    expect((await act(blind, 'apply', second)).body).toMatchObject({ state: 'applied', planId: second.planId })
    expect((await act(blind, 'repair', second)).body).toMatchObject({
      state: 'applied',
      verification: expect.anything(),
    })
    const renewed = await act(blind, 'renew', second)
    expect(renewed.body).toMatchObject({ state: 'applied', certificate: { source: 'issued' } })
    const removed = await act(blind, 'remove', second)
    expect(removed.body).toMatchObject({
      state: 'removed',
      steps: [{ name: 'backup' }, { name: 'dns' }, { name: 'proxy' }],
    })
    expect(await isUp(second.host)).toEqual([false, false])

    const kept = await planned(blind, 'kept')
    expect((await act(blind, 'apply', kept)).status).toBe(200)
    expect((await act(blind, 'accept', kept)).body).toMatchObject({ state: 'released' })
  },
)

test.runIf(process.env.CAMPAIGN)(
  'a run that is refused where it is executed is refused with the same problem where it was asked for',
  {
    timeout: 240_000,
  },
  async () => {
    const sighted = await startSighted()
    const [one, two] = [await planned(blind, 'sick-one'), await planned(blind, 'sick-two')]
    isSick = true
    const [here, there] = [await act(sighted, 'apply', one), await act(blind, 'apply', two)]
    expect([here.status, here.body.code]).toEqual([502, 'apply_failed'])
    const comparable = ({ body: { requestId: _, ...body } }: Answer) =>
      JSON.parse(
        stringify(body)
          .replaceAll(/sick-(?:one|two)/g, 'sick')
          .replaceAll(/"ms":[\d.]+/g, '"ms":0'),
      )
    expect([there.status, comparable(there)]).toEqual([here.status, comparable(here)])
    expect((await lab.store.findPlan(two.planId))?.state).toBe('rolled_back')
  },
)

test.runIf(process.env.CAMPAIGN)(
  'with no instance that reaches the edge a run is refused and spends nothing',
  { timeout: 240_000 },
  async () => {
    const asked = await planned(blind, 'nowhere')
    const right = await capability(blind, asked, 'apply')
    const refused = await blind.post('/api/deploy/apply', { planId: asked.planId }, right)
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([503, 'unavailable', '5'])
    expect(await lab.store.runsOf(asked.planId)).toEqual([])
    await startSighted()
    const applied = await blind.post('/api/deploy/apply', { planId: asked.planId }, right)
    expect([applied.status, applied.body.state]).toEqual([200, 'applied'])
    expect((await act(blind, 'remove', asked)).status).toBe(200)
  },
)

const loseTheCaller = async () => {
  const sighted = await startSighted({ DRAWBRIDGE_STOP_AT: 'apply dns after-intent' })
  const asked = await planned(blind, 'orphan-caller')
  const answer = act(blind, 'apply', asked)
  answer.catch(() => undefined)
  await until('the executing instance has stopped', () => isStopped(sighted.daemon.pid))
  process.kill(blind.daemon.pid, 'SIGKILL')
  await blind.daemon.exited
  process.kill(sighted.daemon.pid, 'SIGCONT')
  await until('the run has ended', async () => (await lab.store.unfinishedRuns()).length === 0)
  blind = await startBlind()
  expect((await lab.store.runsOf(asked.planId)).map(({ state }) => state)).toEqual(['succeeded'])
  expect(await isUp(asked.host)).toEqual([true, true])
  expect((await act(sighted, 'remove', asked)).status).toBe(200)
}
if (process.env.CAMPAIGN)
  test('a run goes on when the instance that took the request is killed', { timeout: 240_000 }, loseTheCaller)

const FEW = ['remove dns after-effect']
const MORE = [
  'apply dns after-effect',
  'apply run begun',
  'apply proxy swapped',
  'apply verify after-effect',
  'remove run begun',
  'remove proxy swapped',
]
const POINTS = process.env.CAMPAIGN ? [...FEW, ...MORE] : FEW

test.each(POINTS)(
  'the caller gets the end of a run whose instance is killed at "%s"',
  { timeout: 240_000 },
  async (point) => {
    const action = point.split(' ')[0] ?? ''
    const dying = await startSighted({ DRAWBRIDGE_CRASH_AT: point })
    const asked = await planned(blind, `orphan-${point.replaceAll(' ', '-')}`)
    if (action === 'remove') expect((await act(blind, 'apply', asked)).status).toBe(200)
    const answer = act(blind, action, asked)
    await dying.daemon.exited
    await startSighted()
    const { status, body } = await answer
    const runs = await lab.store.runsOf(asked.planId)
    const state = (await lab.store.findPlan(asked.planId))?.state
    if (action === 'apply') {
      expect([status, body.code, state]).toEqual([502, 'apply_failed', 'rolled_back'])
      expect(runs.map((run) => run.state)).toEqual(['rolled_back'])
    } else {
      expect([status, body.state, state]).toEqual([200, 'removed', 'removed'])
      expect(runs.map((run) => run.state)).toEqual(['succeeded', 'succeeded'])
    }
    expect(await isUp(asked.host)).toEqual([false, false])
  },
)

test.runIf(process.env.CAMPAIGN)(
  'a copied store begins an epoch above any that an agent tells, and is not copied while an agent is away',
  {
    timeout: 240_000,
  },
  async () => {
    await blind.daemon.stop()
    const source = join(lab.folder, 'sighted.yaml')
    const target = join(lab.folder, 'copy.yaml')
    const { store: _postgres, ...settings } = parse(readFileSync(source, 'utf8'))
    const config = stringify({ ...settings, stateDir: join(lab.folder, 'copy'), edges: edgesOf(true) })
    writeFileSync(target, config, { mode: 0o600 })
    const epoch = Date.now() + 3_600_000
    const { socket } = edgesOf(true)[73]?.agent ?? { socket: '' }
    await askAgent(socket, 'fence', [{ host: 'later.lab.test', epoch, number: 1 }])
    const copy = (from: string) =>
      promisify(execFile)(process.execPath, [launcher(), 'store', 'copy', '--config', from, '--to', target, '--json'])
    const refused = await copy(join(lab.folder, 'blind.yaml')).catch((error: unknown) => JSON.stringify(error))
    expect(refused).toContain('Its epoch must be known, so nothing was copied')
    expect(JSON.parse((await copy(source)).stdout).epoch.to).toBe(epoch + 1)
  },
)
