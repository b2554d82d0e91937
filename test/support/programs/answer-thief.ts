import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../../lab/free-port.ts'
import type { Endpoint } from '../../../src/model/address.ts'

export interface AnswerThief extends Endpoint, AsyncDisposable {
  /** The number of dropped answers. */
  readonly stolen: () => number
}

/**
 * A proxy that forwards requests to a server and closes the connection when the answer comes, without forwarding it. Answers to
 * updates that change nothing pass.
 */
export async function startAnswerThief(server: Endpoint): Promise<AnswerThief> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => sockets.add(socket.on('error', () => undefined))
  let stolen = 0
  const listener = createServer((client) => {
    const upstream = connect(server.port, server.address)
    keep(client)
    keep(upstream)
    client.pipe(upstream)
    let isRehearsal = false
    client.on('data', (bytes) => {
      isRehearsal ||= bytes.includes('_drawbridge-rehearsal')
    })
    upstream.once('data', (bytes) => {
      if (isRehearsal) return client.end(bytes)
      stolen += 1
      upstream.destroy()
      client.destroy()
    })
  })
  const port = await freePort()
  listener.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  return {
    address: '127.0.0.1',
    port,
    stolen: () => stolen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}
