/** The network and ports of a lab. Two labs run at the same time if they share neither. */
export interface Place {
  /** The first three numbers of a loopback network, such as `127.0.45`. */
  readonly network: string
  /** On 127.0.0.1, because BIND listens only on addresses of an interface. */
  readonly dnsPorts: { readonly primary: number; readonly secondary: number }
  /** On localhost, for browsers. */
  readonly relayPorts: { readonly outside: number; readonly inside: number }
}

export const DEFAULT_PLACE: Place = {
  network: '127.0.45',
  dnsPorts: { primary: 5345, secondary: 5373 },
  relayPorts: { outside: 8045, inside: 8046 },
}

export const ZONE = 'lab.test'
const SERVICE_PORT = 8045
export const EDGE_PORTS = { http: 8080, https: 8443 }
const ACME_PORTS = { api: 14_000, management: 15_000 }
const BACKEND_PORT = 3000

export interface Endpoint {
  readonly address: string
  readonly port: number
}

export interface Addresses {
  readonly network: string
  readonly service: Endpoint
  readonly servers: Readonly<Record<'23' | '25' | '253' | '73', string>>
  readonly dns: { readonly primary: Endpoint; readonly secondary: Endpoint }
  readonly acme: { readonly api: Endpoint; readonly management: Endpoint }
  readonly backends: readonly Backend[]
  readonly relays: { readonly outside: Relay; readonly inside: Relay }
  readonly callers: { readonly internal: string; readonly public: string }
}

/** `healthStatus`: the HTTP status of its `/healthz`. */
export interface Backend extends Endpoint {
  readonly server: string
  readonly healthStatus: number
}

/** Listens on localhost and connects to the service from the address `dialsFrom`. */
export interface Relay {
  readonly port: number
  readonly dialsFrom: string
}

export function addressesAt({ network, dnsPorts, relayPorts }: Place): Addresses {
  const at = (last: number) => `${network}.${last}`
  const callers = { internal: at(10), public: '127.0.0.1' }
  return {
    network: `${network}.0/24`,
    service: { address: at(23), port: SERVICE_PORT },
    servers: { '23': at(23), '25': at(25), '253': at(253), '73': at(73) },
    dns: {
      primary: { address: '127.0.0.1', port: dnsPorts.primary },
      secondary: { address: '127.0.0.1', port: dnsPorts.secondary },
    },
    acme: {
      api: { address: at(23), port: ACME_PORTS.api },
      management: { address: at(23), port: ACME_PORTS.management },
    },
    backends: [
      { server: '25', address: at(25), port: BACKEND_PORT, healthStatus: 200 },
      { server: '253', address: at(253), port: BACKEND_PORT, healthStatus: 503 },
    ],
    relays: {
      outside: { port: relayPorts.outside, dialsFrom: callers.public },
      inside: { port: relayPorts.inside, dialsFrom: callers.internal },
    },
    callers,
  }
}

export const urlOf = ({ address, port }: Endpoint): string => `http://${address}:${port}`
export const relayUrl = ({ port }: Relay): string => `http://localhost:${port}`

export interface Listener extends Endpoint {
  readonly purpose: string
}

/** Every port on which a lab listens. */
export function listenersOf(addresses: Addresses): Listener[] {
  const listener = (purpose: string, { address, port }: Endpoint): Listener => ({ address, port, purpose })
  const edge = (name: string, address: string) => [
    listener(`${name} (http)`, { address, port: EDGE_PORTS.http }),
    listener(`${name} (https)`, { address, port: EDGE_PORTS.https }),
  ]
  return [
    listener('the service', addresses.service),
    listener('BIND (primary)', addresses.dns.primary),
    listener('BIND (secondary)', addresses.dns.secondary),
    ...edge('nginx on 23', addresses.servers['23']),
    ...edge('nginx on 73', addresses.servers['73']),
    listener('Pebble', addresses.acme.api),
    listener("Pebble's management", addresses.acme.management),
    ...addresses.backends.map((backend) => listener(`the sample backend on ${backend.server}`, backend)),
    ...Object.values(addresses.relays).map(({ port }) => listener('a relay', { address: '127.0.0.1', port })),
  ]
}
