import type { Plan } from '../../src/model/exposure.ts'
import { CONSOLE_ACTOR, type Run, type RunAction, type RunTask } from '../../src/model/run.ts'

export class InvariantBroken extends Error {
  readonly invariant: string

  constructor(invariant: string, detail: string) {
    super(detail)
    this.invariant = invariant
  }
}

/** What the runs of a host make of it, one after the other. */
export interface HostSpec {
  /** The plan that the host is exposed by. */
  readonly holder: string | null
  /** The blocked runs that nobody has resolved: the last one is resolved first. */
  readonly blocked: readonly Run[]
  /** The accept after which the host is not ours any more. */
  readonly released: Run | null
  /** The states of the plans of the host. */
  readonly plans: ReadonlyMap<string, string>
}

/** A run that has ended, and what it was told. */
export interface EndedRun {
  readonly run: Run
  readonly task: RunTask
  readonly plan: Plan
}

/** The state of the plan after an action that succeeded, and after one that was undone. */
const DONE: Readonly<Record<RunAction, string>> = {
  apply: 'applied',
  update: 'applied',
  remove: 'removed',
  repair: 'applied',
  accept: 'released',
  renew: 'applied',
  converge: 'applied',
}
const UNDONE: Readonly<Record<RunAction, string>> = {
  apply: 'rolled_back',
  update: 'rolled_back',
  remove: 'applied',
  repair: 'applied',
  accept: 'applied',
  renew: 'applied',
  converge: 'applied',
}

const EMPTY: HostSpec = { holder: null, blocked: [], released: null, plans: new Map() }

/** The host as a sequential engine leaves it. Throws where such an engine would not have begun a run. */
export const specOf = (host: string, runs: readonly EndedRun[]): HostSpec =>
  runs.reduce((spec, ended) => (ended.run.host === host ? next(spec, ended) : nextOfMember(spec, ended)), EMPTY)

function next(spec: HostSpec, ended: EndedRun): HostSpec {
  const { run, plan } = ended
  const { action, planId, state } = run
  assertMayBegin(spec, run)
  if (run.actor === CONSOLE_ACTOR) return nextAfterConsole(spec, ended)
  const former = plan.request.replaces
  const needed = action === 'apply' ? null : action === 'update' ? former : planId
  if (spec.holder !== needed)
    throw new InvariantBroken('a run begins only where its plan allows it', `${action} began at the wrong time`)
  if (state === 'blocked') return { ...withPlans(spec, [planId, 'blocked']), blocked: [run] }
  if (state !== 'succeeded') return withPlans(spec, [planId, UNDONE[action]])
  const isOurs = action !== 'remove' && action !== 'accept'
  const released = action === 'accept' ? run : action === 'apply' ? null : spec.released
  const replaced: [string, string][] = action === 'update' && former !== undefined ? [[former, 'replaced']] : []
  return { ...withPlans(spec, [planId, DONE[action]], ...replaced), holder: isOurs ? planId : null, released }
}

/** A resolve undoes the last blocked run. An accept closes the books on all of them. */
function nextAfterConsole(spec: HostSpec, { run, task }: EndedRun): HostSpec {
  const blocked = blockedAfter(spec, run, task)
  const { planId } = run
  if (blocked.length > 0) return { ...withPlans(spec, [planId, 'blocked']), blocked }
  if (!isAccept(spec, run, task)) return { ...withPlans(spec, [planId, UNDONE[run.action]]), blocked }
  const holder: [string, string][] = spec.holder === null ? [] : [[spec.holder, 'released']]
  return { ...withPlans(spec, ...holder, [planId, 'released']), holder: null, blocked, released: run }
}

/** A host that a renewal changes together with its own. Nothing else of the host changes. */
function nextOfMember(spec: HostSpec, { run, task }: EndedRun): HostSpec {
  assertMayBegin(spec, run)
  if (run.actor === CONSOLE_ACTOR) return { ...spec, blocked: blockedAfter(spec, run, task) }
  if (spec.holder === null)
    throw new InvariantBroken('a run begins only where its plan allows it', `${run.action} claimed a free host`)
  return run.state === 'blocked' ? { ...spec, blocked: [run] } : spec
}

function assertMayBegin({ blocked }: HostSpec, { action, actor, planId }: Run): void {
  const isFrozen = blocked.length > 0
  if (isFrozen === (actor === CONSOLE_ACTOR) && (!isFrozen || blocked.at(-1)?.planId === planId)) return
  throw new InvariantBroken('blocked freezes the host until it is resolved', `${action} began`)
}

const isAccept = ({ blocked }: HostSpec, { action }: Run, { resolves }: RunTask): boolean =>
  action === 'accept' && resolves === blocked.at(-1)?.runId

function blockedAfter(spec: HostSpec, run: Run, task: RunTask): readonly Run[] {
  const { blocked } = spec
  if (isAccept(spec, run, task))
    return run.state === 'succeeded' ? [] : run.state === 'blocked' ? [...blocked, run] : blocked
  return run.state === 'blocked' ? [...blocked.slice(0, -1), run] : blocked.slice(0, -1)
}

const withPlans = (spec: HostSpec, ...states: readonly (readonly [string, string])[]): HostSpec => ({
  ...spec,
  plans: new Map([...spec.plans, ...states]),
})
