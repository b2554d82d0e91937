import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Agent } from '../../../src/edge/agent/agent.ts'
import { agentServer, closeServer } from '../../../src/edge/agent/server.ts'
import { listenOnSocket } from '../../../src/edge/agent/socket.ts'
import { PATH_OF } from '../../../src/edge/wire/verbs.ts'
import { runAgent } from '../../../src/operate/edge/run.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { freshFolder } from '../../support/fresh.ts'
import { until } from '../../support/until.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** The time that a service manager gives an agent to end. */
const END_MS = 10_000

/** The server and its connections are real, what they ask for is a stand-in, and the time is moved. */
const at = freshFolder()
let open: Socket[]
beforeEach(() => {
  open = []
})
afterEach(() => {
  for (const socket of open) socket.destroy()
})

interface Stand {
  readonly prepare?: () => Promise<void>
  readonly describe?: () => Promise<never>
}

async function started({ prepare = async () => undefined, describe }: Stand = {}) {
  const clock = new VirtualClock()
  const path = at('edge.sock')
  const signal = Promise.withResolvers<string>()
  const seen = { exit: undefined as number | undefined, released: false, isAsked: false, listens: false }
  const handlers = {
    describe: () => {
      seen.isAsked = true
      return describe?.() ?? Promise.resolve({})
    },
  }
  const server = agentServer({
    agent: { handlers } as unknown as Agent,
    refusalOf: () => undefined,
    onRefused: () => undefined,
    onUnexpected: () => undefined,
    clock,
  })
  const ran = runAgent(
    {
      server: '23',
      prepare,
      listen: async () => {
        await listenOnSocket(server, { path, group: undefined })
        seen.listens = true
        return { places: [path], close: () => closeServer(server, clock) }
      },
      release: () => {
        seen.released = true
      },
      clock,
    },
    createLog('silent', []),
    {
      ended: () => signal.promise,
      exit: (code) => {
        seen.exit = code
      },
    },
  )
  await until('the agent listens', () => seen.listens)
  const connected = async (text: string) => {
    const socket = createConnection(path)
    open.push(socket)
    await once(socket, 'connect')
    socket.on('error', () => undefined)
    socket.write(text)
    return socket
  }
  return { clock, seen, ran, connected, server, terminate: () => signal.resolve('SIGTERM') }
}

const message = (body: string, length = body.length) =>
  `POST ${PATH_OF('describe')} HTTP/1.1\r\nhost: edge\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`

test('an agent ends in time beside connections that say nothing, half a message, and are kept open', async () => {
  const { clock, seen, ran, connected, server, terminate } = await started()
  const kept = await connected(message('{}'))
  await once(kept, 'data')
  await connected('')
  await connected('POST /')
  await connected(message('{', 2))
  await until('all are accepted', async () => (await connectionsOf(server)) === 4)
  terminate()
  // The connections end in real time, so the last of it is left to them.
  await clock.advance(0.8 * END_MS)
  await ran
  expect(seen).toMatchObject({ exit: undefined, released: true })
})

test('an agent ends in time while its nginx does not answer, or a message is not answered', async () => {
  const never = () => Promise.withResolvers<never>().promise
  const { clock, seen, connected, terminate } = await started({ prepare: never, describe: never })
  await connected(message('{}'))
  await until('the message has come', () => seen.isAsked)
  terminate()
  await clock.advance(END_MS)
  expect(seen.exit).toBe(1)
})

const connectionsOf = (server: ReturnType<typeof agentServer>): Promise<number> =>
  new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))
