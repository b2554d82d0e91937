import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import { loadEdgeAgentConfig } from '../../config/edge-agent.ts'
import { assertOfRoot } from '../../runtime/owner.ts'
import { UsageError } from '../../terminal/declare.ts'
import type { InitOptions } from './answers.ts'
import type { NginxPlace, UpdateKey } from './contract.ts'
import { differences, differencesForAgent } from './differences.ts'
import { agentFileBeside, authorityFileBeside, type Setup } from './files.ts'
import { certificatesIn, zoneIn } from './option-values.ts'

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
  const zones = [...config.zones.values()]
  const asked = zones.find(({ name, tsig }) => (options.zone === undefined ? tsig : name === zoneIn(options.zone)))
  const zone = asked ?? zones.find(({ tsig }) => tsig !== undefined)
  if (!zone?.tsig) throw new UsageError(`${file} has no zone with a key. Set zones.<zone>.tsig.`)
  const agent = edge || !existsSync(agentFile) ? undefined : loadEdgeAgentConfig(agentFile)
  assertAsAsked({
    file,
    options,
    isAgentFileMissing: !edge && !agent,
    differing: differences(config, asked, options),
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
