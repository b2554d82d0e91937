import type { ChangeItem, EdgePoint, HostVerdict } from '../../edge/contract/change.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { Fault } from '../../model/errors.ts'
import type { Afters } from '../../model/receipt.ts'
import type { HostFence, RunGuard, RunName } from '../../model/run.ts'
import { type Step, StepFault } from '../engine/step.ts'
import type { SecondaryReport, SecondaryWork } from './secondary.ts'

/** How the edges are worked on: the Primary decides, the Secondary gets the same as well as it can. */
export interface ProxyParts {
  readonly primary: Edge
  /** The work on the Secondary. Nobody waits for it before the Primary's verdict. */
  readonly secondary: SecondaryWork | undefined
  /** What every change of the run shows to an edge. */
  readonly guard: RunGuard
  /** Called at each moment of a change of the Primary. */
  readonly onCrashPoint: (point: EdgePoint) => void
  /** How the Secondary is asked after a change. Undefined where it serves nothing after it. */
  readonly judgeSecondary: ((edge: Edge, afters: Afters) => Promise<SecondaryReport>) | undefined
}

/** What a host should be on an edge. */
export type Wish = Omit<ChangeItem, 'fence'>

/** What a step changes on an edge. */
export interface ProxyTarget {
  readonly name: 'proxy' | 'proxy-tls'
  /** Read directly before the change. Certificates that entries name are given to the edge here. */
  readonly wishes: (edge: Edge, afters: Afters) => Promise<readonly Wish[]>
  /** The hosts that an undo puts back, and the plan for which a site was taken out of its files. */
  readonly hosts: readonly string[]
  readonly takesOver?: ChangeItem['takesOver']
  /** What the hosts were before this step. Default: what they were before the run, of which it is the first change of them. */
  readonly undone?: (edge: Edge) => Promise<readonly Wish[]>
  /** Whether what stands and what nginx runs is what was before. Asked where an undo cannot be made. */
  readonly isRestored?: (edge: Edge) => Promise<boolean>
  /** The error code where somebody else's change would be overwritten. */
  readonly refusal?: Fault['code']
}

/** The run that has made the change: a run that resolves a blocked one puts back what that one has changed. */
interface ProxyImage {
  readonly run: string
}

export type ProxyStep = Step<ProxyTarget['name'], ProxyImage>

/**
 * Changes hosts on both edges, each tested before it stands and proven to run after. The edge keeps what stood before, so an undo
 * names the run alone.
 */
export function proxyStep(parts: ProxyParts, target: ProxyTarget): ProxyStep {
  const { primary, secondary, guard, onCrashPoint, judgeSecondary } = parts
  const fenceOf = fencesByHost(guard)
  const fenced = (wishes: readonly Wish[]): ChangeItem[] =>
    wishes.map((wish) => ({ ...wish, fence: fenceOf(wish.host) }))

  const place = async (
    edge: Edge,
    afters: Afters,
    options: { onCrashPoint?: (point: EdgePoint) => void; signal?: AbortSignal },
  ) => {
    const items = fenced(await target.wishes(edge, afters))
    const verdicts =
      items.length === 0 ? [] : await edge.change({ run: guard.run, items }, { ...guardOf(guard), ...options })
    assertServed(verdicts, target.refusal)
    return verdicts
  }
  const putBack = async (edge: Edge, run: RunName, signal = guard.signal) => {
    const { takesOver } = target
    const former = (): Wish[] =>
      target.hosts.map((host) => ({ host, expected: 'any', wanted: 'before', ...(takesOver && { takesOver }) }))
    const items = fenced(target.undone ? await target.undone(edge) : former())
    if (items.length === 0) return
    const putting = edge.change({ run, items }, { ...guardOf(guard), signal })
    await putting.then(assertServed).catch(async (error: unknown) => {
      // The change may never have been entered or loaded. Then its undo needs neither room on the disk nor a reload.
      const isUnmade = error instanceof EdgeFault && UNMADE.includes(error.kind)
      if (!isUnmade || !(await target.isRestored?.(edge))) throw error
    })
  }

  return {
    name: target.name,
    before: async () => ({ run: guard.run.run }),
    async do(_before, afters) {
      const verdicts = await place(primary, afters, { onCrashPoint, signal: guard.signal }).catch(tellUntouched)
      secondary?.begin(
        (edge, ended) => place(edge, afters, { signal: AbortSignal.any([ended, guard.signal]) }),
        judgeSecondary && ((edge) => judgeSecondary(edge, afters)),
      )
      return placedIn(verdicts)
    },
    async undo(image) {
      const run = { ...guard.run, run: image?.run ?? guard.run.run }
      await putBack(primary, run)
      await secondary?.end()
      await secondary?.make((edge, ended) => putBack(edge, run, AbortSignal.any([ended, guard.signal])))
    },
  }
}

/** How a run shows that it still holds its leases. */
export const guardOf = (guard: RunGuard) => ({
  assertHeld: () => guard.assertHeld(),
  ensureHeld: () => guard.ensureHeld(),
  heldForMs: () => guard.leftMs,
})

/** The fence of each host of a run, of which there may be thousands. */
export function fencesByHost({ fences }: Pick<RunGuard, 'fences'>): (host: string) => HostFence {
  const known = new Map(fences.map((fence) => [fence.host, fence]))
  return (host) => {
    const fence = known.get(host)
    if (!fence) throw new StepFault(`The run has no fence for ${host}.`, { untouched: true })
    return fence
  }
}

function placedIn(verdicts: readonly HostVerdict[]): { generation: number; released?: string } {
  const [first] = verdicts.flatMap((verdict) => (verdict.state === 'serving' ? [verdict] : []))
  return { generation: first?.generation ?? 0, ...(first?.released !== undefined && { released: first.released }) }
}

/** Throws the first refusal. */
function assertServed(verdicts: readonly HostVerdict[], code?: Fault['code']): void {
  const [fault] = verdicts.flatMap((verdict) => (verdict.state === 'refused' ? [verdict.fault] : []))
  if (!fault) return
  // Some hosts were changed, so the step has to be undone.
  if (verdicts.some(({ state }) => state === 'serving')) throw new StepFault(fault.message, { cause: fault })
  throw fault.kind === 'changed_elsewhere' && code !== undefined
    ? new StepFault(fault.message, { untouched: true, code, cause: fault })
    : fault
}

/** Faults before anything live was touched leave nothing to undo. */
function tellUntouched(error: unknown): never {
  const untouched = error instanceof EdgeFault && UNTOUCHED.includes(error.kind)
  throw untouched ? new StepFault(error.message, { untouched, cause: error }) : error
}

/** Faults of an undo that may not have been needed. */
const UNMADE: readonly EdgeFault['kind'][] = [
  'not_reloaded',
  'config_broken',
  'change_invalid',
  'unavailable',
  'write_failed',
]

const UNTOUCHED: readonly EdgeFault['kind'][] = [
  'config_broken',
  'change_invalid',
  'changed_meanwhile',
  'changed_elsewhere',
  'unavailable',
  'logs_keys',
  'fenced',
  'away',
]
