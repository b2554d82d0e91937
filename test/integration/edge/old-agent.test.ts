import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adoptableSites, siteOn } from '../../../src/compose/adoption.ts'
import type { EdgeAccesses } from '../../../src/compose/edges.ts'
import type { Config } from '../../../src/config/config.ts'
import { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { remoteSites } from '../../../src/edge/remote/remote-view.ts'
import { PROTOCOL, type WireDescription } from '../../../src/edge/wire/verbs.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** An agent of a version before sites could be adopted: it knows `describe`, and answers other verbs as agents do. */
const DESCRIPTION: WireDescription = {
  protocol: PROTOCOL,
  version: '0.0.9',
  server: '23',
  boot: 'b',
  pid: 1,
  epoch: 0,
  generation: null,
  rights: { user: 0, signalsNginx: true, writesFolder: true },
  nginx: {
    isRunning: true,
    folder: '/etc/nginx/drawbridge',
    address: '127.0.0.1',
    listen: ['127.0.0.1'],
    layout: 'lines',
    ports: { http: 80, https: 443 },
  },
}
const folder = tempFolder()
const socket = join(folder.path, 'edge.sock')
let answered: unknown
const server: Server = createServer((request, response) => {
  const body = request.url?.endsWith('/describe') ? { answer: DESCRIPTION } : answered
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body ?? { error: 'There is no such verb.' }))
})
beforeAll(() => new Promise<void>((resolve) => void server.listen(socket, resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
  folder[Symbol.dispose]()
})

const site = remoteSites(new AgentClient({ server: '23', at: { socket }, clock: systemClock }), [])
const edges = new Map([['23', { site }]]) as unknown as EdgeAccesses

test('an agent that is too old to adopt is named, with what to do', async () => {
  await expect(siteOn(edges, '23', 'shop.lab.test')).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The agent of edge 23, version 0.0.9, does not know "find-site".',
    members: { nextAction: 'Upgrade drawbridge on the machine of edge 23 and start its agent again.' },
  })
})

test('an agent that is away is named, and one of a Secondary does not hinder', async () => {
  const away = remoteSites(new AgentClient({ server: '73', at: { socket: `${socket}.gone` }, clock: systemClock }), [])
  const both = new Map([['73', { site: away }]]) as unknown as EdgeAccesses
  await expect(siteOn(both, '73', 'shop.lab.test')).rejects.toMatchObject({
    code: 'unavailable',
    message: `The agent of edge 73 at ${socket}.gone does not answer (there is no socket).`,
  })
  answered = { answer: { kind: 'none' } }
  const config = { adopt: { enabled: true }, servers: { primary: '23', secondary: '73' } } as unknown as Config
  const found = adoptableSites(config, new Map([...edges, ...both]))
  expect(await found?.('shop.lab.test')).toBeUndefined()
  answered = undefined
})

test.each([
  ['text of a site', { text: 'server {}' }],
  ['a member more', { lines: ['proxy_pass http://x'] }],
  ['an option that no site has', { options: { snippets: ['any'] } }],
  ['options that are not in order', { options: { buffering: true } }],
])('an answer with %s is not believed', async (_, more) => {
  const digest = `sha256:${'0'.repeat(64)}`
  const good = { kind: 'site', tls: false, carried: 0, changed: [], lost: [], refused: [], digest, text: digest }
  answered = { answer: { ...good, blocks: [] } }
  expect(await site('shop.lab.test')).toMatchObject({ kind: 'site', tls: false })
  answered = { answer: { ...good, blocks: [], ...more } }
  await expect(site('shop.lab.test')).rejects.toMatchObject({ kind: 'unavailable' })
})
