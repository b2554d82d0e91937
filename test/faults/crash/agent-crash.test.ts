import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import type { LabAgent } from '../../support/lab/agents.ts'
import { hasEntry } from '../../support/lab/entry-file.ts'
import { invariants, planned, planOf, run } from '../../support/lab/exposure.ts'
import { startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { until } from '../../support/until.ts'

/** The agent of the Primary dies in the middle of a change, and is started again. */
let lab: TestLab
let agent: LabAgent

beforeAll(async () => {
  const started = await startWithAgents({ deathsAllowed: 100 })
  lab = started.lab
  const primary = started.agents.agents['23']
  if (!primary) throw new Error('The Primary has no agent.')
  agent = primary
}, 120_000)
afterAll(() => lab?.stop(), 60_000)

const ENDED = ['applied', 'rolled_back', 'removed']

/** Waits for the end of a run that recovery may have to finish. */
async function endOf(planId: string): Promise<string> {
  await until('the run has ended', async () => ENDED.includes((await planOf(lab, planId)).state))
  return (await planOf(lab, planId)).state
}

/** Resolves with what waits for the agent after it. */
async function dieNextAt(point: string): Promise<() => Promise<void>> {
  agent.setNextEnvironment({ DRAWBRIDGE_CRASH_AT: point })
  await agent.kill()
  const { pid } = agent
  return () => agent.replaced(pid)
}

/** `npm test` kills one agent in an apply; `npm run campaign -- agent-crash` tries everything. */
const inCampaign = (name: string, work: () => Promise<void>): void => {
  if (process.env.CAMPAIGN) test(name, { timeout: 180_000 }, work)
}

const POINTS = process.env.CAMPAIGN ? AGENT_CRASH_POINTS : ['agent change swapped']

describe.each(POINTS)('killed at "%s"', (point) => {
  const word = point.split(' ').at(-1)

  test('an apply is finished or put back, and never half', { timeout: 180_000 }, async () => {
    const { planId, host } = await planned(lab, { subdomain: `die-${word}`, tls: true })
    const reborn = await dieNextAt(point)
    const answer = await run(lab, planId)
    await reborn()
    const state = await endOf(planId)
    expect(hasEntry(lab.description.edges.primary, host)).toBe(state === 'applied')
    expect(answer.status === 200).toBe(state === 'applied')
    await invariants(lab)
    if (state === 'applied') expect((await run(lab, planId, 'remove')).status).toBe(200)
  })

  inCampaign('a remove is finished or undone', async () => {
    const { planId, host } = await planned(lab, { subdomain: `go-${word}` })
    expect((await run(lab, planId)).status).toBe(200)
    const reborn = await dieNextAt(point)
    await run(lab, planId, 'remove')
    await reborn()
    const state = await endOf(planId)
    expect(hasEntry(lab.description.edges.primary, host)).toBe(state === 'applied')
    await invariants(lab)
  })
})

inCampaign('agent and service killed together: the run ends', async () => {
  const { planId, host } = await planned(lab, { subdomain: 'both' })
  const reborn = await dieNextAt('agent change swapped')
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: 'apply proxy before-swap' })
  await lab.killService()
  await run(lab, planId).catch(() => undefined)
  await lab.serviceRestarted()
  await reborn()
  const state = await endOf(planId)
  expect(hasEntry(lab.description.edges.primary, host)).toBe(state === 'applied')
  await invariants(lab)
})
