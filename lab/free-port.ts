import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { socketOwners } from '../src/operate/doctor/ports.ts'

/** Below the ephemeral range of the kernel, so that no outgoing connection takes the port before its user does. */
const LOWEST = 15_000
const HIGHEST = 32_000
const ATTEMPTS = 200
/** Large, because a diagnosis probes the ports next to one; coprime to the range, so that every port gets used. */
const STRIDE = 101

let next = randomInt(LOWEST, HIGHEST)

/**
 * A port that is free for both UDP and TCP. A process gets no port twice before it has used all others. It starts at a random
 * port, so that two processes rarely choose the same port at the same time.
 */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = next
    next = port + STRIDE < HIGHEST ? port + STRIDE : port + STRIDE - HIGHEST + LOWEST
    if (await isPortFree(address, port)) return port
  }
  throw new Error(`No port between ${LOWEST} and ${HIGHEST} is free on ${address}. Stop other programs and try again.`)
}

export const isPortFree = async (address: string, port: number): Promise<boolean> =>
  (await isTcpPortFree(address, port)) && (await isUdpPortFree(address, port))

const isTcpPortFree = (address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, address, () => server.close(() => resolve(true)))
  })

const isUdpPortFree = (address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', () => {
      socket.close()
      resolve(false)
    })
    socket.bind(port, address, () => socket.close(() => resolve(true)))
  })

/** Throws if the port is in use: otherwise the program on it could be mistaken for the part of the lab. */
export async function assertPortFree(address: string, port: number, purpose: string): Promise<void> {
  if (await isPortFree(address, port)) return
  const [owner] = socketOwners(address, port)
  const remedy = owner
    ? `${owner.program} (pid ${owner.pid}). Stop it with \`kill ${owner.pid}\``
    : 'another program. Stop that program'
  throw new Error(`Port ${port} on ${address}, which ${purpose} needs, is used by ${remedy} and start again.`)
}
