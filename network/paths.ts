import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type EdgeDescription, edgeBelow } from '../lab/description.ts'
import { secretIn } from '../lab/state.ts'
import { type AGENTS, addressOf, EDGE_PORTS, MACHINE_IDS, MACHINES, type MachineId, SERVICE_USER } from './plan.ts'

/** Every path under STATE. The network writes nowhere else, so `rm -rf` of STATE removes all of it. */
export interface Paths {
  readonly folder: string
  readonly description: string
  readonly control: string
  /** Every root certificate of Pebble so far. */
  readonly ca: string
  readonly tsigSecret: string
  readonly databasePassword: string
  /** A file or folder of one machine. */
  readonly of: (machine: MachineId, ...names: string[]) => string
}

export function pathsIn(state: string): Paths {
  const folder = resolve(state)
  const at = (...names: string[]) => join(folder, ...names)
  return {
    folder,
    description: at('network.json'),
    control: at('control.sock'),
    ca: at('ca.pem'),
    tsigSecret: at('secrets', 'tsig'),
    databasePassword: at('secrets', 'database'),
    of: (machine, ...names) => at(machine, ...names),
  }
}

/** Servers that give up root must be able to enter the folders, but not to list them. */
export function prepareFolders(paths: Paths): void {
  makeFolder(paths.folder, 0o711)
  makeFolder(join(paths.folder, 'secrets'), 0o700)
  for (const machine of MACHINE_IDS.filter((id) => MACHINES[id].parts.length > 0)) makeFolder(paths.of(machine), 0o711)
  makeFolder(paths.of('ca', 'pebble'), 0o711)
  secretIn(paths.tsigSecret)
  secretIn(paths.databasePassword)
}

function makeFolder(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, mode)
}

export function makeServiceFolder(folder: string): void {
  makeFolder(folder, 0o700)
  chownSync(folder, SERVICE_USER.id, SERVICE_USER.id)
}

/** A file that the service alone may read. */
export function writeForService(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
  chownSync(file, SERVICE_USER.id, SERVICE_USER.id)
}

/** The certificate and the key of an agent. */
export const agentFolder = (paths: Paths, machine: keyof typeof AGENTS): string => paths.of(machine, 'edge')

export const agentConfigFile = (paths: Paths, machine: keyof typeof AGENTS): string => paths.of(machine, 'edge.yaml')

/** The nginx of an edge. */
export const edgeOf = (paths: Paths, server: '23' | '73'): EdgeDescription =>
  edgeBelow(paths.of(server, 'nginx'), { server, address: addressOf(server), ...EDGE_PORTS })
