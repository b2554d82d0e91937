import { join } from 'node:path'
import { type Addresses, EDGE_PORTS, type Endpoint, relayUrl, urlOf, ZONE } from './addresses.ts'
import type { Edge, StatePaths } from './state.ts'

/** The content of `STATE/lab.json`, for scripts. */
export interface LabDescription {
  readonly api: string
  readonly zone: string
  readonly dns: {
    readonly primary: Endpoint
    readonly secondary: Endpoint
    readonly tsig: { readonly name: string; readonly algorithm: string; readonly secretFile: string }
  }
  readonly edges: { readonly primary: EdgeDescription; readonly secondary: EdgeDescription }
  /** `ca`: a file with every root certificate so far. */
  readonly acme: { readonly directory: string; readonly ca: string }
  readonly backends: readonly { readonly server: string; readonly address: string; readonly port: number }[]
  readonly callers: { readonly internal: string; readonly public: string }
  readonly inside: string
  readonly outside: string
  readonly adminTokenFile: string
  readonly log: string
  readonly pids: Readonly<Record<string, number>>
}

export interface EdgeDescription {
  readonly server: string
  readonly address: string
  readonly http: number
  readonly https: number
  readonly prefix: string
  readonly config: string
  /** The folder of Drawbridge. */
  readonly folder: string
  /** The folder with the lines of the hosts, of the present generation. */
  readonly hosts: string
  readonly errorLog: string
  readonly pidFile: string
}

export function describeLab(
  addresses: Addresses,
  paths: StatePaths,
  pids: Readonly<Record<string, number>>,
): LabDescription {
  return {
    api: urlOf(addresses.service),
    zone: ZONE,
    dns: {
      ...addresses.dns,
      tsig: { name: 'drawbridge.', algorithm: 'hmac-sha256', secretFile: paths.tsigSecret },
    },
    edges: {
      primary: describeEdge('primary', '23', addresses, paths),
      secondary: describeEdge('secondary', '73', addresses, paths),
    },
    acme: { directory: acmeDirectory(addresses), ca: paths.ca },
    backends: addresses.backends.map(({ server, address, port }) => ({ server, address, port })),
    callers: addresses.callers,
    inside: relayUrl(addresses.relays.inside),
    outside: relayUrl(addresses.relays.outside),
    adminTokenFile: paths.adminToken,
    log: paths.log,
    pids,
  }
}

export const acmeDirectory = ({ acme }: Addresses): string => `https://${acme.api.address}:${acme.api.port}/dir`

const describeEdge = (name: Edge, server: '23' | '73', addresses: Addresses, paths: StatePaths): EdgeDescription =>
  edgeBelow(paths.edge(name), { server, address: addresses.servers[server], ...EDGE_PORTS })

/** An edge whose nginx has all its files below one folder. */
export function edgeBelow(
  prefix: string,
  at: Pick<EdgeDescription, 'server' | 'address' | 'http' | 'https'>,
): EdgeDescription {
  const folder = join(prefix, 'drawbridge')
  return {
    ...at,
    prefix,
    config: join(prefix, 'nginx.conf'),
    folder,
    hosts: join(folder, 'current', 'backends'),
    errorLog: join(prefix, 'logs', 'error.log'),
    pidFile: join(prefix, 'nginx.pid'),
  }
}
