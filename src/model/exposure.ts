import type { Check } from './finding.ts'
import type { ExposureOptions } from './options/grammar.ts'
import type { StepName } from './run.ts'

/** A caller's request in canonical form: one name bound to one backend. */
export interface ExposureRequest {
  readonly zone: string
  readonly subdomain: string
  readonly server: string
  readonly port: number
  readonly health: string
  readonly tls: boolean
  /** Seconds after which the service removes the exposure. */
  readonly expiresIn?: number | undefined
  /** The applied plan for the same host whose place this plan takes. */
  readonly replaces?: string | undefined
  /** Who is responsible for the exposure. A label for people: it grants nothing. */
  readonly owner?: string | undefined
  /** What the exposure is for. */
  readonly note?: string | undefined
  /** How the edge serves the host. Undefined: as it serves every host. */
  readonly options?: ExposureOptions | undefined
  /** The hand-written site whose place the exposure takes. */
  readonly adopt?: AdoptedSite | undefined
}

/** What a plan has seen of a hand-written site. */
interface AdoptedSite {
  /** Covers what the site says. */
  readonly site: string
  /** Covers the text of its server blocks. */
  readonly text: string
}

export const LONGEST_OWNER = 64
export const LONGEST_NOTE = 200

/** A person, a team or an e-mail address. */
export const isOwner = (text: string): boolean =>
  text.length <= LONGEST_OWNER && /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._@+-]*[\p{L}\p{M}\p{N}])?$/u.test(text)

/**
 * One line of visible text, without control and format characters, line separators, quotes and brackets of code: it stands on
 * pages, in terminals, in webhooks and in the answers that agents read.
 */
export const isNote = (text: string): boolean =>
  text.length <= LONGEST_NOTE &&
  /^[\p{L}\p{N}(#](?:[\p{L}\p{M}\p{N} .,:;!?()#/%&+=@_'’–-]*[\p{L}\p{M}\p{N}.!?)%])?$/u.test(text)

export const PLAN_STATES = [
  'planned',
  'applying',
  'applied',
  'removing',
  'removed',
  'rolled_back',
  'expired',
  'blocked',
  'replaced',
  'released',
] as const
export type PlanState = (typeof PLAN_STATES)[number]

/** The form of a plan's id. Ids of this version have 26 characters after `plan_`. */
export const PLAN_ID = /^plan_[0-9a-z]{26,}$/

/** A longer text may have the form of an id, but no store keeps a plan under it. */
export const isPlanId = (text: string): boolean => text.length <= 69 && PLAN_ID.test(text)

export interface Plan {
  readonly planId: string
  readonly state: PlanState
  readonly host: string
  readonly url: string
  readonly request: ExposureRequest
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
  /** The steps of its apply, in order. */
  readonly steps: readonly StepName[]
  /** Covers the request, the changes and the steps. */
  readonly digest: string
  /** The id in the owner mark of the exposure. It survives `replaces`. */
  readonly exposureId: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly createdBy: string
  /** The network of the caller. */
  readonly network: 'internal' | 'public' | 'self'
  /**
   * A random secret that distinguishes this plan's entry on an edge from other server blocks. It grants no access, and no
   * answer of the service contains it.
   */
  readonly proof: string
}

interface Labelled {
  readonly request: Pick<ExposureRequest, 'owner' | 'note'>
}

/** Owner and note of a plan, as far as it has them. */
export const labelsOf = ({ request: { owner, note } }: Labelled): { owner?: string; note?: string } => ({
  ...(owner !== undefined && { owner }),
  ...(note !== undefined && { note }),
})

/** The state at `now`. A plan that is not applied expires by time alone. */
export function stateAt(plan: Pick<Plan, 'state' | 'expiresAt'>, now: number): PlanState {
  const canExpire = plan.state === 'planned' || plan.state === 'rolled_back'
  return canExpire && plan.expiresAt <= now ? 'expired' : plan.state
}

/** One change that an apply would make. The steps of a run are created from the ordered list. */
export type Change = CertificateChange | ProxyChange | DnsChange

export interface CertificateChange {
  readonly kind: 'certificate'
  /** `reuse`: an installed certificate covers the host. `issue`: order a new one by ACME. */
  readonly action: 'reuse' | 'issue'
  readonly names: readonly string[]
  readonly notAfter?: string
  readonly directory?: string
}

export interface ProxyChange {
  readonly kind: 'proxy'
  readonly action: 'create' | 'update' | 'adopt'
  readonly serverName: string
  readonly target: string
  readonly https: boolean
  /** Further backends, in the order in which the edge turns to them. */
  readonly furtherTargets?: readonly string[] | undefined
  readonly options?: EntryOptions | undefined
}

/** What an edge does for the host beside its backends, which are targets there. */
export type EntryOptions = Omit<ExposureOptions, 'backends'>

export interface DnsChange {
  readonly kind: 'dns'
  /** `keep`: the record was there before, and stays when the exposure is removed. */
  readonly action: 'create' | 'keep'
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
  readonly ttl: number
  readonly value: string
}
