import type { Plan } from '../../model/exposure.ts'
import { hostLease, type Run } from '../../model/run.ts'
import { Slots } from '../../primitives/slots.ts'
import { type Exposure, eachExposure } from '../../store/ports/exposures.ts'
import { verifyAudit } from './audit.ts'
import { broken, type Evidence, type VerifyParts } from './evidence.ts'

/** What the store says, and what of it contradicts itself. */
export interface Books {
  readonly exposures: ReadonlyMap<string, Exposure>
  readonly plans: readonly Plan[]
  /** Hosts that a run is changing now. */
  readonly underWay: ReadonlySet<string>
  readonly runs: number
  readonly auditLines: number
  readonly storeId: string
  readonly evidence: readonly Evidence[]
}

/** A run whose instance has died is taken up within this time. */
const SETTLED_MS = 60_000
const PAGE = 500
const AT_ONCE = 8

export async function verifyBooks({ store, clock }: VerifyParts): Promise<Books> {
  const unfinished = await store.unfinishedRuns()
  const plans = await Array.fromAsync(eachPlan(store))
  const exposures = new Map((await Array.fromAsync(eachExposure(store))).map((one) => [one.host, one]))
  const slots = new Slots(AT_ONCE)
  const runs = (await Promise.all(plans.map(({ planId }) => slots.run(() => store.runsOf(planId))))).flat()
  const held = await Promise.all(unfinished.map(({ host }) => store.findLease(hostLease(host), clock.now())))
  // The clock may have been set back since the run began.
  const abandoned = unfinished.filter(
    ({ startedAt }, index) => held[index] === undefined && Math.abs(clock.now() - startedAt) > SETTLED_MS,
  )
  const audit = await verifyAudit(store)
  const running = new Set(unfinished.map(({ runId }) => runId))
  const claimed = [...exposures.values()].filter(({ runId }) => runId !== undefined)
  const underWay = new Set([
    ...unfinished.map(({ host }) => host),
    ...claimed.filter(({ runId = '' }) => running.has(runId)).map(({ host }) => host),
  ])
  return {
    exposures,
    plans,
    underWay,
    runs: runs.length,
    auditLines: audit.ok ? audit.lines : 0,
    storeId: await store.storeId(),
    evidence: [
      ...overspent(runs, await store.spentCapabilities()),
      ...atOnce(runs),
      ...abandoned.map(({ host, runId, action }) =>
        broken('settled', `The run ${runId} (${action} ${host}) is unfinished and nobody holds its lease.`),
      ),
      ...claimed
        .filter(({ runId = '', state }) => !running.has(runId) && state !== 'blocked')
        .map(({ host, runId }) => broken('settled', `${host} is claimed by the run ${runId}, which has ended.`)),
      ...plans.flatMap((plan) => contradictions(plan, exposures.get(plan.host), underWay)),
      ...(audit.ok ? [] : [broken('kept', audit.sentence)]),
    ],
  }
}

async function* eachPlan(store: VerifyParts['store']): AsyncGenerator<Plan> {
  for (let before: Plan | undefined; ; ) {
    const page = await store.listPlans({ before, limit: PAGE })
    yield* page
    before = page.at(-1)
    if (page.length < PAGE) return
  }
}

/** With the right of a capability a run spends one. An update spends one to apply, an acceptance one to accept or to release. */
const SPENT_FOR: Readonly<Partial<Record<Run['action'], readonly string[]>>> = {
  apply: ['apply', 'adopt'],
  update: ['apply', 'adopt'],
  accept: ['accept', 'release'],
}

function overspent(runs: readonly Run[], spent: readonly { planId: string; action: string; count: number }[]) {
  const byCapability = runs.filter(({ right }) => right.startsWith('capability'))
  const groups = Map.groupBy(
    byCapability,
    ({ planId, action }) => `${planId} ${action === 'update' ? 'apply' : action}`,
  )
  return [...groups.values()].flatMap(([first, ...more]) => {
    if (!first) return []
    const actions = SPENT_FOR[first.action] ?? [first.action]
    const used = spent
      .filter(({ planId, action }) => planId === first.planId && actions.includes(action))
      .reduce((sum, { count }) => sum + count, 0)
    const count = more.length + 1
    if (count <= used) return []
    const what = `${count} runs to ${first.action} ${first.host} (${first.planId})`
    return [broken('once', `There are ${what}, and ${used} capabilities were spent for them.`)]
  })
}

/** A renewal and a converge change many hosts, and are booked on one of their plans. */
const OF_ONE_HOST: readonly Run['action'][] = ['apply', 'update', 'remove', 'repair', 'accept']

/** Two runs of one host that were both under way at some moment. */
function atOnce(runs: readonly Run[]): Evidence[] {
  const ofHosts = runs.filter(({ action }) => OF_ONE_HOST.includes(action))
  return [...Map.groupBy(ofHosts, ({ host }) => host).values()].flatMap((ofHost) => {
    const inOrder = ofHost.toSorted((a, b) => a.startedAt - b.startedAt)
    return inOrder.slice(1).flatMap((run, index) => {
      const former = inOrder[index]
      if (!former || (former.finishedAt ?? Number.POSITIVE_INFINITY) <= run.startedAt) return []
      return [broken('once', `The runs ${former.runId} and ${run.runId} of ${run.host} were under way at one time.`)]
    })
  })
}

function contradictions(plan: Plan, exposure: Exposure | undefined, underWay: ReadonlySet<string>): Evidence[] {
  const { planId, host, state } = plan
  if (underWay.has(host)) return []
  const holds = exposure?.planId === planId
  if (state === 'applying' || state === 'removing')
    return [broken('settled', `The plan ${planId} of ${host} is ${state}, and no run changes it.`)]
  const isLive = state === 'applied' || state === 'blocked'
  if (isLive && !holds) return [broken('names', `The plan ${planId} of ${host} is ${state} without an exposure.`)]
  if (!isLive && holds) return [broken('names', `${host} is exposed by the plan ${planId}, which is ${state}.`)]
  return []
}
