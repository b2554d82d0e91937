import type { CapabilityAction } from '../model/capability.ts'
import { Problem } from '../model/errors.ts'

type Flow = 'capability' | 'legacy'
export type GuardedAction = 'token' | CapabilityAction

/** The parts of a request that authorization uses. */
export interface PresentedCredentials {
  readonly network: 'internal' | 'public'
  readonly capability: string | undefined
  readonly adminToken: string | undefined
}

/** The credentials that must be verified before the action. Both false: the network alone is enough. */
export interface Proof {
  readonly capability: boolean
  readonly adminToken: boolean
}

export interface FlowRules {
  readonly flow: Flow
  /** In the capability flow: whether the administrator token replaces a capability on the internal network. */
  readonly adminToken: 'off' | 'internal'
}

/** The first stage, before the body is read: rejects callers whose network is never allowed. */
export function admitNetwork(rules: FlowRules, presented: PresentedCredentials): void {
  const hasLegacyToken = rules.flow === 'legacy' && presented.adminToken !== undefined
  if (presented.network === 'internal' || hasLegacyToken) return
  throw new Problem(
    'internal_network_required',
    rules.flow === 'legacy'
      ? 'The caller is not on the internal network and sent no administrator token.'
      : 'The caller is not on the internal network.',
  )
}

/** The second stage, when the plan is known: which credentials this caller needs for this action. */
export function requiredProof(rules: FlowRules, action: GuardedAction, presented: PresentedCredentials): Proof {
  return rules.flow === 'legacy' ? legacyProof(action, presented) : capabilityProof(rules, action, presented)
}

/** Specification 5.1: internal network only, with a capability. The administrator token only as configured break-glass. */
function capabilityProof(rules: FlowRules, action: GuardedAction, presented: PresentedCredentials): Proof {
  if (action === 'token') return { capability: false, adminToken: false }
  if (presented.capability !== undefined) return { capability: true, adminToken: false }
  // Break-glass covers apply and remove only.
  const isBreakGlass = rules.adminToken === 'internal' && (action === 'apply' || action === 'remove')
  if (isBreakGlass && presented.adminToken !== undefined) return { capability: false, adminToken: true }
  throw noCapability(action)
}

const noCapability = (action: CapabilityAction): Problem =>
  new Problem('capability_required', `The request has no capability for the action ${action}.`, {
    nextAction: `Get one from POST /api/internal/token with action: ${action} and send it in x-deploy-capability.`,
  })

/**
 * Specification 5.2: internal callers need no credential, public callers need the administrator token. Every action except
 * apply also needs its capability. A credential that is sent is always verified.
 */
function legacyProof(action: GuardedAction, presented: PresentedCredentials): Proof {
  const adminToken = presented.network === 'public' || presented.adminToken !== undefined
  const capability = action !== 'token' && (action !== 'apply' || presented.capability !== undefined)
  if (capability && presented.capability === undefined) throw noCapability(action)
  return { capability, adminToken }
}
