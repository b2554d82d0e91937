import type { Plan } from '../../src/model/exposure.ts'
import { CONSOLE_ACTOR, type JournalEntry, type Run, type RunAction } from '../../src/model/run.ts'
import { taskIn } from '../../src/runs/engine/runs.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'
import { PromiseBroken } from './promises.ts'
import { HOSTS, hostOf, type World } from './world.ts'

/** A run of a host that has ended. */
interface Ended {
  readonly run: Run
  readonly plan: Plan
  readonly entries: readonly JournalEntry[]
}

/** What the runs of a host make of it, one after the other. */
interface HostSpec {
  /** The plan by which the host is exposed. */
  readonly holder: string | undefined
  /** The blocked run that nobody has resolved. */
  readonly blocked: Run | undefined
  /** The states of the plans of the host. */
  readonly plans: ReadonlyMap<string, string>
}

/** The state of the plan after an action that succeeded, and after one that was undone. */
const ENDS: Readonly<Record<RunAction, readonly [done: string, undone: string]>> = {
  apply: ['applied', 'rolled_back'],
  update: ['applied', 'rolled_back'],
  remove: ['removed', 'applied'],
  repair: ['applied', 'applied'],
  accept: ['released', 'applied'],
  renew: ['applied', 'applied'],
  converge: ['applied', 'applied'],
}
const EMPTY: HostSpec = { holder: undefined, blocked: undefined, plans: new Map() }

/** The store is what its runs make of it, one after the other, in the order of their fences. A restored one knows only a part of them. */
export async function assertBooks(world: World): Promise<void> {
  const { store, robbed, processes } = world
  const [stolen] = robbed
  if (stolen !== undefined) throw new PromiseBroken('the run of a living process is not taken over', stolen)
  if (world.restored) return
  const plans = new Map<string, Plan>()
  for (const plan of await Promise.all(world.planIds.map((id) => store.findPlan(id))))
    if (plan) plans.set(plan.planId, plan)
  const told = await endsTold(world)
  for (const host of HOSTS.map(hostOf)) {
    const runs = (await store.runsOfHost(host)).filter(({ action }) => action !== 'converge')
    const ended = await Promise.all(
      runs
        .toSorted((one, other) => one.fence - other.fence)
        .flatMap((run) => {
          const plan = plans.get(run.planId)
          return plan ? [store.readJournal(run.runId, 0).then((entries): Ended => ({ run, plan, entries }))] : []
        }),
    )
    for (const each of ended) assertJournal(each)
    // A renewal is told once for its certificate, and not of each host.
    const isTold = ({ run, entries }: Ended) => run.action !== 'renew' && taskIn(entries).mark === undefined
    const ends = ended.filter(isTold).length
    if ((told.get(host) ?? 0) !== ends)
      throw new PromiseBroken('every end is told once', `${told.get(host) ?? 0} events for ${ends} ends of ${host}`)
    const spec = ended.reduce(next, EMPTY)
    assertPlans(host, spec, plans)
    assertExposure(spec, await store.findExposure(host))
  }
  for (const runId of processes.flatMap(({ decided }) => [...decided])) {
    const state = (await store.findRun(runId))?.state
    if (state !== 'succeeded') throw new PromiseBroken('a run with a verdict never goes back', `it is ${state}`)
  }
}

/** By host: how many events tell of the end of a run. */
async function endsTold({ store }: World): Promise<ReadonlyMap<string, number>> {
  const told = new Map<string, number>()
  for (const { host, type } of await store.readEvents(0, 10_000))
    if (type.startsWith('exposure.') && type !== 'exposure.extended') told.set(host, (told.get(host) ?? 0) + 1)
  return told
}

function assertJournal({ run, entries }: Ended): void {
  const isWhole = entries.every(({ seq }, i) => seq === i + 1)
  const ends = entries.filter(({ step, mark }) => step === 'run' && mark === 'done')
  if (!isWhole || ends.length !== 1 || entries.at(-1) !== ends[0])
    throw new PromiseBroken('a journal ends once, with the end of its run', `${run.action}: ${ends.length} ends`)
}

/** The host as an engine leaves it that does one thing after the other. Throws where such an engine would not have begun the run. */
function next(spec: HostSpec, { run, plan, entries }: Ended): HostSpec {
  const { action, planId, state } = run
  const isResolve = run.actor === CONSOLE_ACTOR
  if (isResolve !== (spec.blocked !== undefined))
    throw new PromiseBroken('blocked freezes the host until it is resolved', `${action} began`)
  const former = plan.request.replaces
  const needed = action === 'apply' ? undefined : action === 'update' ? former : planId
  if (!isResolve && spec.holder !== needed)
    throw new PromiseBroken('a run begins only where its plan allows it', `${action} began at the wrong time`)
  if (state === 'blocked') return { ...withPlans(spec, [planId, 'blocked']), blocked: run }
  const isAcceptOfBlocked = action === 'accept' && taskIn(entries).resolves === spec.blocked?.runId
  // An accept that was undone leaves the run that it should have ended as it was.
  if (state !== 'succeeded' && isAcceptOfBlocked && isResolve) return spec
  const after = { ...spec, blocked: undefined }
  if (state !== 'succeeded') return withPlans(after, [planId, ENDS[action][1]])
  const isOurs = action !== 'remove' && action !== 'accept'
  const left: readonly [string, string][] =
    action === 'update' && former !== undefined
      ? [[former, 'replaced']]
      : action === 'accept' && spec.holder !== undefined
        ? [[spec.holder, 'released']]
        : []
  return { ...withPlans(after, ...left, [planId, ENDS[action][0]]), holder: isOurs ? planId : undefined }
}

const withPlans = (spec: HostSpec, ...states: readonly (readonly [string, string])[]): HostSpec => ({
  ...spec,
  plans: new Map([...spec.plans, ...states]),
})

function assertPlans(host: string, spec: HostSpec, plans: ReadonlyMap<string, Plan>): void {
  for (const plan of plans.values()) {
    if (plan.host !== host) continue
    const expected = spec.plans.get(plan.planId) ?? 'planned'
    if (plan.state !== expected)
      throw new PromiseBroken('plan and runs agree', `the plan is ${plan.state}, not ${expected}`)
  }
}

/** Only a blocked run keeps its claim. */
function assertExposure({ holder, blocked }: HostSpec, exposure: Exposure | undefined): void {
  const owner = holder ?? blocked?.planId
  const expected = owner && `${blocked ? 'blocked' : 'applied'} ${owner} ${blocked?.runId}`
  const found = exposure && `${exposure.state} ${exposure.planId} ${exposure.runId}`
  if (found !== expected) throw new PromiseBroken('exposure and runs agree', `${found}, not ${expected}`)
}
