import type { CapabilityAction } from '../model/capability.ts'
import { Problem } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import type { Right } from '../model/run.ts'
import type { CapabilityStore } from '../store/ports/capabilities.ts'
import type { Caller } from './caller.ts'
import { hashCapability, isAdminToken, isCapability } from './credentials.ts'
import { admitNetwork, type FlowRules, type GuardedAction, requiredProof, type Showing } from './flows.ts'

/** The credentials a request carries, unread. */
export interface Credentials {
  readonly capability: string | undefined
  readonly adminToken: string | undefined
}

/** Says who may do what: first by network, then, once the plan is known, by what the caller proves. */
export class Admission {
  readonly #rules: FlowRules
  readonly #adminToken: string | undefined

  constructor(rules: FlowRules, adminToken: string | undefined) {
    this.#rules = rules
    this.#adminToken = adminToken
  }

  knock(caller: Caller, credentials: Credentials): void {
    admitNetwork(this.#rules, showing(caller, credentials))
  }

  /**
   * Proves the right to `action` on `plan` and tells which one it is, spending the capability in `session` where one is needed. Call it in the
   * transaction that starts the run: the right is used up exactly when the run has begun.
   */
  async prove(
    action: GuardedAction,
    plan: Pick<Plan, 'planId' | 'digest'>,
    caller: Caller,
    credentials: Credentials,
    session: CapabilityStore,
    now: number,
  ): Promise<Right> {
    const proof = requiredProof(this.#rules, action, showing(caller, credentials))
    if (proof.adminToken) this.#proveAdminToken(credentials.adminToken)
    if (proof.capability && action !== 'token') await proveCapability(action, plan, caller, credentials, session, now)
    if (proof.capability) return proof.adminToken ? 'capability_and_admin_token' : 'capability'
    return proof.adminToken ? 'admin_token' : 'network'
  }

  #proveAdminToken(presented: string | undefined): void {
    if (isAdminToken(presented ?? '', this.#adminToken)) return
    throw new Problem('admin_token_invalid', 'The administrator token that was sent is not the one kept on the server.')
  }
}

const showing = (caller: Caller, credentials: Credentials): Showing => ({ network: caller.network, ...credentials })

async function proveCapability(
  action: CapabilityAction,
  { planId, digest }: Pick<Plan, 'planId' | 'digest'>,
  caller: Caller,
  { capability = '' }: Credentials,
  session: CapabilityStore,
  now: number,
): Promise<void> {
  if (!isCapability(capability))
    throw new Problem('capability_invalid', 'What was sent does not have the form of a capability.')
  const presented = { hash: hashCapability(capability), planId, digest, action, ip: caller.address }
  switch (await session.spendCapability(presented, now)) {
    case 'spent':
      return
    case 'used':
      throw new Problem('capability_used', 'This capability was used before; each is good for one use.')
    case 'expired':
      throw new Problem('capability_expired', 'This capability is older than five minutes.')
    case 'mismatched':
      throw new Problem(
        'capability_invalid',
        `This capability was not issued to ${caller.address} to ${action} this plan.`,
      )
    case 'unknown':
      throw new Problem('capability_invalid', 'No such capability was issued.')
  }
}
