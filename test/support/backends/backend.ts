import { createServer, type Socket } from 'node:net'
import { type Listening, listening } from '../listening.ts'

export interface Backend extends Listening {
  /** The request of the last caller, as text. */
  readonly request: () => string
  /** The number of bytes that were sent to callers. */
  readonly sent: () => number
  readonly openSockets: () => number
}

/** A backend on a real socket. It calls `talk` with each connection after the first bytes of a request. */
export async function startBackend(talk: (socket: Socket) => void, address = '127.0.0.1'): Promise<Backend> {
  let request = ''
  let sent = 0
  const server = createServer((socket) => {
    socket.on('close', () => {
      sent += socket.bytesWritten
    })
    socket.once('data', (bytes) => {
      request = bytes.toString()
      talk(socket)
    })
  })
  const listens = await listening(server, { address })
  return { ...listens, request: () => request, sent: () => sent, openSockets: () => listens.sockets.size }
}
