import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/** Below the range that the kernel takes local ports from, so that no outgoing connection can take the port meanwhile. */
const LOWEST = 15_000
const HIGHEST = 32_000
const ATTEMPTS = 200

/** A port that is free for UDP and for TCP at once. Chosen at random, so two callers seldom get the same one. */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isPortFree(address, port)) return port
  }
  throw new Error(`No free port between ${LOWEST} and ${HIGHEST} on ${address}.`)
}

export const isPortFree = async (address: string, port: number): Promise<boolean> =>
  (await isTcpPortFree(address, port)) && (await isUdpPortFree(address, port))

export const isTcpPortFree = (address: string, port: number): Promise<boolean> =>
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

/** Whatever binds there next would fail, or worse, be taken for whoever listens there now. */
export async function assertPortFree(address: string, port: number, purpose: string): Promise<void> {
  if (await isPortFree(address, port)) return
  throw new Error(
    `Port ${port} on ${address}, for ${purpose}, is taken: stop what listens there, or choose another port.`,
  )
}
