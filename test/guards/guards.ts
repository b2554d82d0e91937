import { AGENT_GUARDS } from './agents.ts'
import { CERTIFICATE_GUARDS } from './certificates.ts'
import { CONVERGE_GUARDS } from './converge.ts'
import { DNS_GUARDS } from './dns.ts'
import { EDGE_GUARDS } from './edge.ts'
import { FENCE_GUARDS } from './fences.ts'
import type { Guard } from './guard.ts'
import { LEASE_GUARDS } from './leases.ts'
import { MACHINE_GUARDS } from './machine.ts'
import { RIGHT_GUARDS } from './rights.ts'
import { RUN_GUARDS } from './runs.ts'
import { WORLD_GUARDS } from './world.ts'

/**
 * Checks in the source that protect a promise, each with the test that misses it. The runner takes them out one at a time.
 * test/world/protocol/guards.ts has further ones, which are taken out by stand-ins each time the tests run.
 */
export const GUARDS: Readonly<Record<string, readonly Guard[]>> = {
  Runs: RUN_GUARDS,
  Leases: LEASE_GUARDS,
  Fences: FENCE_GUARDS,
  Edge: EDGE_GUARDS,
  'Service and edge agent': AGENT_GUARDS,
  'Capabilities and callers': RIGHT_GUARDS,
  'Rights on the machine': MACHINE_GUARDS,
  'Converge and expiry': CONVERGE_GUARDS,
  DNS: DNS_GUARDS,
  Certificates: CERTIFICATE_GUARDS,
  'The simulated world': WORLD_GUARDS,
}

export const ALL_GUARDS: readonly Guard[] = Object.values(GUARDS).flat()
