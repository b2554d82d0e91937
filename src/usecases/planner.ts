import { randomBytes } from 'node:crypto'
import type { AuditTrail } from '../audit/trail.ts'
import { type Caller, who } from '../authorize/caller.ts'
import type { AuditEntry } from '../model/audit.ts'
import { parseName } from '../model/dns-name.ts'
import { Problem } from '../model/errors.ts'
import { type ExposureRequest, labelsOf, type Plan } from '../model/exposure.ts'
import type { Observation } from '../model/finding.ts'
import type { FoundSite } from '../model/options/adoption.ts'
import { idInMark, recordsOf, type ZoneRecord } from '../model/receipt.ts'
import { type Desired, resolveRequest } from '../plan/desired.ts'
import { changedSince, type Former, propose, withMark } from '../plan/plan.ts'
import type { PlanSettings } from '../plan/settings.ts'
import type { Store } from '../store/ports/store.ts'
import type { Plans } from './plans.ts'

/** `observe` can only read: planning has nothing to change a system with. */
export interface PlannerParts {
  readonly settings: PlanSettings
  readonly planTtlSeconds: number
  readonly observe: Observe
  /** Undefined where adopting is off. */
  readonly adoptable: () => ReadSite | undefined
  readonly plans: Pick<Plans, 'find'>
  readonly store: Store
  readonly trail: AuditTrail
  readonly now: () => number
}

/**
 * Observes what a plan depends on. `ownPlan` does not count as holding the name; `kept`: the records of the exposure that is
 * replaced.
 */
export type Observe = (
  desired: Desired,
  own?: { readonly ownPlan: string; readonly kept?: readonly ZoneRecord[] | undefined },
) => Promise<Observation>

/** Reads the hand-written site of a host on the Primary. Undefined if it has none. Rejects with a problem where none can be adopted. */
type ReadSite = (host: string) => Promise<FoundSite | undefined>

export interface AdoptionRequest {
  readonly host: string
  readonly health?: string
  readonly acceptLoss?: boolean
  readonly owner?: string
  readonly note?: string
}

/** Makes plans: for a new exposure, for one that replaces another, and for a site that is adopted. */
export class Planner {
  readonly #parts: PlannerParts

  constructor(parts: PlannerParts) {
    this.#parts = parts
  }

  /** Observes, decides and stores the plan. Refuses with the code of the first failed check and stores nothing then. */
  async plan(request: ExposureRequest, caller: Caller): Promise<Plan> {
    const { settings, planTtlSeconds, observe, store, trail, now } = this.#parts
    assertMaySay(request, caller)
    const resolved = resolveRequest(request, settings)
    const former = await this.#former(resolved)
    const desired = former ? { ...resolved, request: { ...labelsOf(former.plan), ...resolved.request } } : resolved
    const observed = await observe(desired, former && { ownPlan: former.plan.planId, kept: former.records })
    const proposal = propose(desired, observed, settings, former)
    const createdAt = now()
    const planId = newId('plan')
    if (former) assertEndsLater(former, request, createdAt)
    const exposureId = (former && markedId(former)) ?? newId('exposure')
    const plan: Plan = {
      planId,
      state: 'planned',
      host: desired.host,
      url: desired.url,
      request: desired.request,
      ...proposal,
      changes: withMark(proposal.changes, exposureId),
      createdAt,
      expiresAt: createdAt + planTtlSeconds * 1000,
      createdBy: caller.address,
      network: caller.network,
      proof: randomBytes(32).toString('hex'),
      exposureId,
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
    const read = this.#siteReader()
    const host = parseName(given)
    const zone = host?.slice(host.indexOf('.') + 1) ?? ''
    if (!host || !this.#parts.settings.zones.has(zone))
      throw new Problem('zone_not_managed', 'The host is not directly below a zone that is managed here.')
    const found = await read(host)
    if (!found)
      throw new Problem('host_not_found', `No hand-written server block of the Primary names ${host}.`, {
        nextAction: 'Expose the host with POST /api/deploy/plan.',
      })
    const { backend, tls, options, lost, refused } = found
    if (refused.length > 0 || !backend)
      throw new Problem(
        'site_not_adoptable',
        `An exposure cannot stand for the site of ${host}: ${refused[0]?.sentence}`,
        {
          reasons: refused,
        },
      )
    if (lost.length > 0 && !acceptLoss)
      throw new Problem(
        'loss_not_accepted',
        `${lost.length === 1 ? 'A directive' : `${lost.length} directives`} of the site of ${host} cannot be carried over.`,
        {
          losses: lost,
        },
      )
    const { digest: site, text } = found
    const subdomain = host.slice(0, host.indexOf('.'))
    const request = { zone, subdomain, ...backend, health, tls, ...labels, ...(options && { options }) }
    return this.plan({ ...request, adopt: { site, text } }, caller)
  }

  /** Throws where adopting is off. */
  assertAdopting(): void {
    this.#siteReader()
  }

  #siteReader(): ReadSite {
    const read = this.#parts.adoptable()
    if (read) return read
    throw new Problem('adopt_not_allowed', 'Adopting hand-written sites is off: adopt.enabled is false.')
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
    const plan = await this.#parts.plans.find(replaces)
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
    return request.replaces === undefined ? undefined : this.#exposureOf(await this.#parts.plans.find(request.replaces))
  }

  async #exposureOf(plan: Plan): Promise<FormerExposure> {
    const exposure = await this.#parts.store.findExposure(plan.host)
    if (exposure?.planId !== plan.planId)
      throw new Problem('plan_not_applied', `Plan ${plan.planId} does not hold ${plan.host} any more.`)
    return { plan, records: recordsOf(plan, exposure.receipt), expiresAt: exposure.expiresAt }
  }
}

