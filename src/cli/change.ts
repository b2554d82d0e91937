import type { ExposureRequest, Plan, Policy } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { ownerToSend } from '../client/owner-of.ts'
import { isExposedHere, Refusal } from '../client/refusal.ts'
import { changedWords, optionWords } from '../model/options/words.ts'
import { planIdOf } from './plan-of.ts'
import type { FormerView } from './views/plan.ts'

/** A plan, with the exposure that it replaces if it replaces one. */
interface PlannedChange {
  readonly plan: Plan
  readonly former?: FormerView | undefined
}

/**
 * `me`: the owner of a new exposure. A change keeps the former owner, unless the request names one. `keeps`: it also keeps the options
 * that the request does not name.
 */
export async function planWithFormer(
  api: DrawbridgeClient,
  request: ExposureRequest,
  { me, keeps = true }: ChangeHabits = {},
): Promise<PlannedChange> {
  if (request.replaces === undefined) {
    const owner = request.owner ?? (await ownerToSend(api, me))
    return { plan: await api.plan({ ...request, ...(owner !== undefined && { owner }) }) }
  }
  // A plan that cannot be read is refused by the service when it is named as the one to replace.
  const former = await formerOf(api, request.replaces).catch(() => undefined)
  return { plan: await api.plan(former && keeps ? keepingOptions(request, former) : request), former }
}

interface ChangeHabits {
  readonly me?: string | undefined
  readonly keeps?: boolean
}

/** Nobody should lose an access list because a command names another port, or a time limit because it names another one. */
function keepingOptions(request: ExposureRequest, { request: { options: kept } }: FormerView): ExposureRequest {
  const timeouts = { ...kept?.timeouts, ...request.options?.timeouts }
  const options = { ...kept, ...request.options, ...(Object.keys(timeouts).length > 0 && { timeouts }) }
  return Object.keys(options).length === 0 ? request : { ...request, options }
}

/** Refuses before anything is planned what could not be applied from here. */
export function assertMayApply({ caller }: Policy): void {
  if (caller.may.includes('apply')) return
  throw new Refusal({
    type: 'urn:drawbridge:problem:internal_network_required',
    title: 'Only callers on the internal network may do this',
    status: 403,
    code: 'internal_network_required',
    detail: 'The service sees this machine as public, so nothing was planned. drawbridge plan works from here.',
    retryable: false,
    nextAction: '',
    requestId: '',
  })
}

/** An exposure that already is as requested. */
interface Unchanged {
  readonly unchanged: Plan
}

/**
 * Plans the request. If an exposure of this installation holds the host, plans to change that exposure. Rejects with the
 * refusal of the service if the caller cannot read the plan of that exposure.
 */
export async function planOrChange(
  api: DrawbridgeClient,
  request: ExposureRequest,
  habits: ChangeHabits = {},
): Promise<PlannedChange | Unchanged> {
  const { keeps = true } = habits
  try {
    return await planWithFormer(api, request, habits)
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || !isExposedHere(refusal.problem)) throw refusal
    const replaces = await planIdOf(api, `${request.subdomain}.${request.zone}`).catch(() => {
      throw refusal
    })
    const former = await formerOf(api, replaces)
    const wanted = keeps ? keepingOptions(request, former) : request
    if (isSame(former, wanted)) return { unchanged: await api.getPlan(replaces) }
    return { plan: await api.plan({ ...wanted, replaces }), former }
  }
}

/** The end comes from the status of the host, because an extend changes it and not the plan. */
async function formerOf(api: DrawbridgeClient, planId: string): Promise<FormerView> {
  const { host, request } = await api.getPlan(planId)
  const { expiresAt } = await api.health(host).catch(() => ({ expiresAt: undefined }))
  return { planId, request, expiresAt }
}

const isSame = ({ request: now, expiresAt }: FormerView, wanted: ExposureRequest): boolean =>
  now.server === wanted.server &&
  now.port === wanted.port &&
  now.health === wanted.health &&
  now.tls === wanted.tls &&
  (wanted.owner === undefined || now.owner === wanted.owner) &&
  (wanted.note === undefined || now.note === wanted.note) &&
  changedWords(optionWords(now.options), optionWords(wanted.options)).length === 0 &&
  expiresAt === null &&
  wanted.expiresIn === undefined
