import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { DIRECTORIES } from '../../config/acme.ts'
import { type Config, loadConfig } from '../../config/config.ts'
import { type EdgeAgentConfig, loadEdgeAgentConfig } from '../../config/edge-agent.ts'
import { formatEndpoint, parseEndpoint } from '../../model/address.ts'
import { assertOfRoot } from '../../runtime/owner.ts'
import { UsageError } from '../../terminal/declare.ts'
import type { InitOptions } from './answers.ts'
import type { NginxPlace, UpdateKey } from './contract.ts'
import { agentFileBeside, authorityFileBeside, type Setup } from './files.ts'
import { certificatesIn, targetsIn } from './option-values.ts'

export interface ZoneKey {
  readonly name: string
  readonly server: Setup['dnsServer']
  readonly key: UpdateKey
  /** Where a person finds the secret, which is not shown then. Undefined: this call makes the key. */
  readonly keptIn: string | undefined
}

interface StandingSetup {
  readonly nginx: NginxPlace & { readonly binary: string }
  readonly zone: ZoneKey
  readonly backend: string
}

/**
 * What a configuration that is there already says of this server. Throws a ConfigError if it is not valid, and an Error that names what
 * differs if it is not what the options ask for.
 */
export function standingSetup(file: string, options: InitOptions): StandingSetup {
  const agentFile = agentFileBeside(dirname(file))
  for (const each of [file, agentFile]) assertOfRoot(each)
  const config = loadConfig(file, process.env)
  const { primary, targets } = config.servers
  const edge = config.edges[primary]
  const zone = [...config.zones.values()].find(({ tsig }) => tsig !== undefined)
  if (!zone?.tsig) throw new UsageError(`${file} has no zone with a key. Set zones.<zone>.tsig.`)
  const agent = edge || !existsSync(agentFile) ? undefined : loadEdgeAgentConfig(agentFile)
  assertAsAsked({
    file,
    options,
    isAgentFileMissing: !edge && !agent,
    differing: differences(config, options),
    differingForAgent: agent ? differencesForAgent(agent, options) : [],
  })
  const nginx = edge ?? agent?.nginx
  if (!nginx) throw new UsageError(`${file} has no nginx of this machine for server ${primary}.`)
  return {
    nginx: { ...nginx, server: primary, ports: agent?.ports ?? config.edge },
    zone: {
      name: zone.name,
      server: zone.primary,
      key: { ...zone.tsig, secret: zone.tsig.secret.reveal() },
      keptIn: `the file that zones.${zone.name}.tsig.secretFile in ${file} names`,
    },
    backend: targets.find((id) => id !== primary) ?? primary,
  }
}

/** The options that a person gave and that the configuration does not have. */
function differences(config: Config, options: InitOptions): string[] {
  const { servers, edges, zones, acme, internalNetworks } = config
  const zone = [...zones.values()].find(({ name }) => options.zone === undefined || name === options.zone)
  const server = options.dnsServer === undefined ? undefined : parseEndpoint(options.dnsServer, 53)
  const isOther: Readonly<Record<string, boolean>> = {
    zone: !zone,
    'dns-server': server !== undefined && zone !== undefined && formatEndpoint(server) !== formatEndpoint(zone.primary),
    address: options.address !== undefined && options.address !== servers.addresses[servers.primary],
    target: [...askedTargets(options)].some(([id, at]) => servers.addresses[id] !== at),
    'internal-network': (options.internalNetwork ?? [])
      .flatMap((text) => text.split(','))
      .some((network) => !internalNetworks.includes(network.trim())),
    'acme-directory': options.acmeDirectory !== undefined && directoryOf(options.acmeDirectory) !== acme.directory,
    'acme-ca': options.acmeCa !== undefined && acme.caFile === undefined,
    agent: options.agent === true && edges[servers.primary] !== undefined,
    'no-agent': options.agent === false && edges[servers.primary] === undefined,
  }
  return namesIn(isOther)
}

/** The same for edge.yaml: the agent refuses what it does not allow. */
const differencesForAgent = ({ zones, nginx, targets }: EdgeAgentConfig, options: InitOptions): string[] =>
  namesIn({
    zone: options.zone !== undefined && !zones.includes(options.zone),
    address: options.address !== undefined && options.address !== nginx.address,
    target: [...askedTargets(options).values()].some((at) => !targets.addresses.includes(at)),
  })

const namesIn = (isOther: Readonly<Record<string, boolean>>): string[] =>
  Object.keys(isOther).filter((name) => isOther[name])

const askedTargets = ({ target }: InitOptions): ReadonlyMap<string, string> =>
  targetsIn(target?.join(',') ?? 'none') ?? new Map()

const directoryOf = (asked: string): string => DIRECTORIES[asked] ?? asked

interface Compared {
  readonly file: string
  readonly options: InitOptions
  readonly isAgentFileMissing: boolean
  readonly differing: readonly string[]
  readonly differingForAgent: readonly string[]
}

function assertAsAsked({ file, options, isAgentFileMissing, differing, differingForAgent }: Compared): void {
  const folder = dirname(file)
  const [name, agentFile] = [basename(file), basename(agentFileBeside(folder))]
  const told = [
    ...(isAgentFileMissing ? [`${agentFile} is missing`] : []),
    ...(differing.length > 0 ? [`${name} differs from your options (${differing.join(', ')})`] : []),
    ...(differingForAgent.length > 0
      ? [`${agentFile} differs from your options (${differingForAgent.join(', ')})`]
      : []),
  ]
  if (told.length === 0) return
  const away = [file, ...filesInTheWay(folder, options)].map((path) => basename(path)).join(' and ')
  throw new Error(`${told.join(', and ')}. To write ${told.length > 1 ? 'them' : 'it'} anew, move ${away} away.`)
}

/** What the next call would refuse to overwrite when drawbridge.yaml is away. */
function filesInTheWay(folder: string, { acmeCa }: InitOptions): string[] {
  const [agentFile, caFile] = [agentFileBeside(folder), authorityFileBeside(folder)]
  const ca = acmeCa === undefined ? '' : certificatesIn(acmeCa)
  const isOtherAuthority = ca !== '' && existsSync(caFile) && readFileSync(caFile, 'utf8') !== ca
  return [...(existsSync(agentFile) ? [agentFile] : []), ...(isOtherAuthority ? [caFile] : [])]
}
