import { type Problem, sentenceOf } from '../model/errors.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { Clock } from '../primitives/clock.ts'
import { Slots } from '../primitives/slots.ts'
import type { RunResult } from '../runs/engine/ending.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { InstanceStore } from '../store/ports/instances.ts'
import type { PlanStore } from '../store/ports/plans.ts'

/** What `drawbridge withdraw` uses. */
export interface WithdrawParts {
  readonly store: Pick<ExposureStore, 'listExposures'> &
    Pick<PlanStore, 'findPlan'> &
    Pick<InstanceStore, 'liveInstances'>
  readonly withdrawal: {
    /** Why no run can begin now. Undefined if one can. */
    refusal(): Promise<Problem | undefined>
    /** Removes an applied plan, or gives its host back as it stands. Settles when the run has ended. */
    begin(planId: string, action: 'remove' | 'accept'): Promise<RunResult>
  }
  readonly housekeeping: {
    /** Finishes runs whose instance has stopped. */
    recover(): Promise<unknown>
  }
  /** The name of this instance. */
  readonly instance: string
  readonly clock: Clock
}

export interface ExposedName {
  readonly host: string
  readonly planId: string
  readonly state: PlanState
  /** A hand-written site of the host was there before Drawbridge. It is given back and not removed. */
  readonly adopted: boolean
}

export interface Withdrawn {
  readonly removed: readonly string[]
  /** Adopted hosts, which stay on the air. */
  readonly released: readonly string[]
  readonly failed: readonly { readonly host: string; readonly reason: string }[]
}

const AT_ONCE = 16
const RETRY_MS = 250
/** An agent that was started a moment ago needs some time until it answers. */
const EDGE_PATIENCE_MS = 30_000

/** Every host that has an exposure, in any state. */
export async function exposedNames({ store }: Pick<WithdrawParts, 'store'>): Promise<ExposedName[]> {
  const names: ExposedName[] = []
  for await (const exposure of eachExposure(store)) {
    const { host, planId, state } = exposure
    names.push({ host, planId, state, adopted: await isAdopted(exposure, store) })
  }
  return names
}

/** Only an adoption keeps records. If it found none, the chain of replaced plans decides. */
async function isAdopted({ planId, receipt }: Exposure, store: Pick<PlanStore, 'findPlan'>): Promise<boolean> {
  if (receipt?.records.some(({ kept }) => kept)) return true
  let next: string | undefined = planId
  while (next !== undefined) {
    const request: Plan['request'] | undefined = (await store.findPlan(next))?.request
    if (request?.adopt) return true
    next = request?.replaces
  }
  return false
}

/** The addresses of other services on the same store. They continue to manage its hosts. */
export const otherServices = async ({
  store,
  instance,
  clock,
}: Pick<WithdrawParts, 'store' | 'instance' | 'clock'>): Promise<string[]> =>
  (await store.liveInstances(clock.now())).filter(({ name }) => name !== instance).map(({ address }) => address)

export const otherServicesSentence = (addresses: readonly string[]): string =>
  `Nothing was withdrawn: the hosts also belong to the services at ${addresses.join(', ')}, which run on the same store. Stop them first.`

/**
 * Removes every exposure, each in a run of its own: the DNS name first, then the entry. Adopted hosts are released instead. Runs that were interrupted are finished
 * before. Repeatable: what failed is tried again by the next call.
 */
export async function withdrawAll(parts: WithdrawParts): Promise<Withdrawn> {
  await edgeAnswers(parts)
  await parts.housekeeping.recover()
  const slots = new Slots(AT_ONCE)
  const names = await exposedNames(parts)
  const outcomes = await Promise.all(
    names.map(async (name) => ({ ...name, reason: await slots.run(() => withdrawOne(name, parts)) })),
  )
  const done = outcomes.filter(({ reason }) => reason === undefined)
  return {
    removed: done.flatMap(({ host, adopted }) => (adopted ? [] : [host])),
    released: done.flatMap(({ host, adopted }) => (adopted ? [host] : [])),
    failed: outcomes.flatMap(({ host, reason }) => (reason === undefined ? [] : [{ host, reason }])),
  }
}

async function edgeAnswers({ withdrawal, clock }: Pick<WithdrawParts, 'withdrawal' | 'clock'>): Promise<void> {
  const end = clock.monotonic() + EDGE_PATIENCE_MS
  for (;;) {
    const refusal = await withdrawal.refusal()
    if (!refusal) return
    if (clock.monotonic() > end) throw refusal
    await clock.sleep(RETRY_MS)
  }
}

/** Resolves with the reason if the host could not be removed. */
async function withdrawOne(
  { planId, state, adopted }: ExposedName,
  { withdrawal }: WithdrawParts,
): Promise<string | undefined> {
  if (state === 'blocked') return `Its run is blocked. Run: drawbridge resolve ${planId} --config FILE`
  try {
    const { outcome } = await withdrawal.begin(planId, adopted ? 'accept' : 'remove')
    if (outcome.kind === 'succeeded') return undefined
    return outcome.kind === 'blocked'
      ? `Putting back failed, too. Run: drawbridge resolve ${planId} --config FILE`
      : sentenceOf(outcome.fault)
  } catch (error) {
    return sentenceOf(error)
  }
}

export const nameLines = (names: readonly ExposedName[]): string[] =>
  names.length === 0 ? ['No name points here.'] : names.map(nameLine)

function nameLine({ host, state, adopted }: ExposedName): string {
  const notes = [...(state === 'applied' ? [] : [state]), ...(adopted ? ['adopted: stays on the air'] : [])]
  return notes.length === 0 ? host : `${host} (${notes.join('; ')})`
}

export function withdrawnLines({ removed, released, failed }: Withdrawn): string[] {
  const count = removed.length === 1 ? '1 name was' : `${removed.length} names were`
  return [
    `${count} withdrawn.`,
    ...released.map((host) => `${host} was adopted. It is released and stays on the air.`),
    ...failed.map(({ host, reason }) => `${host} was not withdrawn: ${reason}`),
  ]
}
