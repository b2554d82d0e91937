import type { ExposureOptions, Plan } from '../../client/bodies.ts'
import type { DrawbridgeClient } from '../../client/client.ts'
import { Refusal } from '../../client/refusal.ts'
import type { ListedExposure } from '../../config/exposures-file.ts'
import { changedWords, optionWords } from '../../model/options/words.ts'
import { UsageError } from '../../terminal/declare.ts'
import { splitHost } from '../exposure-options.ts'

/** An exposure of the service, as a file would list it. */
export interface Exposed extends ListedExposure {
  readonly planId: string
}

interface FieldChange {
  readonly field: string
  readonly from: string
  readonly to: string
}

/** What must happen so that the service exposes what a file lists. */
export interface Comparison {
  readonly create: readonly ListedExposure[]
  readonly change: readonly {
    readonly wanted: ListedExposure
    readonly now: Exposed
    readonly fields: readonly FieldChange[]
  }[]
  /** Exposed here and not in the file. */
  readonly surplus: readonly Exposed[]
  /** In the file, with an end that is over, and not exposed. */
  readonly over: readonly ListedExposure[]
  readonly same: number
}

/** All exposures of the service, ordered by host. */
export async function readExposed(api: DrawbridgeClient): Promise<readonly Exposed[]> {
  const { hosts } = await api.allHosts({ managed: 'true' })
  const unseen = hosts.find(({ planId }) => planId === undefined)
  if (unseen)
    throw new UsageError(
      `Only internal callers see the plan of ${unseen.host}. Run the command in the internal network.`,
    )
  const exposed: Exposed[] = []
  for (const { host, planId = '', expiresAt } of hosts)
    exposed.push({
      ...listedIn(host, await api.getPlan(planId)),
      planId,
      ...(expiresAt && { expiresAt: Date.parse(expiresAt) }),
    })
  return exposed.toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

const listedIn = (host: string, { request }: Plan): ListedExposure => {
  const { server, port, health, tls, options } = request
  return { host, server, port, health, tls, ...labelsOf(request), ...(options && { options }) }
}

const labelsOf = ({ owner, note }: Pick<ListedExposure, 'owner' | 'note'>) => ({
  ...(owner !== undefined && { owner }),
  ...(note !== undefined && { note }),
})

/** The service counts an end from the moment of the apply, so it is never met exactly. */
const SAME_END_MS = 60_000

export function compare(listed: readonly ListedExposure[], exposed: readonly Exposed[], now: number): Comparison {
  const standing = new Map(exposed.map((each) => [each.host, each]))
  const wanted = new Set(listed.map(({ host }) => host))
  const missing = listed.filter(({ host }) => !standing.has(host))
  const isOver = ({ expiresAt }: ListedExposure) => expiresAt !== undefined && expiresAt <= now
  const compared = listed.flatMap((each) => {
    const present = standing.get(each.host)
    return present ? [{ wanted: each, now: present, fields: fieldsOf(present, each) }] : []
  })
  return {
    create: missing.filter((each) => !isOver(each)),
    change: compared.filter(({ fields }) => fields.length > 0),
    surplus: exposed.filter(({ host }) => !wanted.has(host)),
    over: missing.filter(isOver),
    same: compared.filter(({ fields }) => fields.length === 0).length,
  }
}

function fieldsOf(now: ListedExposure, wanted: ListedExposure): FieldChange[] {
  const fields: FieldChange[] = (['server', 'port', 'health', 'tls'] as const)
    .filter((field) => now[field] !== wanted[field])
    .map((field) => ({ field, from: String(now[field]), to: String(wanted[field]) }))
  const labels = (['owner', 'note'] as const)
    .filter((field) => wanted[field] !== undefined && now[field] !== wanted[field])
    .map((field) => ({ field, from: now[field] ?? 'none', to: wanted[field] ?? 'none' }))
  fields.push(...labels)
  const [before, after] = [now, wanted].map(({ options }) => optionWords(options))
  fields.push(...changedWords(before, after))
  const isSameEnd =
    now.expiresAt === wanted.expiresAt ||
    Math.abs((now.expiresAt ?? Number.POSITIVE_INFINITY) - (wanted.expiresAt ?? Number.POSITIVE_INFINITY)) <=
      SAME_END_MS
  return isSameEnd ? fields : [...fields, { field: 'expiresAt', from: endOf(now), to: endOf(wanted) }]
}

const endOf = ({ expiresAt }: ListedExposure): string =>
  expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString()

/** One act, as `drawbridge up` or `drawbridge down` would do it. */
export interface Act {
  readonly verb: 'create' | 'change' | 'remove'
  readonly host: string
  /** The owner of the exposure that is changed or removed. Undefined: nobody, or a new exposure. */
  readonly owner?: string | undefined
  /** Asks the service whether it can be done, and changes nothing. Rejects as `perform` would. */
  readonly prepare: () => Promise<unknown>
  readonly perform: () => Promise<unknown>
}

/** New hosts first, then changes in place, then removals. Each is a plan, a capability and a run of its own. */
export function actsFor(
  api: DrawbridgeClient,
  zones: readonly string[],
  { create, change, surplus }: Comparison,
): Act[] {
  return [
    ...create.map((each): Act => ({ verb: 'create', host: each.host, ...applying(api, zones, each) })),
    ...change.map(
      ({ wanted, now }): Act => ({
        verb: 'change',
        host: now.host,
        owner: now.owner,
        ...applying(api, zones, wanted, now.planId),
      }),
    ),
    ...surplus.map(
      ({ host, owner, planId }): Act => ({
        verb: 'remove',
        host,
        owner,
        prepare: () => assertRemovable(api, host, planId),
        perform: () => api.removePlan(planId),
      }),
    ),
  ]
}

function applying(
  api: DrawbridgeClient,
  zones: readonly string[],
  wanted: ListedExposure,
  replaces?: string,
): Pick<Act, 'prepare' | 'perform'> {
  const { host, server, port, health, tls, expiresAt, options } = wanted
  let planId: string | undefined
  const prepare = async () => {
    const lifetime = expiresAt === undefined ? {} : { expiresIn: Math.ceil((expiresAt - api.clock.now()) / 1000) }
    const request = {
      ...splitHost(host, zones),
      server,
      port,
      health,
      tls,
      ...lifetime,
      ...labelsOf(wanted),
      ...(options && { options: options as ExposureOptions }),
    }
    const made = await api.plan(replaces === undefined ? request : { ...request, replaces })
    planId = made.planId
    return made.planId
  }
  const perform = async () =>
    api.applyPlan(planId ?? (await prepare())).catch(async (error: unknown) => {
      // The other hosts took their time, and may have changed what this plan has seen.
      if (!(error instanceof Refusal) || !['plan_expired', 'plan_stale'].includes(error.code)) throw error
      return api.applyPlan(await prepare())
    })
  return { prepare, perform }
}

async function assertRemovable(api: DrawbridgeClient, host: string, planId: string): Promise<void> {
  const { state } = await api.getPlan(planId)
  if (state === 'applied') return
  const next = state === 'blocked' ? `Run: drawbridge resolve ${planId} --config FILE` : 'Wait until its run has ended.'
  throw new UsageError(`The plan of ${host} is ${state} and not applied. ${next}`)
}
