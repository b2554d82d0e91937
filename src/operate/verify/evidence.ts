import type { Edge } from '../../edge/contract/edge.ts'
import { sentenceOf } from '../../model/errors.ts'
import type { ZoneRecord } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { AuditStore } from '../../store/ports/audit.ts'
import type { CapabilityStore } from '../../store/ports/capabilities.ts'
import type { ExposureStore } from '../../store/ports/exposures.ts'
import type { StoreIdentity } from '../../store/ports/identity.ts'
import type { LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { RunStore } from '../../store/ports/runs.ts'

/** What stays true whatever happens, in the order in which it is told. */
export const PROMISES = {
  whole: 'A host is wholly as its plan says in DNS, on the edges and in its certificate, or it is blocked.',
  neighbours: 'nginx would load the configuration of each edge.',
  names: 'An owner mark, an entry and an exposure exist together, or none of them does.',
  once: 'A capability has at most one run, and a host at most one run at a time.',
  settled: 'No run is left unfinished, and each edge serves what its plans say.',
  clean: 'Each edge has the pairs that its entries name, and nothing unfinished is left.',
  kept: 'The audit trail has every line that was answered.',
} as const
export type PromiseName = keyof typeof PROMISES

/**
 * `broken`: the evidence contradicts the promise. `unknown`: it could not be looked at, which is no success. `noticed`: somebody else
 * may have made it, so it is no fault of Drawbridge.
 */
export interface Evidence {
  readonly promise: PromiseName
  readonly verdict: 'broken' | 'unknown' | 'noticed'
  readonly sentence: string
}

export interface Verified {
  readonly evidence: readonly Evidence[]
  readonly looked: {
    readonly hosts: number
    readonly edges: number
    readonly runs: number
    readonly auditLines: number
  }
  /** Hosts that a run is changing now: nothing is said of them. */
  readonly underWay: readonly string[]
}

/** Everything that `drawbridge verify` asks. It changes nothing. */
export interface VerifyParts {
  readonly store: Pick<ExposureStore, 'listExposures'> &
    Pick<PlanStore, 'listPlans'> &
    Pick<RunStore, 'unfinishedRuns' | 'runsOf'> &
    Pick<LeaseStore, 'findLease'> &
    Pick<CapabilityStore, 'spentCapabilities'> &
    Pick<AuditStore, 'readAudit' | 'auditHead'> &
    Pick<StoreIdentity, 'storeId'>
  readonly primary: Edge | undefined
  readonly secondary: Edge | undefined
  readonly verification: {
    /** What differs between an applied plan and the world. Rejects if the zone gives no certain answer. */
    drift(planId: string): Promise<readonly Differing[]>
    /** Whether the zone's primary server serves exactly these records. */
    holds(zone: string, records: readonly ZoneRecord[]): Promise<'yes' | 'no' | 'partly' | 'unknown'>
    readonly stateDir: string
  }
  readonly clock: Clock
}

interface Differing {
  readonly part: string
  readonly field: string
  readonly expected: string
  readonly found: string
  /** Somebody else has changed it. */
  readonly overwrite: boolean
  readonly server?: string
}

export const broken = (promise: PromiseName, sentence: string): Evidence => ({ promise, verdict: 'broken', sentence })
export const noticed = (promise: PromiseName, sentence: string): Evidence => ({ promise, verdict: 'noticed', sentence })
export const unknown = (promise: PromiseName, what: string, error: unknown): Evidence => ({
  promise,
  verdict: 'unknown',
  sentence: `${what} could not be checked. ${sentenceOf(error)}`,
})
