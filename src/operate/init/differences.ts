import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { DIRECTORIES } from '../../config/acme.ts'
import type { Config } from '../../config/config.ts'
import type { EdgeAgentConfig } from '../../config/edge-agent.ts'
import type { Edges } from '../../config/servers.ts'
import type { Zone } from '../../config/zones.ts'
import { formatEndpoint, parseAddress, parseEndpoint } from '../../model/address.ts'
import type { InitOptions } from './answers.ts'
import { certificatesIn, targetsIn, zoneIn } from './option-values.ts'

/** The options that a person gave and that drawbridge.yaml does not have. `zone`: the one that they ask for, if it is there. */
export function differences(config: Config, zone: Zone | undefined, options: InitOptions): string[] {
  const { servers, edges, acme, internalNetworks, edge, listen, stateDir } = config
  const { primary, addresses } = servers
  const own = edges[primary]
  return namesIn({
    zone: !zone,
    ...(zone ? ofZone(zone, options) : {}),
    server: isOther(options.server, primary),
    address: isOther(options.address, addresses[primary], parseAddress),
    target: [...askedTargets(options)].some(([id, at]) => addresses[id] !== at),
    'internal-network': (options.internalNetwork ?? [])
      .flatMap((text) => text.split(','))
      .some((network) => !internalNetworks.includes(network.trim())),
    ...ofPorts(edge, options),
    'api-port': isOther(options.apiPort, listen.port, Number),
    'state-dir': isOther(options.stateDir, stateDir, (path) => resolve(path)),
    'acme-directory': isOther(options.acmeDirectory, acme.directory, (text) => DIRECTORIES[text] ?? text),
    'acme-ca': isOther(options.acmeCa, certificatesIn(acme.caFile ?? 'none'), certificatesIn),
    email: (options.email ?? []).some((address) => !acme.contact.includes(address)),
    ...(own ? ofNginx(own, options) : {}),
    agent: options.agent === true && own !== undefined,
    'no-agent': options.agent === false && own === undefined,
  })
}

/** The same for edge.yaml: the agent refuses what it does not allow. */
export const differencesForAgent = (agent: EdgeAgentConfig, options: InitOptions): string[] =>
  namesIn({
    zone: options.zone !== undefined && !agent.zones.includes(zoneIn(options.zone) ?? ''),
    server: isOther(options.server, agent.server),
    address: isOther(options.address, agent.nginx.address, parseAddress),
    target: [...askedTargets(options).values()].some((at) => !agent.targets.addresses.includes(at)),
    ...ofPorts(agent.ports, options),
    ...ofNginx(agent.nginx, options),
  })

type Differences = Readonly<Record<string, boolean>>

function ofZone({ primary, publish = [], tsig }: Zone, { dnsServer, publish: asked = [], tsigName }: InitOptions) {
  const published = publish.map(({ value }) => value)
  return {
    'dns-server': isOther(dnsServer, formatEndpoint(primary), endpointIn),
    publish: asked.some((address) => !published.includes(parseAddress(address) ?? address)),
    'tsig-name': isOther(tsigName, tsig?.name, (name) => name.replace(/\.$/, '').toLowerCase()),
  }
}

const ofPorts = (ports: Config['edge'], { httpPort, httpsPort }: InitOptions): Differences => ({
  'http-port': isOther(httpPort, ports.http, Number),
  'https-port': isOther(httpsPort, ports.https, Number),
})

const ofNginx = (
  { binary, config, prefix }: Edges[string],
  { nginx, nginxConfig, nginxPrefix }: InitOptions,
): Differences => ({
  nginx: isOther(nginx, binary, (program) => (program.includes('/') ? resolve(program) : program)),
  'nginx-config': isOther(nginxConfig, withoutLinks(config), withoutLinks),
  'nginx-prefix': isOther(nginxPrefix, prefix, (folder) => resolve(folder)),
})

/** Whether the option was given and says something else. What cannot be read, such as a file that has gone, says nothing. */
function isOther<T>(
  given: string | undefined,
  present: T | undefined,
  read?: (text: string) => T | undefined,
): boolean {
  const asked = given === undefined ? undefined : read ? read(given) : given
  return asked !== undefined && asked !== present
}

const namesIn = (all: Differences): string[] => Object.keys(all).filter((name) => all[name])

const askedTargets = ({ target }: InitOptions): ReadonlyMap<string, string> =>
  targetsIn(target?.join(',') ?? 'none') ?? new Map()

function endpointIn(text: string): string | undefined {
  const endpoint = parseEndpoint(text, 53)
  return endpoint && formatEndpoint(endpoint)
}

function withoutLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
