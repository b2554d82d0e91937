import type { StepName } from '../../src/model/run.ts'
import { CAPABILITY_MS, LEASE_MS } from './cluster.ts'
import type { Asked } from './instance.ts'
import type { Stop } from './schedule.ts'
import type { Breakage } from './steps.ts'
import type { Part } from './world.ts'

export type InstanceName = 'a' | 'b'

/** `one` and `two` claim the main host, `side` the other one. `oneB` replaces `one`, `oneC` replaces `oneB`, `twoB` replaces `two`. */
export const PLANS = ['one', 'two', 'oneB', 'oneC', 'twoB', 'side'] as const
export type PlanName = (typeof PLANS)[number]
export const REPLACES: Partial<Record<PlanName, PlanName>> = { oneB: 'one', oneC: 'oneB', twoB: 'two' }

/** What a request shows: a capability of its own, the one that was shown last, or one that was issued for something else. */
export const CREDENTIALS = ['own', 'again', 'otherPlan', 'otherAction', 'otherAddress', 'otherDigest', 'old'] as const
export type CredentialKind = (typeof CREDENTIALS)[number]

export const WAITS = {
  moment: 6_000,
  lease: LEASE_MS,
  capability: CAPABILITY_MS,
  dnsStep: 105_000,
  proxyStep: 315_000,
} as const

export type Command =
  | {
      readonly do: Asked['action']
      /** A repair may overwrite what somebody else wrote. */
      readonly overwrite?: boolean
      readonly by: InstanceName
      readonly plan: PlanName
      readonly shows?: CredentialKind | undefined
      readonly stop?: Stop | undefined
    }
  | { readonly do: 'recover'; readonly by: InstanceName; readonly stop?: Stop | undefined }
  /** Undoes a blocked run, or leaves everything as it stands. */
  | {
      readonly do: 'resolve'
      readonly by: InstanceName
      readonly plan: PlanName
      readonly accepts?: boolean
      readonly stop?: Stop | undefined
    }
  /** The process dies, if it lives, and a new one recovers what it finds. */
  | { readonly do: 'restart'; readonly by: InstanceName; readonly stop?: Stop | undefined }
  /** What is held in the process continues. `timersFirst`: its timers fire before. */
  | { readonly do: 'wake'; readonly by: InstanceName; readonly stop?: Stop | undefined; readonly timersFirst?: boolean }
  | { readonly do: 'wait'; readonly how: keyof typeof WAITS }
  | { readonly do: 'break'; readonly step: StepName; readonly how: Breakage }
  | { readonly do: 'mend' }
  /** The clock of an instance is wrong by this many milliseconds. */
  | { readonly do: 'shift'; readonly by: InstanceName; readonly ms: number }
  /** Somebody else overwrites a part of the main host, or takes it away. */
  | { readonly do: 'edit' | 'take'; readonly part: Part }

export type History = readonly Command[]
