import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { readConfig } from '../../config/config.ts'
import { ConfigError } from '../../config/document.ts'
import { readEdgeAgentConfig } from '../../config/edge-agent.ts'
import type { FileOwner } from '../../primitives/durable-file.ts'
import { UsageError } from '../../terminal/declare.ts'
import { agentFileBeside, renderAgentConfig, renderConfig, type Setup } from './files.ts'

interface Checked {
  readonly setup: Setup
  /** Where drawbridge.yaml will be. */
  readonly file: string
  /** Whether the file of the key is there already. */
  readonly hasKey: boolean
  /** Who the service runs as. Undefined: it runs as root, or as the user who runs this. */
  readonly serviceUser: FileOwner | undefined
}

/**
 * Throws a UsageError that names the options, or the key that is there already, if the service or the agent would refuse what `init`
 * would write. The readers that they use decide.
 */
export function assertReadable({ setup, file, hasKey, serviceUser }: Checked): void {
  const agentFile = agentFileBeside(dirname(file))
  const faults = [
    ...faultsOf(file, () => readConfig(renderConfig(setup, file), file, {})),
    ...(setup.agentSocket === undefined
      ? []
      : faultsOf(agentFile, () => readEdgeAgentConfig(renderAgentConfig(setup), agentFile))),
  ]
  const ofKey = (fault: string) => KEY_FILE.test(fault)
  const told = new Map<string, string>()
  for (const fault of faults.filter((one) => !ofKey(one))) {
    const subject = optionOf(fault, setup)
    if (!told.has(subject)) told.set(subject, `${subject} cannot be used: ${fault}`)
  }
  if (hasKey) {
    const owner = setup.agentSocket === undefined ? undefined : serviceUser
    const reason = faults.find(ofKey) ?? ownerFault(setup.keyFile, owner)
    if (reason !== undefined) told.set(setup.keyFile, keySentence(setup.keyFile, reason))
  }
  if (told.size > 0) throw new UsageError([...told.values(), 'Nothing was written.'].join('\n'))
}

function faultsOf(file: string, read: () => unknown): readonly string[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    // The file and the line are of a text that nobody has.
    return error.faults.map((fault) =>
      fault.startsWith(file) ? fault.slice(file.length).replace(/^:\d+: /, '') : fault,
    )
  }
}

const KEY_FILE = /^zones\..*\.tsig\.secretFile /

/** The option that a setting is made from, with its value. */
function optionOf(fault: string, { nginx, keyName, acme }: Setup): string {
  const options: readonly (readonly [RegExp, string, readonly string[]])[] = [
    [/^(?:edges\..*|nginx)\.(?:config|folder) /, '--nginx-config', [nginx.config]],
    [/^(?:servers|server|edges)\b/, '--server', [nginx.server]],
    [/^zones\..*\.tsig\.name /, '--tsig-name', [keyName]],
    [/^acme\.contact\b/, '--email', acme.contact],
    [/^acme\.directory /, '--acme-directory', [acme.directory]],
  ]
  const [, option, values = []] = options.find(([setting]) => setting.test(fault)) ?? []
  return option === undefined ? 'The configuration' : [option, ...values.map((one) => JSON.stringify(one))].join(' ')
}

/** Its mode is private, so that nobody else may read it. */
function ownerFault(file: string, owner: FileOwner | undefined): string | undefined {
  if (owner === undefined || statSync(file).uid === owner.uid) return undefined
  return `The service, which runs as drawbridge, may not read it. Run: chown drawbridge:drawbridge ${file}`
}

const keySentence = (file: string, reason: string): string =>
  `${file} is there already and cannot be used: ${reason} It has to have the secret of a key alone, in base64. ` +
  'Without this file init makes a new key.'
