import type { AuditTrail } from '../audit/trail.ts'
import type { Credentials } from '../authorize/admission.ts'
import { type Caller, who } from '../authorize/caller.ts'
import { CAPABILITY_TTL_SECONDS, hashCapability, newCapability } from '../authorize/credentials.ts'
import type { Validity } from '../model/badge.ts'
import type { CapabilityAction } from '../model/capability.ts'
import { Problem } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import { BY_CONSOLE, BY_SCHEDULE, type StepName } from '../model/run.ts'
import { assertMayBegin, otherRun } from '../runs/engine/begin.ts'
import type { Publish } from '../runs/engine/runs.ts'
import { markFor } from '../runs/marks.ts'
import type { Renewals } from '../runs/renewal/renewals.ts'
import type { StoreSession } from '../store/ports/store.ts'
import { expired, RunStarter, type Started, type StarterParts } from './run-starter.ts'

export interface ExposerParts extends StarterParts {
  readonly trail: AuditTrail
  readonly publish: Publish
  /** Undefined if no edge is configured. */
  readonly renewals: Renewals | undefined
  /** The steps that a repair of an applied plan has now. */
  readonly stepsToRepair: (plan: Plan) => Promise<readonly StepName[]>
  /** Makes every read of this instance show a certificate that was just proven to be served. */
  readonly reportCertificate: (host: string, validity: Validity) => void
}

export interface Grant {
  readonly capability: string
  readonly planId: string
  readonly action: CapabilityAction
  readonly ip: string
  readonly expiresAt: number
}

/** What callers do with plans and exposures, one screen each. */
export class Exposer {
  readonly #parts: ExposerParts
  readonly #starter: RunStarter

  constructor(parts: ExposerParts) {
    this.#parts = parts
    this.#starter = new RunStarter(parts)
  }

