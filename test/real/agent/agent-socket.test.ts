import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { labEdge } from '../../../lab/nginx.ts'
import { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { remoteEdge } from '../../../src/edge/remote/remote-edge.ts'
import type { LabAgents } from '../../support/lab/agents.ts'
import { hasEntry } from '../../support/lab/entry-file.ts'
import { applied, granted, invariants, planned, runWhenReached } from '../../support/lab/exposure.ts'
import { startWithAgents, type TestLab } from '../../support/lab/lab.ts'

let lab: TestLab
let agents: LabAgents

beforeAll(async () => {
  ;({ lab, agents } = await startWithAgents())
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
  const client = new AgentClient({ server: '23', at: { socket: agentOf('23').socket } })
  expect(await client.call('preflight', { host: `free.${lab.description.zone}`, tls: false })).toEqual({ kind: 'free' })
  await planned(lab, { subdomain: 'free' })
})

test('an agent of another server is refused by name', async () => {
  const client = new AgentClient({ server: '73', at: { socket: agentOf('23').socket } })
  await expect(remoteEdge(client).list()).rejects.toThrow('The agent of edge 73 says that it is the agent of edge 23.')
})

test('a second agent on the same nginx ends and names the first', { timeout: 60_000 }, async () => {
  const second = promisify(execFile)(process.execPath, [launcher(), 'edge', '--config', agentOf('23').configFile])
  await expect(second).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`process ${agentOf('23').pid}`),
  })
})

test('a service without an agent does not change the nginx of one', async () => {
  const edge = labEdge(lab.description.edges.primary)
  const files = await edge.filesFor({
    host: `own.${lab.description.zone}`,
    planId: `plan_${'a'.repeat(26)}`,
    target: 'http://127.0.0.1:3000',
  })
  const expected = await edge.hashFiles(files.map(({ path }) => path))
  const change = edge.change({ propose: async () => ({ files, expected }), assertHeld: () => undefined })
  await expect(change).rejects.toThrow(`Edge 23 belongs to an agent (process ${agentOf('23').pid}). Set edges.23.agent`)
})

test('only the user of the agent may connect where no group is given', () => {
  expect(statSync(agentOf('23').socket).mode & 0o777).toBe(0o600)
})

test('an agent that is started again goes on where it was', { timeout: 90_000 }, async () => {
  const { planId, host } = await planned(lab, { subdomain: 'again' })
  await agentOf('23').kill()
  expect((await runWhenReached(lab, planId)).status).toBe(200)
  expect(hasEntry(lab.description.edges.primary, host)).toBe(true)
  expect(readFileSync(lab.description.log, 'utf8')).not.toContain('"level":"fatal"')
})
