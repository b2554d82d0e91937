import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Endpoint, Relay } from './addresses.ts'

/** A relay forwards connections of a browser from an address that the browser cannot choose. */
export async function startRelays(relays: readonly Relay[], target: Endpoint): Promise<{ stop(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const started: Server[] = []
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await Promise.all(started.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))))
  }
  try {
    for (const relay of relays) {
      for (const address of ['127.0.0.1', '::1']) {
        const server = createServer({ allowHalfOpen: true }, (socket) => forward(socket, relay, target, sockets))
        if (await listen(server, address, relay.port)) started.push(server)
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

/** Resolves with false on a machine without IPv6. */
const listen = (server: Server, address: string, port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve(false)
      else
        reject(
          new Error(
            `A relay cannot listen on port ${port} of ${address} (${error.code}). Stop the program that uses the port.`,
          ),
        )
    })
    server.listen(port, address, () => resolve(true))
  })

function forward(caller: Socket, relay: Relay, target: Endpoint, sockets: Set<Socket>): void {
  const service = connect({
    host: target.address,
    port: target.port,
    localAddress: relay.dialsFrom,
    allowHalfOpen: true,
  })
  for (const [socket, other] of [
    [caller, service],
    [service, caller],
  ] as const) {
    sockets.add(socket)
    socket.once('error', () => other.destroy())
    socket.once('close', () => {
      sockets.delete(socket)
      other.destroySoon()
    })
    socket.pipe(other)
  }
}
