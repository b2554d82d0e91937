import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TsigKey } from './bind-config.ts'

export type Edge = 'primary' | 'secondary'

/** Every path under STATE. A lab writes nowhere else, so `rm -rf` of STATE removes all of it. */
export interface StatePaths {
  readonly folder: string
  readonly description: string
  readonly processes: string
  readonly config: string
  readonly log: string
  readonly ca: string
  readonly tsigSecret: string
  readonly adminToken: string
  readonly bind: string
  readonly edge: (name: Edge) => string
  readonly pebble: string
  readonly backendsLog: string
  readonly certificates: string
  readonly service: string
}

export function statePaths(state: string): StatePaths {
  const folder = resolve(state)
  const at = (...parts: string[]) => join(folder, ...parts)
  return {
    folder,
    description: at('lab.json'),
    processes: at('processes.json'),
    config: at('drawbridge.yaml'),
    log: at('service.log'),
    ca: at('ca.pem'),
    tsigSecret: at('secrets', 'tsig'),
    adminToken: at('secrets', 'admin-token'),
    bind: at('bind'),
    edge: (name) => at('edges', name),
    pebble: at('pebble'),
    backendsLog: at('backends.log'),
    certificates: at('certificates'),
    service: at('service'),
  }
}

/** Servers that drop root privileges must be able to enter STATE, but not to list it. */
export function prepareState(paths: StatePaths): void {
  makeFolder(paths.folder, 0o711)
  makeFolder(join(paths.folder, 'secrets'), 0o700)
  makeFolder(paths.certificates, 0o700)
  makeFolder(paths.pebble, 0o700)
  makeFolder(join(paths.folder, 'edges'), 0o711)
}

export function tsigKey(paths: StatePaths): TsigKey {
  return { name: 'drawbridge.', algorithm: 'hmac-sha256', secret: secretIn(paths.tsigSecret) }
}

/** The secret in the file. Creates the file with a new secret if it is missing. */
export function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    const secret = randomBytes(32).toString('base64')
    writeFileAtomically(file, secret, 0o600)
    return secret
  }
}

/** A reader sees the old text or the new text, never a part. Synchronous and without fsync: a lab need not survive a power loss. */
export function writeFileAtomically(file: string, text: string, mode: number): void {
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, text, { mode })
  renameSync(draft, file)
}

function makeFolder(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, mode)
}
