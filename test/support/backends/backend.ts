import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface Backend extends AsyncDisposable {
  readonly address: string
  readonly port: number
  /** The request of the last caller, as text. */
  readonly request: () => string
  /** The number of bytes that were sent to callers. */
  readonly sent: () => number
  readonly openSockets: () => number
}

/** A backend on a real socket. It calls `talk` with each connection after the first bytes of a request. */
export async function startBackend(talk: (socket: Socket) => void, address = '127.0.0.1'): Promise<Backend> {
  const sockets = new Set<Socket>()
  let request = ''
  let sent = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sent += socket.bytesWritten
      sockets.delete(socket)
    })
    socket.once('data', (bytes) => {
      request = bytes.toString()
      talk(socket)
    })
  })
  server.listen(0, address)
  await once(server, 'listening')
  return {
    address,
    port: (server.address() as AddressInfo).port,
    request: () => request,
    sent: () => sent,
    openSockets: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
