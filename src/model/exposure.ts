import type { Check } from './finding.ts'

/** What a caller asks for, canonical: one name bound to one backend. */
export interface ExposureRequest {
  readonly zone: string
  readonly subdomain: string
  readonly server: string
  readonly port: number
  readonly health: string
  readonly tls: boolean
  /** Seconds after which the exposure removes itself. */
  readonly expiresIn?: number | undefined
}

export const PLAN_STATES = [
  'planned',
  'applying',
  'applied',
  'removing',
  'removed',
  'rolled_back',
  'expired',
  'blocked',
] as const
export type PlanState = (typeof PLAN_STATES)[number]

/** The one pattern of a plan id. */
export const PLAN_ID = /^plan_[0-9a-z]{26}$/

export interface Plan {
  readonly planId: string
  readonly state: PlanState
  readonly host: string
  readonly url: string
  readonly request: ExposureRequest
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
  readonly digest: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly createdBy: string
  /**
   * A random secret by which the entry of this plan on an edge is known from any other server block. It opens nothing, and
   * no answer of the service holds it. Undefined for plans of 0.1, whose entries have no such proof.
   */
  readonly proof?: string | undefined
}

/** The state as of `now`: time alone turns a plan that was never applied into an expired one. */
export function stateAt(plan: Pick<Plan, 'state' | 'expiresAt'>, now: number): PlanState {
  const mortal = plan.state === 'planned' || plan.state === 'rolled_back'
  return mortal && plan.expiresAt <= now ? 'expired' : plan.state
}

/** What an apply would do, in order. Pure description: the steps of a run are made from it. */
export type Change = CertificateChange | ProxyChange | DnsChange

interface CertificateChange {
  readonly kind: 'certificate'
  /** `reuse` an installed one that covers the host, or `issue` a new one by ACME. */
  readonly action: 'reuse' | 'issue'
  readonly names: readonly string[]
  readonly notAfter?: string
  readonly directory?: string
}

export interface ProxyChange {
  readonly kind: 'proxy'
  readonly action: 'create'
  readonly serverName: string
  readonly target: string
  readonly https: boolean
}

export interface DnsChange {
  readonly kind: 'dns'
  readonly action: 'create'
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
  readonly ttl: number
  readonly value: string
}
