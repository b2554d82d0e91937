import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { socketOwners } from '../src/operate/doctor/ports.ts'

/** Below the range that the kernel takes local ports from, so that no outgoing connection can take the port meanwhile. */
const LOWEST = 15_000
const HIGHEST = 32_000
const ATTEMPTS = 200
/** Wide, since a diagnosis looks for services beside a port; and coprime to the range, so that all of it is walked. */
const STRIDE = 101

let next = randomInt(LOWEST, HIGHEST)

/**
 * A port that is free for UDP and for TCP at once. One program gets no port twice before all others had their turn, and
 * begins where chance has it, so that two programs seldom ask for the same one before either has taken it.
 */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = next
    next = port + STRIDE < HIGHEST ? port + STRIDE : port + STRIDE - HIGHEST + LOWEST
    if (await isPortFree(address, port)) return port
  }
  throw new Error(`No free port between ${LOWEST} and ${HIGHEST} on ${address}.`)
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

/** Whatever binds there next would fail or, worse, whoever listens there now would be taken for it. */
export async function assertPortFree(address: string, port: number, purpose: string): Promise<void> {
  if (await isPortFree(address, port)) return
  const [owner] = socketOwners(address, port)
  const remedy = owner
    ? `by ${owner.program} (pid ${owner.pid}): stop it with \`kill ${owner.pid}\``
    : 'by another program: stop it'
  throw new Error(`Port ${port} on ${address}, which ${purpose} needs, is taken ${remedy} and start again.`)
}
