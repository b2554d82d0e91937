import { randomBytes } from 'node:crypto'
import type { AuditTrail } from './audit/trail.ts'
import type { Admission, Credentials } from './authorize/admission.ts'
import type { Caller } from './authorize/caller.ts'
import { CAPABILITY_TTL_SECONDS, hashCapability, newCapability } from './authorize/capability.ts'
import { Problem } from './model/errors.ts'
import { type ExposureRequest, type Plan, stateAt } from './model/exposure.ts'
import type { Observation } from './model/finding.ts'
import { type Desired, desire } from './plan/desire.ts'
import { propose } from './plan/plan.ts'
import type { PlanSettings } from './plan/settings.ts'
import type { Store } from './store/contract.ts'

/** What the use cases stand on. `observe` only looks: planning cannot change a system, having nothing to change it with. */
export interface ExposerParts {
  readonly settings: PlanSettings
  readonly planTtlSeconds: number
  readonly observe: (desired: Desired) => Promise<Observation>
  readonly store: Store
  readonly trail: AuditTrail
  readonly admission: Admission
  readonly now: () => number
}

export interface Grant {
  readonly capability: string
  readonly planId: string
  readonly action: 'apply' | 'remove'
  readonly ip: string
  readonly expiresAt: number
}

/** The use cases, one screen each. */
export class Exposer {
  readonly #parts: ExposerParts

  constructor(parts: ExposerParts) {
    this.#parts = parts
  }

  /** Looks, decides, remembers. Refuses with the first failing check's code; then nothing is stored. */
  async plan(request: ExposureRequest, caller: Caller): Promise<Plan> {
    const { settings, planTtlSeconds, observe, store, trail, now } = this.#parts
    const desired = desire(request, settings)
    const observed = await observe(desired)
    const proposal = propose(desired, observed, settings, caller.network)
    const createdAt = now()
    const plan: Plan = {
      planId: newPlanId(),
      state: 'planned',
      host: desired.host,
      url: desired.url,
      request: desired.request,
      ...proposal,
      createdAt,
      expiresAt: createdAt + planTtlSeconds * 1000,
      createdBy: caller.address,
    }
    await store.transaction(async (session) => {
      await session.insertPlan(plan)
      await trail.record(
        { ...who(caller), at: createdAt, action: 'plan', outcome: 'ok', planId: plan.planId, host: plan.host },
        session,
      )
    })
    return plan
  }

  /** Whoever knows the id may look. */
  async findPlan(planId: string): Promise<Plan> {
    const plan = isPlanId(planId) ? await this.#parts.store.findPlan(planId) : undefined
    if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
    return { ...plan, state: stateAt(plan, this.#parts.now()) }
  }

  /** Issues the one-time right to apply or remove a plan. Looks at whether the plan lives, not at its state. */
  async grant(planId: string, action: 'apply' | 'remove', caller: Caller, credentials: Credentials): Promise<Grant> {
    const { store, trail, admission, now } = this.#parts
    const plan = await this.findPlan(planId)
    const at = now()
    await admission.prove('token', plan, caller, credentials, store, at)
    if (plan.state === 'expired')
      throw new Problem('plan_expired', `The plan expired at ${new Date(plan.expiresAt).toISOString()}.`)
    const capability = newCapability()
    const expiresAt = at + CAPABILITY_TTL_SECONDS * 1000
    const ip = caller.address
    await store.transaction(async (session) => {
      await session.insertCapability({
        hash: hashCapability(capability),
        planId,
        digest: plan.digest,
        action,
        ip,
        issuedAt: at,
        expiresAt,
      })
      await trail.record(
        { ...who(caller), at, action: 'token', outcome: 'ok', planId, host: plan.host, facts: { for: action } },
        session,
      )
    })
    return { capability, planId, action, ip, expiresAt }
  }
}

const who = (caller: Caller) => ({ actor: caller.address, network: caller.network })

const PLAN_ID = /^plan_[0-9a-z]{26}$/
const isPlanId = (text: string): boolean => PLAN_ID.test(text)

/** 130 random bits in an alphabet without look-alikes. */
function newPlanId(): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  return `plan_${[...randomBytes(26)].map((byte) => alphabet[byte & 31]).join('')}`
}
