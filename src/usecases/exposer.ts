import { randomBytes } from 'node:crypto'
import type { AuditTrail } from '../audit/trail.ts'
import type { Admission, Credentials } from '../authorize/admission.ts'
import type { Caller } from '../authorize/caller.ts'
import { CAPABILITY_TTL_SECONDS, hashCapability, newCapability } from '../authorize/credentials.ts'
import type { AuditEntry } from '../model/audit.ts'
import type { Validity } from '../model/badge.ts'
import type { CapabilityAction } from '../model/capability.ts'
import { parseName } from '../model/dns-name.ts'
import { Problem } from '../model/errors.ts'
import { type ExposureRequest, isPlanId, labelsOf, type Plan, stateAt } from '../model/exposure.ts'
import type { Observation } from '../model/finding.ts'
import type { FoundSite } from '../model/options/adoption.ts'
import { recordsOf, type ZoneRecord } from '../model/receipt.ts'
import {
  BY_CONSOLE,
  BY_SCHEDULE,
  hostLease,
  type Origin,
  type RunAction,
  type RunTask,
  runOfHolder,
  type StepName,
} from '../model/run.ts'
import { type Desired, resolveRequest } from '../plan/desired.ts'
import { changedSince, type Former, propose, withOwner } from '../plan/plan.ts'
import type { PlanSettings } from '../plan/settings.ts'
import { poll } from '../primitives/retry.ts'
import { type Begun, begin, otherRun } from '../runs/engine/begin.ts'
import { problemOf, type RunResult } from '../runs/engine/ending.ts'
import type { Publish, Runs } from '../runs/engine/runs.ts'
import type { Place } from '../runs/reach.ts'
import type { Renewals } from '../runs/renewals.ts'
import type { PlanCursor } from '../store/ports/plans.ts'
import type { Store, StoreReads, StoreSession } from '../store/ports/store.ts'
import { type RunReport, runsOf } from './progress.ts'

/** What the use cases use. `observe` can only read: planning has nothing to change a system with. */
export interface ExposerParts {
  readonly settings: PlanSettings
  readonly planTtlSeconds: number
  readonly observe: Observe
  /** Reads the hand-written site of a host on the Primary. Undefined where adopting is off; throws where no site can be read. */
  readonly adoptable: () => ((host: string) => FoundSite | undefined) | undefined
  readonly store: Store
  /** What callers read. Answers from memory while the database is lost, so nothing is decided by it. */
  readonly reads: PlanReads
  readonly trail: AuditTrail
  readonly admission: Admission
  readonly runs: Runs
  readonly publish: Publish
  /** Undefined if no edge is configured. */
  readonly renewals: Renewals | undefined
  /** The steps that a repair of an applied plan has now. */
  readonly stepsToRepair: (plan: Plan) => Promise<readonly StepName[]>
  /** Makes every read of this instance show a certificate that was just proven to be served. */
  readonly reportCertificate: (host: string, validity: Validity) => void
  /** Throws if this installation has no edge or no DNS key for the zone. */
  readonly assertEquipped: (zone: string) => void
  /** Where a run can be executed now: here, or by another instance. A problem: nowhere. */
  readonly place: () => Promise<Place | Problem>
  readonly instance: string
  readonly now: () => number
}

type PlanReads = Pick<StoreReads, 'findPlan' | 'listPlans' | 'runsOf' | 'readJournal'>

/**
 * Observes what a plan depends on. `ownPlan` does not count as holding the name; `kept`: the records of the exposure that is
 * replaced.
 */
export type Observe = (
  desired: Desired,
  own?: { readonly ownPlan: string; readonly kept?: readonly ZoneRecord[] | undefined },
) => Promise<Observation>

/** A run that has begun. It continues even if nobody waits for `result`. */
export interface Started {
  readonly plan: Plan
  readonly result: Promise<RunResult>
}

export interface Grant {
  readonly capability: string
  readonly planId: string
  readonly action: CapabilityAction
  readonly ip: string
  readonly expiresAt: number
}

export interface AdoptionRequest {
  readonly host: string
  readonly health?: string
  readonly acceptLoss?: boolean
  readonly owner?: string
  readonly note?: string
}

