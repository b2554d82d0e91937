import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgentIdentity } from '../../../src/edge/authority/agent-identity.ts'
import { enroll, type LabAgents } from '../../support/lab/agents.ts'
import { hasEntry } from '../../support/lab/entry-file.ts'
import { applied, invariants, planned, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import { startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

let lab: TestLab
let agents: LabAgents

beforeAll(async () => {
  ;({ lab, agents } = await startWithAgents({}, { tls: true }))
}, 180_000)
afterAll(() => lab?.stop(), 60_000)

const agentOf = (server: '23' | '73') => {
  const agent = agents.agents[server]
  if (!agent) throw new Error(`There is no agent of ${server}.`)
  return agent
}
/** `drawbridge edge` in this process. Rejects where it does not end with 0. */
async function edge(config: string, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(['edge', ...words, '--config', config])
  if (code !== 0) throw new Error(stderr)
  return stdout
}
const ofService = (...words: string[]) => edge(join(lab.state, 'drawbridge.yaml'), ...words)
let asked = 0
/** Whether the agent of the Primary does what the service asks. Each question has a name of its own: a removal can be refused. */
const changes = async (): Promise<boolean> => {
  const { planId } = await planned(lab, { subdomain: `asked-${++asked}` })
  const { status } = await run(lab, planId)
  // An agent that was revoked meanwhile refuses it.
  if (status === 200) await run(lab, planId, 'remove')
  return status === 200
}

/** The agent of the Secondary is found a little later at times. Converge then brings it what it missed. */
async function isOnBoth(host: string): Promise<boolean> {
  const { primary, secondary } = lab.description.edges
  const isThere = () => hasEntry(primary, host) && hasEntry(secondary, host)
  if (!isThere()) await housekeeping(lab, 'converge')
  return isThere()
}

test('an agent that was enrolled serves what is applied', { timeout: 120_000 }, async () => {
  await until('the agent is accepted', () => changes())
  const { planId, host } = await applied(lab, { subdomain: 'tls', tls: true })
  await until('both edges have the entry', () => isOnBoth(host))
  // A converge may still hold the host.
  await until('it is removed', async () => (await run(lab, planId, 'remove')).status === 200)
  await invariants(lab)
})

test('its key is closed to others, and its certificate is of P-256, for 90 days and this server', () => {
  const { stateDir } = agentOf('73')
  for (const name of ['agent.key', 'agent.crt', 'authority.crt'])
    expect(statSync(join(stateDir, name)).mode & 0o777).toBe(0o600)
  expect(statSync(stateDir).mode & 0o777).toBe(0o700)
})

test('without a certificate of the authority nobody is heard', async () => {
  const { address } = agentOf('23')
  const answer = await new Promise<string>((resolve) => {
    const socket = connect({ host: address, port: 8046, rejectUnauthorized: false, minVersion: 'TLSv1.3' })
    socket.on('error', (error) => resolve(String((error as NodeJS.ErrnoException).code)))
    socket.on('data', (chunk) => resolve(chunk.toString()))
    socket.on('close', () => resolve('closed'))
    socket.write(
      'POST /v1/describe HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    )
  })
  expect(answer).toMatch(/ERR_SSL|closed|ECONNRESET/)
})

test.runIf(process.env.CAMPAIGN)(
  'a revoked agent is refused until it is enrolled again',
  { timeout: 120_000 },
  async () => {
    expect(await ofService('revoke', '23')).toContain('is not accepted any more')
    await until('the agent is refused', async () => !(await changes()))
    expect(readFileSync(lab.description.log, 'utf8')).toContain('its certificate is not enrolled, or it was revoked')
    await enroll(lab, agentOf('23'))
    await until('the agent is accepted', () => changes())
  },
)

test('the former certificates of services are refused after they were revoked', { timeout: 120_000 }, async () => {
  expect(await ofService('revoke', '--services')).toContain('edition 2')
  const { stateDir } = agentOf('23')
  const ca = readFileSync(join(stateDir, 'authority.crt'), 'utf8')
  await until('the agent has seen the new edition', () => new AgentIdentity(stateDir, '23').editionOf(ca) === 2)
  await until('the agent is accepted', () => changes())
})

test('a Secondary is retired: it leaves with its hosts, and they stay on the Primary', {
  timeout: 180_000,
}, async () => {
  const { primary, secondary } = lab.description.edges
  const { host } = await applied(lab, { subdomain: 'stays' })
  await until('both edges have the entry', () => isOnBoth(host))
  await expect(ofService('retire', '23', '--yes')).rejects.toThrow('Edge 23 is the Primary')
  await expect(ofService('retire', '25', '--yes')).rejects.toThrow('is not the Secondary')

  const agent = agentOf('73')
  const told = await ofService('retire', '73', '--yes')
  expect(told).toContain('knows that it may leave')
  expect(told).toContain('is not accepted any more')
  expect(told).toContain('servers.secondary to none')
  await agent.stop()
  expect(await edge(agent.configFile, 'leave', '--yes')).toContain('was removed')
  expect(existsSync(secondary.hosts)).toBe(false)
  expect(hasEntry(primary, host)).toBe(true)
})
