import { type Addresses, EDGE_PORTS, relayUrl, ZONE } from './addresses.ts'
import { acmeDirectory, describeLab } from './description.ts'
import { edgeFiles } from './nginx.ts'
import { apiCertificateFile } from './pebble.ts'
import { findProgram } from './program.ts'
import { type Edge, type StatePaths, tsigKey } from './state.ts'

export type Flow = 'capability' | 'legacy'

/** The content of `drawbridge.yaml`. */
export type ServiceConfig = Readonly<Record<string, unknown>>

export function serviceConfig(addresses: Addresses, paths: StatePaths, flow: Flow): ServiceConfig {
  const { edges } = describeLab(addresses, paths, {})
  const binary = findProgram('nginx', 'nginx')
  const edge = (name: Edge) => [edges[name].server, { ...edgeFiles(edges[name]), binary }] as const
  return {
    listen: addresses.service,
    publicUrls: [relayUrl(addresses.relays.outside), relayUrl(addresses.relays.inside)],
    internalNetworks: [addresses.network],
    flow,
    adminTokenFile: paths.adminToken,
    stateDir: paths.service,
    servers: { addresses: addresses.servers, targets: ['23', '25', '253'], primary: '23', secondary: '73' },
    edge: EDGE_PORTS,
    edges: Object.fromEntries([edge('primary'), edge('secondary')]),
    zones: { [ZONE]: zoneConfig(addresses, paths) },
    acme: {
      directory: acmeDirectory(addresses),
      caFile: apiCertificateFile(paths.pebble),
      caaIdentities: [`ca.${ZONE}`],
    },
    certificates: [paths.certificates],
    // Short, so that a person who stops a backend soon sees its badge change.
    monitor: { everySeconds: 3 },
  }
}

function zoneConfig({ dns }: Addresses, paths: StatePaths): ServiceConfig {
  const [primary, secondary] = [dns.primary, dns.secondary].map(({ address, port }) => `${address}:${port}`)
  const { name, algorithm } = tsigKey(paths)
  const tsig = { name, algorithm, secretFile: paths.tsigSecret }
  return { primary, nameServers: [primary, secondary], ttl: 60, tsig }
}
