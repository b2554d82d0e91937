import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import type { AuditPage } from '../../../src/client/bodies.ts'
import { errorOf, startAgent, startAgentHere, structured } from '../../support/http/agent.ts'
import { startRecordingProxy } from '../../support/http/recording-proxy.ts'
import { invariants } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { watchProcesses } from '../../support/programs/process-list.ts'
import { onTerminal } from '../../support/programs/pseudo-terminal.ts'

let lab: TestLab

beforeAll(async () => {
  lab = await borrowLab()
})

afterAll(() => lab?.stop())

const run = promisify(execFile)

interface Way {
  /** Plans on a sick backend, plans, is refused outside, applies, is refused a second time, removes. */
  live(subdomain: string): Promise<void>
}

const request = (subdomain: string, server = '25') => ({
  zone: lab.description.zone,
  subdomain,
  server,
  port: 3000,
  health: '/healthz',
  tls: true,
})

const byCurl: Way = {
  async live(subdomain) {
    const { api, callers } = lab.description
    const post = async (path: string, body: unknown, from: string, ...headers: string[]) => {
      const sent = ['-H', 'content-type: application/json', '-d', JSON.stringify(body), ...headers]
      const { stdout } = await run('curl', ['-s', '--interface', from, `${api}${path}`, ...sent])
      return JSON.parse(stdout)
    }
    const inside = callers.internal
    const right = async (planId: string, action: string) => [
      '-H',
      `x-deploy-capability: ${(await post('/api/internal/token', { planId, action }, inside)).capability}`,
    ]
    expect(await post('/api/deploy/plan', request(subdomain, '253'), inside)).toMatchObject({
      code: 'backend_unhealthy',
    })
    const { planId } = await post('/api/deploy/plan', request(subdomain), inside)
    expect(await post('/api/internal/token', { planId, action: 'apply' }, callers.public)).toMatchObject({
      code: 'internal_network_required',
    })
    const apply = () =>
      right(planId, 'apply').then((header) => post('/api/deploy/apply', { planId }, inside, ...header))
    expect(await apply()).toMatchObject({ state: 'applied' })
    expect(await apply()).toMatchObject({ code: 'plan_already_applied' })
    expect(await post('/api/deploy/remove', { planId }, inside, ...(await right(planId, 'remove')))).toMatchObject({
      state: 'removed',
    })
  },
}

const byCommands: Way = {
  async live(subdomain) {
    const { inside, outside, zone } = lab.description
    const host = `${subdomain}.${zone}`
    const at = async (url: string, ...args: string[]) => {
      const { code, stdout } = await command([...args, '--url', url, '--json'])
      return { code, body: JSON.parse(stdout) }
    }
    const backend = (server: string) => ['plan', host, '--server', server, '--port', '3000']
    expect(await at(inside, ...backend('253'))).toMatchObject({ code: 4, body: { code: 'backend_unhealthy' } })
    const { planId } = (await at(inside, ...backend('25'))).body
    expect(await at(outside, 'apply', planId)).toMatchObject({
      code: 3,
      body: { code: 'internal_network_required' },
    })
    expect(await at(inside, 'apply', planId)).toMatchObject({ code: 0, body: { state: 'applied' } })
    expect(await at(inside, 'apply', planId)).toMatchObject({ code: 3, body: { code: 'plan_already_applied' } })
    expect(await at(inside, 'remove', host, '--yes')).toMatchObject({ code: 0, body: { state: 'removed' } })
  },
}

const byAgent: Way = {
  async live(subdomain) {
    const inside = await startAgentHere(lab.description.inside)
    const outside = await startAgentHere(lab.description.outside)
    try {
      expect(errorOf(await inside.use('plan_exposure', request(subdomain, '253')))).toMatchObject({
        code: 'backend_unhealthy',
        retryable: true,
        nextAction: expect.any(String),
      })
      const { planId } = structured(await inside.use('plan_exposure', request(subdomain)))
      expect(errorOf(await outside.use('apply_plan', { planId }))).toMatchObject({
        code: 'internal_network_required',
        retryable: false,
      })
      expect(structured(await inside.use('apply_plan', { planId }))).toMatchObject({ state: 'applied' })
      expect(errorOf(await inside.use('apply_plan', { planId }))).toMatchObject({ code: 'plan_already_applied' })
      expect(structured(await inside.use('remove_exposure', { planId }))).toMatchObject({ state: 'removed' })
    } finally {
      await inside.close()
      await outside.close()
    }
  },
}

