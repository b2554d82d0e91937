import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { launcher } from '../../../lab/checkout.ts'
import type { EdgeDescription } from '../../../lab/description.ts'
import { FolderLock } from '../../../src/edge/fences/folder-lock.ts'
import { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { remoteEdge } from '../../../src/edge/remote/remote-edge.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { startLoad } from '../../support/backends/load.ts'
import { changeHost } from '../../support/edge/edge.ts'
import { includeSites, siteFile, writeSites } from '../../support/edge/sites/written-sites.ts'
import { visit } from '../../support/edge/visitor.ts'
import type { LabAgents } from '../../support/lab/agents.ts'
import { hasEntry } from '../../support/lab/entry-file.ts'
import { applied, expected, granted, invariants, planned, planOf, run, runWith } from '../../support/lab/exposure.ts'
import { housekeeping, untilChecked } from '../../support/lab/housekeeping.ts'
import { startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

let lab: TestLab
let agents: LabAgents

beforeAll(async () => {
  ;({ lab, agents } = await startWithAgents(
    { configure: (config) => ({ ...config, adopt: { enabled: true } }) },
    { adjust: (config) => ({ ...config, adopt: { enabled: true } }) },
  ))
  await includeSites(lab)
}, 120_000)
afterAll(() => lab?.stop(), 60_000)

const agentOf = (server: '23' | '73') => {
  const agent = agents.agents[server]
  if (!agent) throw new Error(`There is no agent of ${server}.`)
  return agent
}

test('apply and remove go through the agents, to both edges', { timeout: 90_000 }, async () => {
  const { planId, host } = await applied(lab, { subdomain: 'socket', tls: true })
  const { primary, secondary } = lab.description.edges
  expect([hasEntry(primary, host), hasEntry(secondary, host)]).toEqual([true, true])
  const edge = remoteEdge(new AgentClient({ server: '23', at: { socket: agentOf('23').socket }, clock: systemClock }))
  expect(await edge.unsettledRuns()).toContainEqual({
    run: expect.stringMatching(/^run_/),
    store: expect.stringMatching(/^store_/),
    since: expect.any(Number),
  })
  await housekeeping(lab, 'converge')
  expect(await edge.unsettledRuns()).toEqual([])
  const { body: health } = await lab.call({ method: 'GET', path: `/api/health?host=${host}` })
  expect(health).toMatchObject({ server: '25', managed: true })
  const { body: found } = await lab.call({ method: 'GET', path: `/api/diagnose?host=${host}` })
  expect(found).toMatchObject({ badge: 'RUNNING', proxyPass: expect.stringContaining(':3000') })
  const capability = await granted(lab, planId, 'remove')
  const removed = await lab.call({
    path: '/api/deploy/remove',
    body: { planId },
    headers: { 'x-deploy-capability': capability },
  })
  expect(removed.status).toBe(200)
  expect([hasEntry(primary, host), hasEntry(secondary, host)]).toEqual([false, false])
  await invariants(lab)
})

test('a plan sees what the agent sees: a name that its nginx serves already is taken', {
  timeout: 60_000,
}, async () => {
  const client = new AgentClient({ server: '23', at: { socket: agentOf('23').socket }, clock: systemClock })
  expect(await client.look('conflict', { host: `free.${lab.description.zone}`, tls: false })).toEqual({ kind: 'free' })
  await planned(lab, { subdomain: 'free' })
})

test('what an agent reads is told whole: wildcards, and sockets that cannot be asked', {
  timeout: 60_000,
}, async () => {
  const { zone, edges } = lab.description
  const file = join(dirname(edges.primary.config), 'enabled', 'proxied')
  const names = `*.many.${zone} proxied.${zone}`
  writeFileSync(file, `server { listen 127.0.0.1:3997 proxy_protocol; server_name ${names}; return 204; }\n`)
  try {
    const isListed = async () => {
      const { body } = await lab.call({ path: '/api/hosts' })
      return body.patterns?.some(({ name }: { name: string }) => name === `*.many.${zone}`)
    }
    await untilChecked(lab, 'the wildcard is listed', isListed)
    const { body } = await lab.call({ path: `/api/diagnose?host=proxied.${zone}` })
    expect(body).toMatchObject({ badge: 'PENDING', listen: [{ proxyProtocol: true }] })
  } finally {
    rmSync(file)
  }
})

test('an agent of another server is refused by name', async () => {
  const client = new AgentClient({ server: '73', at: { socket: agentOf('23').socket }, clock: systemClock })
  await expect(remoteEdge(client).list()).rejects.toThrow('The agent of edge 73 says that it is the agent of edge 23.')
})

test('over the wire a former store changes no host, and a store none of another', { timeout: 60_000 }, async () => {
  const client = new AgentClient({ server: '23', at: { socket: agentOf('23').socket }, clock: systemClock })
  const edge = remoteEdge(client)
  const [shop, wiki] = [`fenced-shop.${lab.description.zone}`, `fenced-wiki.${lab.description.zone}`]
  const raise = (host: string, epoch: number, number: number, store: string) =>
    changeHost(edge, host, 'same', { fence: { host, epoch, number, store } })
  await raise(shop, 5, 1, 'store_wirea')
  await edge.change({ items: [], floor: { store: 'store_wirea', epoch: 7 } })
  for (const host of [shop, wiki])
    await expect(raise(host, 5, 2, 'store_wirea')).rejects.toMatchObject({
      kind: 'fenced',
      said: expect.stringContaining('Stop the service of the former store'),
    })
  await expect(raise(shop, 9, 1, 'store_wireb')).rejects.toMatchObject({
    kind: 'fenced',
    said: expect.stringContaining('belongs to another store'),
  })
  await raise(wiki, 9, 1, 'store_wireb')
  expect((await edge.list([shop, wiki])).hosts.map(({ fence }) => fence)).toEqual([
    { host: shop, epoch: 5, number: 1, store: 'store_wirea' },
    { host: wiki, epoch: 9, number: 1, store: 'store_wireb' },
  ])
  client.reconnect()
  expect((await client.describe()).floors).toContainEqual({ store: 'store_wirea', epoch: 7 })
})

test.each(process.env.CAMPAIGN ? (['23', '73'] as const) : (['73'] as const))(
  'a service with an older agent of edge %s: its hosts stay served, and changes there are refused with what to upgrade',
  {
    timeout: 120_000,
  },
  async (server) => {
    const edge = Object.values(lab.description.edges).find((each) => each.server === server)
    const served = await applied(lab, { subdomain: `before-${server}` })
    const { planId } = await planned(lab, { subdomain: `during-${server}` })
    const agent = agentOf(server)
    await agent.stop()
    // An agent of another protocol answers so, whatever it is asked.
    const older = createServer((_request, response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"There is no such verb."}'),
    )
    mkdirSync(dirname(agent.socket), { recursive: true })
    await new Promise<void>((resolve) => void older.listen(agent.socket, resolve))
    const told = new RegExp(`agent of edge ${server}.*Its hosts stay served.*Upgrade the agent on ${server}`)
    try {
      const { status, body } = await run(lab, planId)
      if (server === '23') {
        // 502 when the service heard of it only in the run, which is then undone.
        expect([502, 503]).toContain(status)
        expect(body.detail).toMatch(told)
      } else {
        expect([status, body.verification.secondary.ok]).toEqual([200, false])
        expect(body.warnings[0]).toMatch(told)
      }
      const { host } = await planOf(lab, served.planId)
      expect((await visit(edge as EdgeDescription, { host })).status).toBe(200)
    } finally {
      older.closeAllConnections()
      older.close()
      await agent.start()
    }
    if (server === '23') expected(await run(lab, planId), 200)
    await until('both edges agree', async () => {
      await housekeeping(lab, 'converge')
      return invariants(lab).then(
        () => true,
        () => false,
      )
    })
    for (const exposed of [served.planId, planId]) expected(await run(lab, exposed, 'remove'), 200)
  },
)

test('a second agent on the same nginx ends and names the first', { timeout: 60_000 }, async () => {
  const second = promisify(execFile)(process.execPath, [launcher(), 'edge', '--config', agentOf('23').configFile])
  await expect(second).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`process ${agentOf('23').pid}`),
  })
})

