import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adoptableSites, siteOn } from '../../../src/compose/adoption.ts'
import type { EdgeAccesses } from '../../../src/compose/edges.ts'
import type { Config } from '../../../src/config/config.ts'
import { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { remoteEdge } from '../../../src/edge/remote/remote-edge.ts'
import { remoteSites } from '../../../src/edge/remote/remote-view.ts'
import { PROTOCOL } from '../../../src/edge/wire/verbs.ts'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { proxyStep } from '../../../src/runs/steps/proxy.ts'
import { STORE } from '../../support/edge/edge.ts'
import { entryOf } from '../../support/edge/engine.ts'
import { DESCRIPTION, type LyingAgent, startLyingAgent } from '../../support/edge/lying-agent.ts'

/** What a service believes of an agent, and how it names one that it cannot work with. */
const HOST = 'shop.lab.test'
let agent: LyingAgent
let site: ReturnType<typeof remoteSites>
let edges: EdgeAccesses
const clientOf = ({ socket }: LyingAgent, clock: Clock = systemClock) =>
  new AgentClient({ server: '23', at: { socket }, clock })
beforeAll(async () => {
  agent = await startLyingAgent()
  site = remoteSites(clientOf(agent), [])
  edges = new Map([['23', { site }]]) as unknown as EdgeAccesses
})
afterAll(() => agent[Symbol.asyncDispose]())

test('an agent of another protocol is named, with what to do', async () => {
  await using other = await startLyingAgent({ describe: { answer: { ...DESCRIPTION, protocol: PROTOCOL - 1 } } })
  await expect(clientOf(other).describe()).rejects.toThrow(
    `speaks protocol ${PROTOCOL - 1}, and this service ${PROTOCOL}. Use the same version of both`,
  )
})

test('an agent that does not know a verb is named, with its version and what to do', async () => {
  await expect(siteOn(edges, '23', HOST)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('The agent of edge 23, version 0.0.9, does not know "look".'),
  })
  await expect(site(HOST)).rejects.toThrow('Upgrade the agent on 23.')
})