  /** Issues the one-time right to act on a plan. The plan must not be expired; its state is checked when the right is used. */
  async grant(planId: string, action: CapabilityAction, caller: Caller, credentials: Credentials): Promise<Grant> {
    const { store, trail, admission, clock } = this.#parts
    const plan = await this.#parts.plans.find(planId)
    const at = clock.now()
    const right = await admission.prove('token', plan, caller, credentials, store, at)
    if (plan.state === 'expired') throw expired(plan)
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
        { ...who(caller), at, action: 'token', outcome: 'ok', planId, host: plan.host, facts: { for: action, right } },
        session,
      )
    })
    return { capability, planId, action, ip, expiresAt }
  }

  /** Spends the right, takes the host's lease and writes the intent in one transaction. Then the run continues without the caller. */
  apply(planId: string, caller: Caller, credentials: Credentials): Promise<Started> {
    return this.#starter.run('apply', planId, caller, credentials)
  }

  remove(planId: string, caller: Caller, credentials: Credentials): Promise<Started> {
    return this.#starter.run('remove', planId, caller, credentials)
  }

  /** Removes an exposure that has expired. Undefined if it was extended or removed in the meantime. */
  async expire(planId: string): Promise<Started | undefined> {
    const { store, clock } = this.#parts
    const plan = await this.#parts.plans.find(planId)
    const begin = async (session: StoreSession) => {
      const begun = await this.#starter.begin('remove', plan, BY_SCHEDULE, session)
      // The host's lease is held by now: an extend that was answered is seen here, a later one finds no applied plan.
      const end = (await session.findExposure(plan.host))?.expiresAt
      if (end === undefined || end > clock.now()) throw new Prolonged()
      return begun
    }
    return store.transaction(begin).then(
      (begun) => this.#starter.start(plan, begun),
      (fault: unknown) => {
        if (fault instanceof Prolonged) return undefined
        throw fault
      },
    )
  }

  /** Removes an exposure for a command on the server, which needs no capability, or gives it back as it stands. */
  async withdraw(planId: string, action: 'remove' | 'accept'): Promise<Started> {
    const { store } = this.#parts
    const [plan, place] = await Promise.all([this.#parts.plans.find(planId), this.#parts.place()])
    if (place instanceof Problem) throw place
    const beginOnce = () =>
      store.transaction((session) => this.#starter.begin(action, plan, BY_CONSOLE, session, { place }))
    return this.#starter.start(plan, await this.#starter.afterConverge(plan.host, beginOnce))
  }

  /** Gives the owner mark of an applied plan an id of its exposure, in place of the id of a plan. */
  async rewriteMark(planId: string): Promise<Started> {
    const { store, assertEquipped } = this.#parts
    const plan = await this.#parts.plans.find(planId)
    assertEquipped(plan.request.zone)
    const task = { steps: ['dns'], mark: markFor(plan) } as const
    const begun = await store.transaction((session) =>
      this.#starter.begin('repair', plan, BY_SCHEDULE, session, { task }),
    )
    return this.#starter.start(plan, begun)
  }

  /** Sets a later end, in seconds from now. Never sets an earlier one. Authorized like apply. */
  async extend(planId: string, expiresIn: number, caller: Caller, credentials: Credentials): Promise<number> {
    const { store, trail, admission, publish, clock } = this.#parts
    const plan = await this.#parts.plans.find(planId)
    const { host, url } = plan
    const at = clock.now()
    const expiresAt = at + expiresIn * 1000
    const commit = async (session: StoreSession) => {
      const right = await admission.prove('apply', plan, caller, credentials, session, at)
      if (plan.state === 'expired') throw expired(plan)
      if (!(await session.prolongExposure(host, planId, expiresAt))) throw await notProlonged(plan, expiresAt, session)
      const end = new Date(expiresAt).toISOString()
      const { owner } = plan.request
      const eventFacts = { expiresAt: end, url, actor: caller.address, ...(owner !== undefined && { owner }) }
      await session.appendEvent({ at, type: 'exposure.extended', host, planId, facts: eventFacts })
      const facts = { expiresAt: end, right, ...(owner !== undefined && { owner }) }
      await trail.record({ ...who(caller), at, action: 'extend', outcome: 'ok', planId, host, facts }, session)
    }
    await publish(host, () => store.transaction(commit))
    return expiresAt
  }

  /** Writes again what an applied plan says. `overwrite`: also where somebody else changed it. */
  async repair(planId: string, overwrite: boolean, caller: Caller, credentials: Credentials): Promise<Started> {
    const steps = await this.#parts.stepsToRepair(await this.#parts.plans.find(planId))
    return this.#starter.run('repair', planId, caller, credentials, { steps, ...(overwrite && { overwrite }) })
  }

  /** Leaves records and service as they are, and stops managing the exposure. */
  accept(planId: string, caller: Caller, credentials: Credentials): Promise<Started> {
    return this.#starter.run('accept', planId, caller, credentials)
  }

  /**
   * Like accept, but only for a host that is as its plan says. Whoever has no right to release it is not told whether it is. The right
   * is spent when the run begins, so a host that differs does not use it up.
   */
  async release(
    planId: string,
    caller: Caller,
    credentials: Credentials,
    assertIntact: () => Promise<void>,
  ): Promise<Started> {
    const plan = await this.#parts.plans.find(planId)
    await this.#starter.assertRight('release', plan, caller, credentials)
    if (plan.state === 'expired') throw expired(plan)
    await assertIntact()
    return this.#starter.run('release', planId, caller, credentials, { intact: true })
  }

  /** Renews the certificate of an applied plan's host now, due or not. All hosts that share it get the new one. */
  async renew(planId: string, caller: Caller, credentials: Credentials): Promise<Started> {
    const { admission, renewals, reportCertificate, clock } = this.#parts
    const [plan, place] = await Promise.all([this.#parts.plans.find(planId), this.#parts.place()])
    if (!renewals) throw new Problem('unavailable', 'This installation has no edge, and so no certificate in use.')
    const prove = async (session: StoreSession) => {
      const right = await admission.prove('renew', plan, caller, credentials, session, clock.now())
      if (plan.state === 'expired') throw expired(plan)
      const replacing = await beingReplaced(plan, session)
      if (replacing) throw replacing
      assertMayBegin('renew', plan)
      if (place instanceof Problem) throw place
      return { ...who(caller), right }
    }
    const started = await renewals.request(plan, prove, place === 'elsewhere')
    const result = started.result.then((done) => {
      const { certificate } = done.afters
      if (done.outcome.kind === 'succeeded' && certificate)
        for (const host of done.hosts) reportCertificate(host, certificate)
      return done
    })
    return { plan, result }
  }
}

/** The exposure was extended after it was found to be due. The transaction of its removal is rolled back. */
class Prolonged extends Error {}

/** Words the refusal that the conditional statement has decided. */
async function notProlonged(plan: Plan, wanted: number, session: StoreSession): Promise<Problem> {
  const { planId, host } = plan
  const exposure = await session.findExposure(host)
  if (exposure?.planId !== planId || exposure.state !== 'applied') {
    const replacing = await beingReplaced(plan, session)
    if (replacing) return replacing
    const state = (await session.findPlan(planId))?.state ?? 'gone'
    return new Problem('plan_not_applied', `The plan is ${state}; only an applied plan can be prolonged.`)
  }
  if (exposure.expiresAt === undefined) {
    return new Problem('lease_not_longer', `${host} has no end; expiresIn would give it one.`, {
      expiresAt: null,
      nextAction: 'Nothing is left to do: the exposure stays until it is removed.',
    })
  }
  const [end, sooner] = [exposure.expiresAt, wanted].map((at) => new Date(at).toISOString())
  return new Problem('lease_not_longer', `${host} ends at ${end}; expiresIn would end it sooner, at ${sooner}.`, {
    expiresAt: end,
  })
}

/** The refusal while a run replaces the plan: the plan is applied until that run has succeeded, its exposure is not. */
async function beingReplaced({ planId, host }: Plan, session: StoreSession): Promise<Problem | undefined> {
  const exposure = await session.findExposure(host)
  if (exposure?.planId !== planId || exposure.state === 'applied') return undefined
  if ((await session.findPlan(planId))?.state !== 'applied') return undefined
  const run = exposure.runId === undefined ? undefined : await session.findRun(exposure.runId)
  return new Problem('plan_busy', `A plan that replaces this one is ${exposure.state}.`, otherRun(run))
}
