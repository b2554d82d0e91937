import { connect } from 'node:tls'
import type { EdgeDescription } from '../../../lab/description.ts'

/** The served certificate, or why the handshake failed. */
interface Shown {
  readonly at: number
  readonly host: string
  readonly serial: string
  readonly notAfter: number
}

export interface Visiting {
  /** Every served certificate, once per host, in order of appearance. */
  readonly seen: readonly Shown[]
  /** Stops visiting. Resolves with the number of successful handshakes and the failures. */
  stop(): Promise<{ readonly handshakes: number; readonly failures: readonly string[] }>
}

/** The pause between two visits of the same host. */
const PAUSE_MS = 100

/** One full handshake with the host's name that accepts only a valid certificate from these roots. */
export function handshake({ address, https }: EdgeDescription, host: string, ca: string): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: https, servername: host, ca })
    socket.setTimeout(10_000, () => socket.destroy(new Error('no handshake within 10 s')))
    socket.on('error', reject)
    socket.once('secureConnect', () => {
      const x509 = socket.getPeerX509Certificate()
      socket.destroy()
      if (!x509) return reject(new Error('no certificate was shown'))
      resolve({ at: Date.now(), host, serial: x509.serialNumber, notAfter: x509.validToDate.getTime() })
    })
  })
}

/** Connects to every host of every edge in turn, without end. Reads `ca` for each visit, because roots can be added. */
export function startVisiting(edges: readonly EdgeDescription[], hosts: readonly string[], ca: () => string): Visiting {
  const seen: Shown[] = []
  const failures: string[] = []
  let handshakes = 0
  let isOver = false
  const visitor = async (edge: EdgeDescription, host: string) => {
    let last = ''
    while (!isOver) {
      await handshake(edge, host, ca()).then(
        (shown) => {
          handshakes += 1
          if (shown.serial !== last && edge === edges[0]) seen.push(shown)
          last = shown.serial
        },
        (error: NodeJS.ErrnoException) =>
          failures.push(`${new Date().toISOString()} ${edge.server} ${host}: ${error.code ?? error.message}`),
      )
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  const visitors = edges.flatMap((edge) => hosts.map((host) => visitor(edge, host)))
  return {
    seen,
    async stop() {
      isOver = true
      await Promise.all(visitors)
      return { handshakes, failures }
    },
  }
}
