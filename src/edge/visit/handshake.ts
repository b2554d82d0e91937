import { connect } from 'node:tls'
import type { Endpoint } from '../../model/address.ts'
import type { Clock } from '../../primitives/clock.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { FairClock } from '../../primitives/fair-clock.ts'
import type { Handshake } from '../contract/visit.ts'
import { isForHost, unverified } from './ask.ts'

/** Does one TLS handshake with the host's name and sends no request. Rejects only when `signal` aborts, with its reason. */
export async function tlsHandshake(
  { address, port }: Endpoint,
  host: string,
  limitMs: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Handshake> {
  using waited = new FairClock(clock)
  const socket = connect({ ...unverified(), host: address, port, servername: host })
  const shown = await new Promise<Handshake>((resolve) => {
    waited.limit(limitMs, () => resolve({ kind: 'unknown' }), signal)
    let isConnected = false
    socket.once('connect', () => {
      isConnected = true
    })
    socket.once('secureConnect', () => {
      const x509 = socket.getPeerX509Certificate()
      const { subjectAltName = '' } = x509 ?? {}
      resolve(
        x509
          ? {
              kind: 'certificate',
              fingerprint: x509.fingerprint256,
              serial: x509.serialNumber,
              names: subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4)] : [])),
              coversHost: isForHost(x509, host),
              notBefore: x509.validFromDate.getTime(),
              notAfter: x509.validToDate.getTime(),
            }
          : { kind: 'unknown' },
      )
    })
    socket.on('error', (error) =>
      resolve({ kind: isConnected && errorCode(error) !== 'ETIMEDOUT' ? 'refused' : 'unknown' }),
    )
    socket.once('close', () => resolve({ kind: 'unknown' }))
  }).finally(() => socket.destroy())
  signal?.throwIfAborted()
  return shown
}