test('a service without an agent cannot own the nginx of one', () => {
  expect(() => new FolderLock(lab.description.edges.primary.folder, '23').take()).toThrow(
    `Edge 23 belongs to process ${agentOf('23').pid}, and one nginx has one owner.`,
  )
})

test('only the user of the agent may connect where no group is given', () => {
  expect(statSync(agentOf('23').socket).mode & 0o777).toBe(0o600)
})

test('an agent that is started again goes on where it was, and its nginx heeds the options', {
  timeout: 90_000,
}, async () => {
  const { planId, host } = await planned(lab, { subdomain: 'again', options: { maxBody: '1m' } })
  await agentOf('23').kill()
  expect((await run(lab, planId)).status).toBe(200)
  const { primary } = lab.description.edges
  expect(await visit(primary, { host, bodyLength: 900_000 })).not.toMatchObject({ status: 413 })
  expect(await visit(primary, { host, bodyLength: 1_500_000 })).toMatchObject({ status: 413 })
  expect(readFileSync(lab.description.log, 'utf8')).not.toContain('"level":"fatal"')
})

const plannedAdoption = (host: string) =>
  lab.call({ path: '/api/deploy/plan/adopt', body: { host, health: '/healthz' } })

/** Writes the edge.yaml of an agent again, and starts the agent with it. */
async function restartedWith(server: '23' | '73', adopt: Record<string, unknown> | undefined): Promise<void> {
  const { configFile } = agentOf(server)
  const { adopt: _, ...config } = parse(readFileSync(configFile, 'utf8'))
  writeFileSync(configFile, stringify({ ...config, ...(adopt && { adopt }) }))
  await agentOf(server).kill()
}

