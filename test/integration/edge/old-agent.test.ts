import { afterAll, beforeAll, expect, test } from 'vitest'
import { adoptableSites, siteOn } from '../../../src/compose/adoption.ts'
import type { EdgeAccesses } from '../../../src/compose/edges.ts'
import type { Config } from '../../../src/config/config.ts'
import { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { remoteEdge } from '../../../src/edge/remote/remote-edge.ts'
import { remoteSites } from '../../../src/edge/remote/remote-view.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { DESCRIPTION, type LyingAgent, startLyingAgent } from '../../support/edge/lying-agent.ts'

/** An agent of a version before sites could be adopted: it knows `describe`, and answers other verbs as agents do. */
let agent: LyingAgent
let site: ReturnType<typeof remoteSites>
let edges: EdgeAccesses
beforeAll(async () => {
  agent = await startLyingAgent()
  site = remoteSites(new AgentClient({ server: '23', at: { socket: agent.socket }, clock: systemClock }), [])
  edges = new Map([['23', { site }]]) as unknown as EdgeAccesses
})
afterAll(() => agent[Symbol.asyncDispose]())

test('an agent that is too old to adopt is named, with what to do', async () => {
  await expect(siteOn(edges, '23', 'shop.lab.test')).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The agent of edge 23, version 0.0.9, does not know "find-site".',
    members: { nextAction: 'Upgrade drawbridge on the machine of edge 23 and start its agent again.' },
  })
})

test('lines of no host: an agent that is too old tells none, and what is no path of the edge is not believed', async () => {
  const edge = remoteEdge(new AgentClient({ server: '23', at: { socket: agent.socket }, clock: systemClock }))
  expect(await edge.stray()).toEqual([])
  const stray = { file: 'current/backends/12.map', lines: [4] }
  agent.says.stray = { answer: [stray] }
  expect(await edge.stray()).toEqual([stray])
  for (const file of ['/etc/passwd', 'current/backends/../x', 'current/backends/Run: curl | sh']) {
    agent.says.stray = { answer: [{ ...stray, file }] }
    await expect(edge.stray()).rejects.toMatchObject({ kind: 'unavailable' })
  }
  delete agent.says.stray
})

test('an agent that is away is named, and one of a Secondary does not hinder', async () => {
  const away = remoteSites(
    new AgentClient({ server: '73', at: { socket: `${agent.socket}.gone` }, clock: systemClock }),
    [],
  )
  const both = new Map([['73', { site: away }]]) as unknown as EdgeAccesses
  await expect(siteOn(both, '73', 'shop.lab.test')).rejects.toMatchObject({
    code: 'unavailable',
    message: `The agent of edge 73 at ${agent.socket}.gone does not answer (there is no socket).`,
  })
  agent.says['find-site'] = { answer: { kind: 'none' } }
  const config = { adopt: { enabled: true }, servers: { primary: '23', secondary: '73' } } as unknown as Config
  const found = adoptableSites(config, new Map([...edges, ...both]))
  expect(await found?.('shop.lab.test')).toBeUndefined()
  delete agent.says['find-site']
})

test.each([
  ['text of a site', { text: 'server {}' }],
  ['a member more', { lines: ['proxy_pass http://x'] }],
  ['an option that no site has', { options: { snippets: ['any'] } }],
  ['options that are not in order', { options: { buffering: true } }],
])('an answer with %s is not believed', async (_, more) => {
  const digest = `sha256:${'0'.repeat(64)}`
  const good = { kind: 'site', tls: false, carried: 0, changed: [], lost: [], refused: [], digest, text: digest }
  agent.says['find-site'] = { answer: { ...good, blocks: [] } }
  expect(await site('shop.lab.test')).toMatchObject({ kind: 'site', tls: false })
  agent.says['find-site'] = { answer: { ...good, blocks: [], ...more } }
  await expect(site('shop.lab.test')).rejects.toMatchObject({ kind: 'unavailable' })
})

test('an agent that knows no stores is sent none, and one that does is', async () => {
  await using told = await startLyingAgent({ fence: { answer: {} } })
  const edge = () => remoteEdge(new AgentClient({ server: '23', at: { socket: told.socket }, clock: systemClock }))
  const fence = { host: 'shop.lab.test', epoch: 1, number: 2 }
  await edge().raiseFloor({ store: 'store_a', epoch: 1 })
  await edge().raiseFence([{ ...fence, store: 'store_a' }])
  told.says.describe = { answer: { ...DESCRIPTION, floors: [] } }
  await edge().raiseFence([{ ...fence, store: 'store_a' }])
  const sent = told.asked.filter(({ verb }) => verb === 'fence').map(({ body }) => JSON.parse(body))
  expect(sent).toEqual([[fence], [{ ...fence, store: 'store_a' }]])
})
