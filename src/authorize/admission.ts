import type { CapabilityAction } from '../model/capability.ts'
import { Problem } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import type { Right } from '../model/run.ts'
import type { CapabilityStore } from '../store/ports/capabilities.ts'
import type { Caller } from './caller.ts'
import { hashCapability, isAdminToken, isCapability } from './credentials.ts'
import { admitNetwork, type FlowRules, type GuardedAction, type PresentedCredentials, requiredProof } from './flows.ts'

/** The credentials in the headers of a request, not yet verified. */
export interface Credentials {
  readonly capability: string | undefined
  readonly adminToken: string | undefined
}

/** Authorizes callers in two stages: first by network, then, when the plan is known, by credentials. */
export class Admission {
  readonly #rules: FlowRules
  readonly #adminToken: () => string | undefined

  /** Both are read for each request: a reload may change them. */
  constructor(rules: FlowRules, adminToken: () => string | undefined) {
    this.#rules = rules
    this.#adminToken = adminToken
  }

  checkNetwork(caller: Caller, credentials: Credentials): void {
    admitNetwork(this.#rules, presented(caller, credentials))
  }

  /**
   * Verifies that the caller may do `action` on `plan`, and returns what authorized it. Marks a required capability as used
   * in `session`. Call it in the transaction that starts the run, so that the capability is used exactly when the run starts.
   */
  async prove(
    action: GuardedAction,
    plan: Pick<Plan, 'planId' | 'digest'>,
    caller: Caller,
    credentials: Credentials,
    session: CapabilityStore,
    now: number,
  ): Promise<Right> {
    const proof = requiredProof(this.#rules, action, presented(caller, credentials))
    if (proof.adminToken) this.#proveAdminToken(credentials.adminToken)
    if (proof.capability && action !== 'token') await proveCapability(action, plan, caller, credentials, session, now)
    if (proof.capability) return proof.adminToken ? 'capability_and_admin_token' : 'capability'
    return proof.adminToken ? 'admin_token' : 'network'
  }

  #proveAdminToken(presented: string | undefined): void {
    if (isAdminToken(presented ?? '', this.#adminToken())) return
    throw new Problem('admin_token_invalid', 'The administrator token in x-deploy-token is wrong.')
  }
}

const presented = (caller: Caller, credentials: Credentials): PresentedCredentials => ({
  network: caller.network,
  ...credentials,
})

async function proveCapability(
  action: CapabilityAction,
  { planId, digest }: Pick<Plan, 'planId' | 'digest'>,
  caller: Caller,
  { capability = '' }: Credentials,
  session: CapabilityStore,
  now: number,
): Promise<void> {
  if (!isCapability(capability))
    throw new Problem('capability_invalid', 'The value of x-deploy-capability does not have the form of a capability.')
  const capabilityUse = { hash: hashCapability(capability), planId, digest, action, ip: caller.address }
  switch (await session.spendCapability(capabilityUse, now)) {
    case 'spent':
      return
    case 'used':
      throw new Problem('capability_used', 'This capability was already used. A capability is valid for one use.')
    case 'expired':
      throw new Problem('capability_expired', 'This capability is older than five minutes.')
    case 'mismatched':
      throw new Problem(
        'capability_invalid',
        `This capability was not issued to the address ${caller.address} for the action ${action} on this plan.`,
      )
    case 'unknown':
      throw new Problem('capability_invalid', 'This capability was never issued.')
  }
}
