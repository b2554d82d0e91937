import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import type { Endpoint } from '../model/address.ts'
import type { Reach } from '../model/evidence.ts'

/** One TCP connection, closed as soon as it stands. */
export function reach({ address, port }: Endpoint, limitMs: number): Promise<Reach> {
  const socket = connect({ host: address, port })
  return new Promise<Reach>((resolve) => {
    socket.setTimeout(limitMs, () => resolve('timeout'))
    socket.once('connect', () => resolve('open'))
    socket.on('error', (error) => resolve(REASONS['code' in error ? String(error.code) : ''] ?? 'unreachable'))
  }).finally(() => socket.destroy())
}

const REASONS: Readonly<Record<string, Reach>> = { ECONNREFUSED: 'refused', ETIMEDOUT: 'timeout' }

/** Whether somebody takes a TLS handshake there. Whom the certificate is from does not matter. */
export function speaksTls({ address, port }: Endpoint, limitMs: number): Promise<boolean> {
  const socket = connectSecurely({ host: address, port, rejectUnauthorized: false })
  return new Promise<boolean>((resolve) => {
    socket.setTimeout(limitMs, () => resolve(false))
    socket.once('secureConnect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  }).finally(() => socket.destroy())
}