const commandOn = async (...words: string[]) =>
  (await command([...words, '--config', join(lab.state, 'drawbridge.yaml')])).stdout

test('import nginx and show ask the agent', { timeout: 90_000 }, async () => {
  const { host, planId } = await applied(lab, { subdomain: 'asked' })
  const byHand = `by-hand.${lab.description.zone}`
  await writeSites(lab, [{ host: byHand, style: 3 }])
  const { hosts } = JSON.parse(await commandOn('import', 'nginx', '-o', 'json')) as {
    hosts: readonly { host: string; adoptable: boolean; exposure?: unknown }[]
  }
  expect(hosts).toContainEqual(expect.objectContaining({ host: byHand, adoptable: true }))
  expect(hosts.map((row) => row.host)).not.toContain(host)
  const shown = await commandOn('show', host)
  expect(shown).toMatch(new RegExp(`^# ${host} on edge 23: .+\n`))
  expect(shown).toContain(`server_name ${host};`)
  expect(shown).not.toContain('The store does not know')
  await run(lab, planId, 'remove')
})

test('a site behind agents is adopted on both edges and released, and no request fails', {
  timeout: 120_000,
}, async () => {
  const host = `adopted.${lab.description.zone}`
  const { primary, secondary } = lab.description.edges
  const [texts] = await writeSites(lab, [{ host, style: 3 }])
  const load = startLoad(primary, host, '/healthz', { tls: true, perSecond: 50 })
  const plan = expected(await plannedAdoption(host), 201)
  const capability = await granted(lab, plan.planId, 'adopt')
  expected(await runWith(lab, capability, plan.planId, 'apply'), 200)
  for (const edge of [primary, secondary]) {
    await until(
      'the site is out of its file',
      async () => !readFileSync(siteFile(edge, host), 'utf8').includes('server {'),
    )
    const kept = join(`${edge.folder}-adopted`, plan.planId, '0.before')
    expect(readFileSync(kept, 'utf8')).toBe(texts?.[edge.server])
    await until('the entry answers', async () => hasEntry(edge, host))
  }
  expected(await run(lab, plan.planId, 'release'), 200)
  const { served, failures } = await load.stop()
  expect(failures).toEqual([])
  expect(served).toBeGreaterThan(0)
})

test.each(process.env.CAMPAIGN ? (['23', '73'] as const) : (['73'] as const))(
  'the agent of edge %s that does not allow it keeps its site',
  {
    timeout: 120_000,
  },
  async (server) => {
    const host = `closed${server}.${lab.description.zone}`
    const [texts] = await writeSites(lab, [{ host, style: 0 }])
    const { planId } = expected(await plannedAdoption(host), 201)
    await restartedWith(server, undefined)
    const refusal = await plannedAdoption(host)
    expect([refusal.status, refusal.body.code]).toEqual([403, 'adopt_not_allowed'])
    expect(refusal.body.detail).toBe(`The agent of edge ${server} does not let sites be adopted.`)
    expect(refusal.body.nextAction).toContain(
      `On the machine of edge ${server}, set adopt.enabled to true in edge.yaml`,
    )
    // The plan that was made before is not carried out against the will of the edge, either.
    const late = await runWith(lab, await granted(lab, planId, 'adopt'), planId, 'apply')
    const edge = Object.values(lab.description.edges).find((each) => each.server === server)
    if (server === '23') {
      expect([403, 409]).toContain(late.status)
      expect(['adopt_not_allowed', 'plan_stale']).toContain(late.body.code)
    }
    expect(edge && readFileSync(siteFile(edge, host), 'utf8')).toBe(texts?.[server])
    if (server === '23') await restartedWith(server, { enabled: true })
  },
)
