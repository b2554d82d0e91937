import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Endpoint } from '../../src/model/address.ts'

export interface Listening extends Endpoint, AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void>
  /** The connections that are open. */
  readonly sockets: ReadonlySet<Socket>
}

/** Lets a server of any kind listen, by default on a free port. Its end closes every connection, and may come twice. */
export async function listening(
  server: Server,
  { address = '127.0.0.1', port = 0 }: Partial<Endpoint> = {},
): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, address)
  await once(server, 'listening')
  return {
    address,
    port: (server.address() as AddressInfo).port,
    sockets,
    async [Symbol.asyncDispose]() {
      if (!server.listening) return
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
