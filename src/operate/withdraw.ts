import { type Problem, sentenceOf } from '../model/errors.ts'
import type { PlanState } from '../model/exposure.ts'
import type { Clock } from '../primitives/clock.ts'
import { Slots } from '../primitives/slots.ts'
import type { RunResult } from '../runs/engine/ending.ts'
import { type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { InstanceStore } from '../store/ports/instances.ts'

/** What `drawbridge withdraw` uses. */
export interface WithdrawParts {
  readonly store: Pick<ExposureStore, 'listExposures'> & Pick<InstanceStore, 'liveInstances'>
  readonly withdrawal: {
    /** Why no run can begin now. Undefined if one can. */
    refusal(): Promise<Problem | undefined>
    /** Begins the removal of an applied plan. The inner promise settles when the run has ended. */
    begin(planId: string): Promise<RunResult>
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
}

export interface Withdrawn {
  readonly removed: readonly string[]
  readonly failed: readonly { readonly host: string; readonly reason: string }[]
}

const AT_ONCE = 16
const RETRY_MS = 250
/** An agent that was started a moment ago needs some time until it answers. */
const EDGE_PATIENCE_MS = 30_000

/** Every host that has an exposure, in any state. */
export async function exposedNames({ store }: Pick<WithdrawParts, 'store'>): Promise<ExposedName[]> {
  const names: ExposedName[] = []
  for await (const { host, planId, state } of eachExposure(store)) names.push({ host, planId, state })
  return names
}

/** The addresses of other services that run on the same store. They go on with its hosts. */
export const otherServices = async ({
  store,
  instance,
  clock,
}: Pick<WithdrawParts, 'store' | 'instance' | 'clock'>): Promise<string[]> =>
  (await store.liveInstances(clock.now())).filter(({ name }) => name !== instance).map(({ address }) => address)

export const otherServicesSentence = (addresses: readonly string[]): string =>
  `Nothing was withdrawn: the hosts also belong to the services at ${addresses.join(', ')}, which run on the same store. Stop them first.`

/**
 * Removes every exposure, each in a run of its own: the DNS name first, then the entry. Runs that were interrupted are finished
 * before. Repeatable: what failed is tried again by the next call.
 */
export async function withdrawAll(parts: WithdrawParts): Promise<Withdrawn> {
  await edgeAnswers(parts)
  await parts.housekeeping.recover()
  const slots = new Slots(AT_ONCE)
  const names = await exposedNames(parts)
  const outcomes = await Promise.all(
    names.map(async (name) => ({ host: name.host, reason: await slots.run(() => withdrawOne(name, parts)) })),
  )
  return {
    removed: outcomes.flatMap(({ host, reason }) => (reason === undefined ? [host] : [])),
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
async function withdrawOne({ planId, state }: ExposedName, { withdrawal }: WithdrawParts): Promise<string | undefined> {
  if (state === 'blocked') return `Its run is blocked. Run: drawbridge resolve ${planId} --config FILE`
  try {
    const { outcome } = await withdrawal.begin(planId)
    if (outcome.kind === 'succeeded') return undefined
    return outcome.kind === 'blocked'
      ? `Putting back failed, too. Run: drawbridge resolve ${planId} --config FILE`
      : sentenceOf(outcome.fault)
  } catch (error) {
    return sentenceOf(error)
  }
}

export const nameLines = (names: readonly ExposedName[]): string[] =>
  names.length === 0
    ? ['No name points here.']
    : names.map(({ host, state }) => (state === 'applied' ? host : `${host} (${state})`))

export function withdrawnLines({ removed, failed }: Withdrawn): string[] {
  const count = removed.length === 1 ? '1 name was' : `${removed.length} names were`
  return [`${count} withdrawn.`, ...failed.map(({ host, reason }) => `${host} was not withdrawn: ${reason}`)]
}
