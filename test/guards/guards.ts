import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AGENT_GUARDS } from './agents.ts'
import { CERTIFICATE_GUARDS } from './certificates.ts'
import { CONVERGE_GUARDS } from './converge.ts'
import type { Cuts } from './cuts.ts'
import { DNS_GUARDS } from './dns.ts'
import { EDGE_GUARDS } from './edge.ts'
import { FENCE_GUARDS } from './fences.ts'
import { LEASE_GUARDS } from './leases.ts'
import { MACHINE_GUARDS } from './machine.ts'
import { RIGHT_GUARDS } from './rights.ts'
import { RUN_GUARDS } from './runs.ts'
import { WORLD_GUARDS } from './world.ts'

/** One check of the product, as a row of the page tells it, and the cut that takes it out. */
export interface Guard {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** The one test file that turns red. */
  readonly test: string
  /** A part of the name of the test that turns red, where the file is long. */
  readonly filter?: string
}

/** The table for people: what breaks without a guard, where it stands, and which test misses it. */
export const PAGE: string = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')

export const CUTS: Cuts = {
  ...RUN_GUARDS,
  ...LEASE_GUARDS,
  ...FENCE_GUARDS,
  ...EDGE_GUARDS,
  ...AGENT_GUARDS,
  ...RIGHT_GUARDS,
  ...MACHINE_GUARDS,
  ...CONVERGE_GUARDS,
  ...DNS_GUARDS,
  ...CERTIFICATE_GUARDS,
  ...WORLD_GUARDS,
}

const ROW = /^\| (?<name>[^|]+) \| [^|]+ \| `(?<file>[^`]+)` \| `(?<test>[^`]+)`(?: \((?<filter>[^|]+)\))? \|$/gm

/** The runner takes them out one at a time. test/world/protocol/guards.ts has further ones, which each run of the tests takes out. */
export const GUARDS: readonly Guard[] = Array.from(PAGE.matchAll(ROW), ({ groups: row = {} }) => {
  const { name = '', file, test, filter } = row
  const cut = CUTS[name] ?? ''
  const [from, to] = typeof cut === 'string' ? [cut, ''] : cut
  return { name, file: `src/${file}`, from, to, test: `test/${test}`, ...(filter === undefined ? {} : { filter }) }
})

/** How often a text occurs in another one. */
export const occurrences = (text: string, part: string): number => text.split(part).length - 1
