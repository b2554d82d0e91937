import { type Endpoint, parseAddress } from './address.ts'
import type { Listen } from './evidence.ts'

/** Where an edge is asked. */
interface Front {
  readonly address: string
  readonly ports: { readonly http: number; readonly https: number }
}

/** The usual port where a host listens on it, or else its first; at the edge's own address where that is listened on. */
export function doorOf(listen: readonly Listen[], tls: boolean, { address, ports }: Front): Endpoint {
  const usual = tls ? ports.https : ports.http
  const places = listen.filter((place) => place.tls === tls && place.port !== null)
  const chosen = places.find(({ port }) => port === usual) ?? places[0]
  const bare = parseAddress(chosen?.address.replace(/^\[|\]$/g, '') ?? '')
  const isSingle = bare !== undefined && bare !== '0.0.0.0' && bare !== '::'
  return { address: isSingle ? bare : address, port: chosen?.port ?? usual }
}