const named = ({ directive, sentence }: { readonly directive: string; readonly sentence: string }) => ({
  directive,
  sentence,
})

/** The use cases, one screen each. */
export class Exposer {
  readonly #parts: ExposerParts

  constructor(parts: ExposerParts) {
    this.#parts = parts
  }

  /** Observes, decides and stores the plan. Refuses with the code of the first failed check and stores nothing then. */
  async plan(request: ExposureRequest, caller: Caller): Promise<Plan> {
    const { settings, planTtlSeconds, observe, store, trail, now } = this.#parts
    const resolved = resolveRequest(request, settings)
    const former = await this.#former(resolved)
    const desired = former ? { ...resolved, request: { ...labelsOf(former.plan), ...resolved.request } } : resolved
    const observed = await observe(desired, former && { ownPlan: former.plan.planId, kept: former.records })
    const proposal = propose(desired, observed, settings, former)
    const createdAt = now()
    const planId = newPlanId()
    if (former) assertEndsLater(former, request, createdAt)
    const exposureId = former ? (former.plan.exposureId ?? former.plan.planId) : undefined
    const plan: Plan = {
      planId,
      state: 'planned',
      host: desired.host,
      url: desired.url,
      request: desired.request,
      ...proposal,
      changes: withOwner(proposal.changes, planId),
      createdAt,
      expiresAt: createdAt + planTtlSeconds * 1000,
      createdBy: caller.address,
      proof: randomBytes(32).toString('hex'),
      ...(exposureId !== undefined && { exposureId }),
    }
    await store.transaction(async (session) => {
      await session.insertPlan(plan)
      await trail.record(
        {
          ...who(caller),
          at: createdAt,
          action: 'plan',
          outcome: 'ok',
          planId: plan.planId,
          host: plan.host,
          ...labelFacts(plan),
        },
        session,
      )
    })
    return plan
  }

  /** Plans to take the hand-written site of a host under management. What the exposure cannot say needs consent. */
  async planAdoption(
    { host: given, health = '/', acceptLoss = false, ...labels }: AdoptionRequest,
    caller: Caller,
  ): Promise<Plan> {
    const read = this.#readSites()
    const host = parseName(given)
    const zone = host?.slice(host.indexOf('.') + 1) ?? ''
    if (!host || !this.#parts.settings.zones.has(zone))
      throw new Problem('zone_not_managed', 'The host is not directly below a zone that is managed here.')
    const found = read(host)
    if (!found)
      throw new Problem('host_not_found', `No hand-written server block of the Primary names ${host}.`, {
        nextAction: 'Expose the host with POST /api/deploy/plan.',
      })
    const { backend, tls, options, lost, refused } = found.adoption
    if (refused.length > 0 || !backend)
      throw new Problem(
        'site_not_adoptable',
        `An exposure cannot stand for the site of ${host}: ${refused[0]?.sentence}`,
        {
          reasons: refused.map(named),
        },
      )
    if (lost.length > 0 && !acceptLoss)
      throw new Problem(
        'loss_not_accepted',
        `${lost.length} directives of the site of ${host} cannot be carried over.`,
        {
          losses: lost.map(named),
        },
      )
    const { digest: site, text } = found
    const subdomain = host.slice(0, host.indexOf('.'))
    const request = { zone, subdomain, ...backend, health, tls, ...labels, ...(options && { options }) }
    return this.plan({ ...request, adopt: { site, text } }, caller)
  }

  #readSites(): (host: string) => FoundSite | undefined {
    const read = this.#parts.adoptable()
    if (read) return read
    throw new Problem('adopt_not_allowed', 'Adopting hand-written sites is off: adopt.enabled is false.')
  }

  /** Every caller that knows the id may read the plan. */
  readPlan(planId: string): Promise<Plan> {
    return this.#find(planId, this.#parts.reads)
  }

  /** The plan as the store has it now, for what acts on it. */
  findPlan(planId: string): Promise<Plan> {
    return this.#find(planId, this.#parts.store)
  }

