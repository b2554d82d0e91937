import { createHash } from 'node:crypto'
import type { Config } from './config.ts'
import { Secret } from './secret.ts'

/** The settings that a reload takes over. Every other setting needs a restart. */
const RELOADED = [
  'publicUrls',
  'internalNetworks',
  'trustedProxies',
  'adminToken',
  'adminTokenValue',
  'zones',
  'plan',
  'ports',
  'rateLimits',
  'webhooks',
  'alerts',
  'status',
  'retention',
] as const satisfies readonly (keyof Config)[]

/** Settings whose name in the file differs from that in the program. */
const NAMES_IN_FILE: Readonly<Record<string, string>> = { adminTokenValue: 'adminTokenFile', agents: 'edges' }

/** The differences between two configurations, as names of settings. */
export interface ConfigChanges {
  /** In force from now on. */
  readonly changed: readonly string[]
  /** Differ in the file, and stay as they are until the service is started again. */
  readonly needRestart: readonly string[]
}

/** A configuration of which parts can be replaced while the service runs. */
export class LiveConfig {
  #present: Config
  /**
   * The present configuration. Whoever reads one of the reloaded settings reads it here each time that it is needed. What has
   * begun with a value may end with it.
   */
  readonly view: Config

  constructor(first: Config) {
    this.#present = first
    const live = RELOADED.map((name) => [name, { get: () => this.#present[name], enumerable: true }] as const)
    this.view = Object.defineProperties({ ...first }, Object.fromEntries(live))
  }

  replace(next: Config): ConfigChanges {
    const differing = (Object.keys(next) as (keyof Config)[]).filter(
      (name) => fingerprint(next[name]) !== fingerprint(this.#present[name]),
    )
    const isReloaded = (name: keyof Config): boolean => RELOADED.some((reloaded) => reloaded === name)
    const taken = differing.filter(isReloaded)
    this.#present = { ...this.#present, ...Object.fromEntries(taken.map((name) => [name, next[name]])) }
    return { changed: inFile(taken), needRestart: inFile(differing.filter((name) => !isReloaded(name))) }
  }
}

const inFile = (names: readonly string[]): string[] => [...new Set(names.map((name) => NAMES_IN_FILE[name] ?? name))]

/** Equal for equal settings. Secrets go in by their hash, so that no secret is in a text that could be shown. */
const fingerprint = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (member instanceof Map ? [...member] : member)) +
  secretsIn(value)
    .map((secret) => createHash('sha256').update(secret.reveal()).digest('hex'))
    .join()

function secretsIn(value: unknown): Secret[] {
  if (value instanceof Secret) return [value]
  if (typeof value !== 'object' || value === null) return []
  return (value instanceof Map ? [...value.values()] : Object.values(value)).flatMap(secretsIn)
}