/** Refusals that a busy machine or network can cause by chance. */
const MAY_BE_CHANCE: readonly Problem['code'][] = ['backend_unhealthy', 'dns_unavailable']

interface FormerExposure extends Former {
  readonly records: readonly ZoneRecord[]
}

/** What names somebody else's exposure, or speaks to the people who apply plans, is only for callers inside. */
const INSIDE_ONLY = ['replaces', 'owner', 'note'] as const

function assertMaySay(request: ExposureRequest, { network }: Caller): void {
  const said = network === 'internal' ? [] : INSIDE_ONLY.filter((field) => request[field] !== undefined)
  if (said.length === 0) return
  const errors = said.map((field) => ({ field, message: 'is only for callers on the internal network; leave it out' }))
  throw new Problem('internal_network_required', `Only callers on the internal network may send ${said.join(', ')}.`, {
    errors,
    nextAction: `Plan again without ${said.join(', ')}, or from the internal network.`,
  })
}

/** The id in the owner mark of an exposure, if the mark names an exposure and not a plan. */
const markedId = ({ plan, records }: FormerExposure): string | undefined =>
  [...records.map(({ type, value }) => (type === 'TXT' ? idInMark(value) : undefined)), plan.exposureId].find((id) =>
    id?.startsWith('exposure_'),
  )

/** A plan that replaces another one may not end the exposure sooner: to shorten is to remove. */
function assertEndsLater(former: FormerExposure, request: ExposureRequest, now: number): void {
  if (!endsSooner(former, request, now)) return
  const { plan, expiresAt } = former
  const end = expiresAt === undefined ? 'has no end' : `ends at ${new Date(expiresAt).toISOString()}`
  throw new Problem('lease_not_longer', `${plan.host} ${end}; expiresIn would end it sooner.`, {
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    ...(expiresAt === undefined && {
      nextAction: 'Plan again without expiresIn. The exposure stays until it is removed.',
    }),
  })
}

const endsSooner = ({ expiresAt }: FormerExposure, { expiresIn }: ExposureRequest, now: number): boolean =>
  expiresIn !== undefined && (expiresAt === undefined || now + expiresIn * 1000 < expiresAt)

/** The facts of an audit line. Undefined for a plan without owner and note. */
function labelFacts(plan: Plan): Pick<AuditEntry, 'facts'> {
  const facts = labelsOf(plan)
  return Object.keys(facts).length === 0 ? {} : { facts }
}

/** 130 random bits in an alphabet without look-alikes. */
function newId(kind: 'plan' | 'exposure'): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  return `${kind}_${[...randomBytes(26)].map((byte) => alphabet[byte & 31]).join('')}`
}
