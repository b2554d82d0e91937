import type { CapabilityAction } from '../model/capability.ts'
import { Problem } from '../model/errors.ts'

type Flow = 'capability' | 'legacy'
export type GuardedAction = 'token' | CapabilityAction

/** What a request shows of itself, as far as authorization looks. */
export interface Showing {
  readonly network: 'internal' | 'public'
  readonly capability: string | undefined
  readonly adminToken: string | undefined
}

/** What must be proven before the action may run. Neither: the network alone is enough. */
export interface Proof {
  readonly capability: boolean
  readonly adminToken: boolean
}

export interface FlowRules {
  readonly flow: Flow
  /** In the capability flow: whether the administrator token may stand in for a capability inside. */
  readonly adminToken: 'off' | 'internal'
}

/** The first gate, before the body is even read: may a caller from this network knock at all? */
export function admitNetwork(rules: FlowRules, showing: Showing): void {
  const vouched = rules.flow === 'legacy' && showing.adminToken !== undefined
  if (showing.network === 'internal' || vouched) return
  throw new Problem(
    'internal_network_required',
    rules.flow === 'legacy'
      ? 'The call came from outside the internal network and without an administrator token.'
      : 'The call came from outside the internal network.',
  )
}

/** The second gate, once the plan is known: what this caller has to prove for this action. */
export function requiredProof(rules: FlowRules, action: GuardedAction, showing: Showing): Proof {
  return rules.flow === 'legacy' ? legacyProof(action, showing) : capabilityProof(rules, action, showing)
}

/** Specification 5.1: inside only, with a capability; the administrator token only as a configured break-glass. */
function capabilityProof(rules: FlowRules, action: GuardedAction, showing: Showing): Proof {
  if (action === 'token') return { capability: false, adminToken: false }
  if (showing.capability !== undefined) return { capability: true, adminToken: false }
  // The break-glass is for putting on the air and taking off it, and for nothing else.
  const isBreakGlass = rules.adminToken === 'internal' && (action === 'apply' || action === 'remove')
  if (isBreakGlass && showing.adminToken !== undefined) return { capability: false, adminToken: true }
  throw new Problem('capability_required', `No capability was sent to ${action} the plan.`)
}

/** Specification 5.2: inside without a credential, outside with the token; all but apply always with its capability. A credential that is sent is always looked at. */
function legacyProof(action: GuardedAction, showing: Showing): Proof {
  const adminToken = showing.network === 'public' || showing.adminToken !== undefined
  const capability = action !== 'token' && (action !== 'apply' || showing.capability !== undefined)
  if (capability && showing.capability === undefined) {
    throw new Problem('capability_required', `No capability was sent to ${action} the plan.`, {
      nextAction: `Get one from POST /api/internal/token with action: ${action} and send it in x-deploy-capability.`,
    })
  }
  return { capability, adminToken }
}
