import type { DrawbridgeClient } from './client.ts'

/** A host that belongs to somebody else than the caller. */
export interface OtherOwner {
  readonly host: string
  readonly owner: string
}

/**
 * The owner of the exposure that an act on a plan would change, if it is not `me`. An apply changes an exposure only if its plan
 * replaces another one. Undefined: the exposure is the caller's own, or nobody's.
 */
export async function otherOwnerOf(
  api: DrawbridgeClient,
  planId: string,
  act: 'apply' | 'other',
  me: string | undefined,
): Promise<OtherOwner | undefined> {
  const plan = await api.getPlan(planId)
  const { replaces } = plan.request
  if (act === 'apply' && replaces === undefined) return undefined
  const { host, request } = act === 'apply' && replaces !== undefined ? await api.getPlan(replaces) : plan
  return otherOwner(host, request.owner, me)
}

/** A caller that does not say who it is owns nothing. */
export const otherOwner = (host: string, owner: string | undefined, me: string | undefined): OtherOwner | undefined =>
  owner === undefined || (me !== undefined && isSameOwner(owner, me)) ? undefined : { host, owner }

/** Upper and lower case are equal, as in e-mail addresses. */
export const isSameOwner = (a: string, b: string): boolean =>
  a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase()

/** The caller as the owner of a new exposure. Undefined where the service takes no owner: from outside. */
export const ownerToSend = async (api: DrawbridgeClient, me: string | undefined): Promise<string | undefined> =>
  me === undefined || (await api.policy()).caller.network !== 'internal' ? undefined : me