type AuditShape = Pick<AuditPage['lines'][number], 'network'>

/** The lines of one life, without what differs from life to life. */
async function auditOf(subdomain: string, work: () => Promise<void>): Promise<AuditShape[]> {
  const page = async (after: number) =>
    (await lab.call({ path: `/api/audit?limit=1000&after=${after}` })).body as AuditPage
  const { head } = await page(0)
  await work()
  const { lines } = await page(head)
  const plans = new Map<string, string>()
  // The count of refusals of an earlier borrower of the lab may be written meanwhile.
  const own = lines.filter(({ action }) => action !== 'refusals')
  return own.map(({ seq: _seq, at: _at, previous: _previous, hash: _hash, actor, planId, host, ...line }) => ({
    ...line,
    isByAddress: isIP(actor) !== 0,
    ...(planId !== undefined && { plan: plans.get(planId) ?? named(plans, planId) }),
    ...(host !== undefined && { host: host.replace(subdomain, 'NAME') }),
  }))
}

function named(plans: Map<string, string>, planId: string): string {
  plans.set(planId, `PLAN ${plans.size + 1}`)
  return plans.get(planId) ?? ''
}

test('one life of an exposure by curl, by commands and by an agent leaves the same audit lines', async () => {
  const curl = await auditOf('by-curl', () => byCurl.live('by-curl'))
  const commands = await auditOf('by-commands', () => byCommands.live('by-commands'))
  const agents = await auditOf('by-agent', () => byAgent.live('by-agent'))
  expect(curl).toMatchObject([
    { action: 'plan', outcome: 'refused', code: 'backend_unhealthy' },
    { action: 'plan', outcome: 'ok' },
    { action: 'token', outcome: 'refused', network: 'public', code: 'internal_network_required' },
    { action: 'token', outcome: 'ok' },
    { action: 'apply', outcome: 'ok' },
    { action: 'token', outcome: 'ok' },
    { action: 'apply', outcome: 'refused', code: 'plan_already_applied' },
    { action: 'token', outcome: 'ok', facts: { for: 'remove', right: 'network' } },
    { action: 'remove', outcome: 'ok' },
  ])
  // All borrowers of the lab have one address outside in their commands and agents, and its sixth refusal of a minute is only counted.
  const inside = (lines: readonly AuditShape[]) => lines.filter(({ network }) => network !== 'public')
  expect(inside(commands)).toEqual(inside(curl))
  expect(inside(agents)).toEqual(inside(curl))
  await invariants(lab)
}, 120_000)

test('no capability is seen by anyone but the service: not on screen, in history, among processes, by an agent, in the log', async () => {
  const proxy = await startRecordingProxy(lab)
  const home = mkdtempSync(join(tmpdir(), 'drawbridge-home-'))
  const processes = watchProcesses()
  try {
    const history = join(home, 'history')
    const typed = `${launcher()} up canary --server 25 --port 3000 --no-tls --yes\n${launcher()} down canary.${lab.description.zone} --yes\nhistory -a\nexit\n`
    const environment = { HOME: home, HISTFILE: history, DRAWBRIDGE_URL: proxy.url }
    const screen = await onTerminal('bash --norc -i', { input: typed, environment })
    const { use, transcript, close } = await startAgent(proxy.url)
    const { planId } = structured(await use('plan_exposure', { ...request('canary-agent'), tls: false }))
    await use('apply_plan', { planId })
    await use('remove_exposure', { planId })
    await close()
    const places = {
      screen,
      history: readFileSync(history, 'utf8'),
      processes: processes.stop(),
      transcript: transcript.join('\n'),
      log: readFileSync(lab.description.log, 'utf8'),
    }
    expect(screen).toContain('Exposed: ')
    expect(screen).toContain('Removed: ')
    expect(places.history).toContain('drawbridge up canary')
    expect(places.processes).toContain('canary')
    expect(transcript.join('')).toContain('"applied"')
    expect(proxy.capabilities).toHaveLength(4)
    expect(proxy.spent).toEqual(proxy.capabilities)
    for (const [place, text] of Object.entries(places)) {
      for (const capability of proxy.capabilities) {
        expect(text.includes(capability), place).toBe(false)
        expect(text.includes(capability.slice(0, 24)), place).toBe(false)
      }
    }
  } finally {
    processes.stop()
    await proxy.close()
    rmSync(home, { recursive: true, force: true })
  }
}, 90_000)