describe('a list of hosts', () => {
  const listed = {
    ...{ host: HOST, entry: entryOf(HOST), revision: 'a'.repeat(32), fence: null, drift: [] },
    ...{ file: '/edge/backends/12.map', line: 4 },
  }
  const stray = { file: 'current/backends/12.map', lines: [4] }
  const list = (hosts: object[], lines: object[] = [stray]) => {
    agent.says.list = { answer: { generation: 'g', number: 1, hosts, stray: lines } }
    return remoteEdge(clientOf(agent)).list([HOST])
  }

  test('is believed where every value is of its grammar', async () => {
    expect(await list([listed])).toMatchObject({ hosts: [listed], stray: [stray] })
  })

  test.each([
    ['another host than was asked for', [{ ...listed, host: 'bank.lab.test', entry: null }]],
    ['one host more', [listed, { ...listed, host: 'bank.lab.test', entry: null }]],
    ['none', []],
    ['the entry of another host', [{ ...listed, entry: entryOf('bank.lab.test') }]],
    ['an entry that is not of the grammar', [{ ...listed, entry: { ...listed.entry, plan: 'plan_1; }' } }]],
    ['a member more', [{ ...listed, text: 'server {}' }]],
    ['a revision that is none', [{ ...listed, revision: 'Run: curl | sh' }]],
  ])('with %s is not', async (_, hosts) => {
    await expect(list(hosts)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test.each(['/etc/passwd', 'current/backends/../x', 'current/backends/Run: curl | sh'])(
    'with lines in %s, which is no path of the edge, is not',
    async (file) => {
      await expect(list([listed], [{ ...stray, file }])).rejects.toMatchObject({ kind: 'unavailable' })
    },
  )
})

describe('a verdict', () => {
  const item = { host: HOST, fence: { host: HOST, epoch: 1, number: 1 }, expected: 'any', wanted: 'absent' } as const
  const serving = { host: HOST, state: 'serving', generation: 1, revision: '' }
  const change = (hosts: object[]) => {
    agent.says.change = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify({ verdict: { state: 'done', hosts } })}\n`)
    }
    return remoteEdge(clientOf(agent)).change({ items: [item] })
  }

  test('on each host, in order, is believed', async () => {
    expect(await change([serving])).toEqual([serving])
  })

  test.each([
    ['on another host', [{ ...serving, host: 'bank.lab.test' }]],
    ['on one host more', [serving, serving]],
    ['on none', []],
  ])('%s is not', async (_, hosts) => {
    await expect(change(hosts)).rejects.toMatchObject({ kind: 'not_reloaded' })
  })
})

describe('a change whose verdict was lost', () => {
  const lines = (response: ServerResponse, ...told: object[]) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const line of told) response.write(`${JSON.stringify(line)}\n`)
  }
  const refuses = (status: number) => (response: ServerResponse) => void response.writeHead(status).end('{}')
  /** The change of a step, which the agent enters, and then says no more about it. `next`: what it says to each later message. */
  async function lost(next: (says: LyingAgent['says']) => ((response: ServerResponse) => void)[]): Promise<unknown> {
    await using other = await startLyingAgent()
    const answers = next(other.says)
    let changes = 0
    other.says.change = (response) => {
      changes += 1
      if (changes > 1) return (answers[changes - 2] ?? answers.at(-1))?.(response)
      lines(response, { point: 'swapped' })
      response.end()
    }
    let waitedMs = 0
    const clock = {
      ...systemClock,
      monotonic: () => waitedMs,
      sleep: async (ms: number) => {
        waitedMs += ms
      },
    }
    const guard = {
      ...{ assertHeld: () => undefined, ensureHeld: async () => undefined, leftMs: 5_000 },
      ...{ fences: [{ host: HOST, epoch: 1, number: 1 }], run: { run: 'run_a', store: STORE } },
      signal: new AbortController().signal,
    }
    const primary = remoteEdge(clientOf(other, clock))
    const { do: act } = proxyStep(
      { primary, guard, secondary: undefined, onCrashPoint: () => undefined, judgeSecondary: undefined },
      { name: 'proxy', hosts: [HOST], wishes: async () => [{ host: HOST, expected: 'any', wanted: 'absent' }] },
    )
    return await act({ run: 'run_a' }, {}, async () => undefined).catch((error: unknown) => error)
  }
  const UNPROVEN = {
    kind: 'not_reloaded',
    message: expect.stringContaining('Whether the change was made is not known.'),
  }

  test.each<[string, Parameters<typeof lost>[0]]>([
    ['an agent that forbids it', () => [refuses(403)]],
    ['an agent without room for it', () => [refuses(503)]],
    ['an agent without the verb', () => [refuses(404)]],
    ['lines that are none', () => [(response) => void lines(response, { said: 'done' })]],
    [
      'an agent that was upgraded',
      (says) => [
        (response) => {
          says.describe = { answer: { ...DESCRIPTION, protocol: PROTOCOL + 1 } }
          response.destroy()
        },
      ],
    ],
  ])('may have been made, whatever comes then: %s', async (_, next) => {
    expect(await lost(next)).toMatchObject(UNPROVEN)
  })

  test('may have been made by an agent that does not know it any more and refuses it', async () => {
    const verdict = (told: object) => (response: ServerResponse) => {
      lines(response, { verdict: told })
      response.end()
    }
    const fault = (kind: string) => verdict({ state: 'refused', fault: { kind, sentence: 'No.' } })
    const unknown = verdict({ state: 'unknown' })
    expect(await lost(() => [unknown, fault('config_broken')])).toMatchObject(UNPROVEN)
    expect(await lost(() => [unknown, refuses(503)])).toMatchObject(UNPROVEN)
    expect(await lost(() => [unknown, fault('fenced')])).toMatchObject({ cause: { kind: 'fenced' } })
    expect(await lost(() => [fault('config_broken')])).toMatchObject({ untouched: true })
  })
})

test('a change that the agent refuses at once, or does not answer in words, is told apart', async () => {
  await using other = await startLyingAgent()
  const item = { host: HOST, fence: { host: HOST, epoch: 1, number: 1 }, expected: 'any', wanted: 'absent' } as const
  const change = () => remoteEdge(clientOf(other)).change({ items: [item] })
  other.says.change = (response) => void response.writeHead(503).end('{}')
  await expect(change()).rejects.toMatchObject({ kind: 'unavailable' })
  for (const text of ['{"verdict":{"state":"do\n', '{"said":"done"}\n']) {
    other.says.change = (response) => void response.writeHead(200).end(text)
    await expect(change()).rejects.toMatchObject({ kind: 'not_reloaded' })
  }
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
  agent.says.look = { answer: { site: { kind: 'none' } } }
  const config = { adopt: { enabled: true }, servers: { primary: '23', secondary: '73' } } as unknown as Config
  const found = adoptableSites(config, new Map([...edges, ...both]))
  expect(await found?.('shop.lab.test')).toBeUndefined()
  delete agent.says.look
})

test.each([
  ['text of a site', { text: 'server {}' }],
  ['a member more', { lines: ['proxy_pass http://x'] }],
  ['an option that no site has', { options: { snippets: ['any'] } }],
  ['options that are not in order', { options: { buffering: true } }],
])('an answer with %s is not believed', async (_, more) => {
  const digest = `sha256:${'0'.repeat(64)}`
  const good = { kind: 'site', tls: false, carried: 0, changed: [], lost: [], refused: [], digest, text: digest }
  agent.says.look = { answer: { site: { ...good, blocks: [] } } }
  expect(await site('shop.lab.test')).toMatchObject({ kind: 'site', tls: false })
  agent.says.look = { answer: { site: { ...good, blocks: [], ...more } } }
  await expect(site('shop.lab.test')).rejects.toMatchObject({ kind: 'unavailable' })
})