  async #find(planId: string, store: Pick<PlanReads, 'findPlan'>): Promise<Plan> {
    const plan = isPlanId(planId) ? await store.findPlan(planId) : undefined
    if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
    return { ...plan, state: stateAt(plan, this.#parts.now()) }
  }

  /** Every run of a plan, oldest first. */
  runsOf(planId: string): Promise<RunReport[]> {
    return runsOf(this.#parts.reads, planId)
  }

  /** Newest first, those after `before` only. */
  async listPlans(limit: number, before?: PlanCursor): Promise<Plan[]> {
    const { reads, now } = this.#parts
    const at = now()
    return (await reads.listPlans({ limit, before })).map((plan) => ({ ...plan, state: stateAt(plan, at) }))
  }

  /** Issues the one-time right to act on a plan. The plan must not be expired; its state is checked when the right is used. */
  async grant(planId: string, action: CapabilityAction, caller: Caller, credentials: Credentials): Promise<Grant> {
    const { store, trail, admission, now } = this.#parts
    const plan = await this.findPlan(planId)
    const at = now()
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
    return this.#run('apply', planId, caller, credentials)
  }

  remove(planId: string, caller: Caller, credentials: Credentials): Promise<Started> {
    return this.#run('remove', planId, caller, credentials)
  }

  /** Removes an exposure that has expired. Undefined if it was extended or removed in the meantime. */
  async expire(planId: string): Promise<Started | undefined> {
    const { store, now } = this.#parts
    const plan = await this.findPlan(planId)
    const begin = async (session: StoreSession) => {
      const begun = await this.#begin('remove', plan, BY_SCHEDULE, session)
      // The host's lease is held by now: an extend that was answered is seen here, a later one finds no applied plan.
      const end = (await session.findExposure(plan.host))?.expiresAt
      if (end === undefined || end > now()) throw new Prolonged()
      return begun
    }
    return store.transaction(begin).then(
      (begun) => this.#start(plan, begun),
      (fault: unknown) => {
        if (fault instanceof Prolonged) return undefined
        throw fault
      },
    )
  }

  /** Removes an exposure for a command on the server, which needs no capability. */
  async withdraw(planId: string): Promise<Started> {
    const { store } = this.#parts
    const [plan, place] = await Promise.all([this.findPlan(planId), this.#parts.place()])
    if (place instanceof Problem) throw place
    const beginOnce = () => store.transaction((session) => this.#begin('remove', plan, BY_CONSOLE, session, { place }))
    return this.#start(plan, await this.#afterConverge(plan.host, beginOnce))
  }

  /** Sets a later end, in seconds from now. Never sets an earlier one. Authorized like apply. */
  async extend(planId: string, expiresIn: number, caller: Caller, credentials: Credentials): Promise<number> {
    const { store, trail, admission, publish, now } = this.#parts
    const plan = await this.findPlan(planId)
    const { host, url } = plan
    const at = now()
    const expiresAt = at + expiresIn * 1000
    const commit = async (session: StoreSession) => {
      const right = await admission.prove('apply', plan, caller, credentials, session, at)
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
    const steps = await this.#parts.stepsToRepair(await this.findPlan(planId))
    return this.#run('repair', planId, caller, credentials, { steps, ...(overwrite && { overwrite }) })
  }

  /** Leaves records and service as they are, and takes the exposure out of the books. */
  accept(planId: string, caller: Caller, credentials: Credentials): Promise<Started> {
    return this.#run('accept', planId, caller, credentials)
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
    await this.#assertRight('release', await this.findPlan(planId), caller, credentials)
    await assertIntact()
    return this.#run('release', planId, caller, credentials, { intact: true })
  }

  /** Renews the certificate of an applied plan's host now, due or not. All hosts that share it get the new one. */
  async renew(planId: string, caller: Caller, credentials: Credentials): Promise<Started> {
    const { admission, renewals, reportCertificate, now } = this.#parts
    const [plan, place] = await Promise.all([this.findPlan(planId), this.#parts.place()])
    if (!renewals) throw new Problem('unavailable', 'This installation has no edge, and so no certificate in use.')
    const prove = async (session: StoreSession) => {
      const right = await admission.prove('renew', plan, caller, credentials, session, now())
      if (plan.state === 'expired') throw expired(plan)
      const replacing = await beingReplaced(plan, session)
      if (replacing) throw replacing
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

  /**
   * Repeats the checks before a run changes anything, and compares the digests. A refusal that a busy moment can cause counts
   * only if a second check confirms it.
   */
  async recheck(plan: Plan): Promise<void> {
    const { settings, observe, now } = this.#parts
    const desired = resolveRequest(plan.request, settings)
    const former = await this.#formerOf(plan)
    const own = { ownPlan: former?.plan.planId ?? plan.planId, kept: former?.records }
    const proposeAgain = async () => propose(desired, await observe(desired, own), settings, former)
    const proposal = await proposeAgain().catch((refusal: unknown) => {
      if (refusal instanceof Problem && MAY_BE_CHANCE.includes(refusal.code)) return proposeAgain()
      throw refusal
    })
    // The host's lease is held by now: an extend that was answered is seen here, a later one is refused.
    const isExtended = former !== undefined && endsSooner(former, plan.request, now())
    const differences = [...changedSince(plan, proposal), ...(isExtended ? ['the end of the exposure'] : [])]
    if (differences.length === 0) return
    throw new Problem('plan_stale', `Since the plan was made this has changed: ${differences.join('; ')}.`, {
      moved: differences,
    })
  }

  /** The applied plan that a request replaces, with its records. Refuses one that cannot be replaced. */
  async #former({ host, request }: Desired): Promise<FormerExposure | undefined> {
    const { replaces } = request
    if (replaces === undefined) return undefined
    const plan = await this.findPlan(replaces)
    if (plan.host !== host) {
      const message = `is a plan for ${plan.host}; only a plan for ${host} can be replaced`
      throw new Problem('invalid_request', `replaces: ${message}.`, { errors: [{ field: 'replaces', message }] })
    }
    if (plan.state !== 'applied')
      throw new Problem('plan_not_applied', `The plan is ${plan.state}; only an applied plan can be replaced.`)
    return this.#exposureOf(plan)
  }

  /** The same for a run of the plan, which holds the exposure by now. */
  async #formerOf({ request }: Plan): Promise<FormerExposure | undefined> {
    return request.replaces === undefined ? undefined : this.#exposureOf(await this.findPlan(request.replaces))
  }

  async #exposureOf(plan: Plan): Promise<FormerExposure> {
    const exposure = await this.#parts.store.findExposure(plan.host)
    if (exposure?.planId !== plan.planId)
      throw new Problem('plan_not_applied', `Plan ${plan.planId} does not hold ${plan.host} any more.`)
    return { plan, records: recordsOf(plan, exposure.receipt), expiresAt: exposure.expiresAt }
  }

  async #run(
    action: CapabilityAction,
    planId: string,
    caller: Caller,
    credentials: Credentials,
    task?: RunTask,
  ): Promise<Started> {
    const { settings, store, admission, now } = this.#parts
    const [plan, place] = await Promise.all([this.findPlan(planId), this.#parts.place()])
    const beginOnce = () =>
      store.transaction(async (session) => {
        const adopts = action === 'apply' && plan.request.adopt !== undefined
        const right = await admission.prove(adopts ? 'adopt' : action, plan, caller, credentials, session, now())
        if (plan.state === 'expired') throw expired(plan)
        if (adopts) this.#readSites()
        if (place instanceof Problem) throw place
        assertManaged(plan.request.zone, settings)
        if (place === 'here') this.#parts.assertEquipped(plan.request.zone)
        const origin = { ...who(caller), right }
        return this.#begin(runActionOf(action, plan), plan, origin, session, { task, place })
      })
    return this.#start(plan, await this.#afterConverge(plan.host, beginOnce))
  }

  /** Proves the right in a transaction that is rolled back, so that it is not spent. */
  async #assertRight(action: CapabilityAction, plan: Plan, caller: Caller, credentials: Credentials): Promise<void> {
    const { store, admission, now } = this.#parts
    const proved = store.transaction(async (session) => {
      await admission.prove(action, plan, caller, credentials, session, now())
      throw new Proved()
    })
    await proved.catch((fault: unknown) => {
      if (!(fault instanceof Proved)) throw fault
    })
  }

  /** A converge holds a host only while its edge reloads. Callers wait for that instead of being refused. */
  async #afterConverge(host: string, beginOnce: () => Promise<Begun>): Promise<Begun> {
    const attempt = async () =>
      beginOnce().catch(async (fault: unknown) => {
        const isHeld = fault instanceof Problem && fault.code === 'plan_busy' && (await this.#isConverged(host))
        if (!isHeld) throw fault
        return fault
      })
    const begun = await poll(attempt, (outcome) => !(outcome instanceof Problem), CONVERGE_PATIENCE)
    if (begun instanceof Problem) throw begun
    return begun
  }

  async #isConverged(host: string): Promise<boolean> {
    const { store, now } = this.#parts
    const lease = await store.findLease(hostLease(host), now())
    const run = lease && (await store.findRun(runOfHolder(lease.holder)))
    return run?.action === 'converge'
  }

  #begin(
    action: RunAction,
    plan: Plan,
    origin: Origin,
    session: StoreSession,
    { task, place = 'here' }: { readonly task?: RunTask | undefined; readonly place?: Place } = {},
  ): Promise<Begun> {
    const { instance, runs, now } = this.#parts
    const handsOver = place === 'elsewhere'
    const beginning = { action, plan, origin, instance, handsOver, leaseMs: runs.leaseMs, at: now() }
    return begin({ ...beginning, ...(task && { task }) }, session)
  }

  #start(plan: Plan, begun: Begun): Started {
    return { plan, result: this.#parts.runs.start({ plan, ...begun }) }
  }
}

const CONVERGE_PATIENCE = { firstMs: 25, factor: 1.5, longestMs: 500, withinMs: 10_000 }

/** Refusals that a busy machine or network can cause by chance. */
const MAY_BE_CHANCE: readonly Problem['code'][] = ['backend_unhealthy', 'dns_unavailable']

/** The result of a run that succeeded. Throws the problem for the caller of one that did not. */
export async function succeeded({ plan, result }: Started): Promise<RunResult> {
  const done = await result
  if (done.outcome.kind === 'succeeded') return done
  throw problemOf(done.run.action, plan.host, done.outcome)
}

/** The zone may have been removed from the configuration since the plan was made. */
function assertManaged(zone: string, { zones }: PlanSettings): void {
  if (!zones.has(zone)) throw new Problem('zone_not_managed', `Zone ${zone} is not managed here any more.`)
}

const expired = (plan: Plan): Problem =>
  new Problem('plan_expired', `The plan expired at ${new Date(plan.expiresAt).toISOString()}.`)

interface FormerExposure extends Former {
  readonly records: readonly ZoneRecord[]
}

/** To apply a plan that replaces another one is to update its exposure. */
function runActionOf(action: CapabilityAction, { request }: Plan): RunAction {
  if (action === 'release') return 'accept'
  if (action === 'adopt') return 'apply'
  return action === 'apply' && request.replaces !== undefined ? 'update' : action
}

/** A plan that replaces another one may not end the exposure sooner: to shorten is to remove. */
function assertEndsLater(former: FormerExposure, request: ExposureRequest, now: number): void {
  if (!endsSooner(former, request, now)) return
  const { plan, expiresAt } = former
  const end = expiresAt === undefined ? 'has no end' : `ends at ${new Date(expiresAt).toISOString()}`
  throw new Problem('lease_not_longer', `${plan.host} ${end}; expiresIn would end it sooner.`, {
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  })
}

const endsSooner = ({ expiresAt }: FormerExposure, { expiresIn }: ExposureRequest, now: number): boolean =>
  expiresIn !== undefined && (expiresAt === undefined || now + expiresIn * 1000 < expiresAt)

/** The exposure was extended after it was found to be due. The transaction of its removal is rolled back. */
class Prolonged extends Error {}

/** The right was proved. The transaction that spent it is rolled back. */
class Proved extends Error {}

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

/** The facts of an audit line. Undefined for a plan without owner and note. */
function labelFacts(plan: Plan): Pick<AuditEntry, 'facts'> {
  const facts = labelsOf(plan)
  return Object.keys(facts).length === 0 ? {} : { facts }
}

const who = (caller: Caller) => ({ actor: caller.address, network: caller.network })

/** 130 random bits in an alphabet without look-alikes. */
function newPlanId(): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  return `plan_${[...randomBytes(26)].map((byte) => alphabet[byte & 31]).join('')}`
}
