import type { EdgePoint } from '../../edge/contract/change.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { ListedHost } from '../../edge/contract/list.ts'
import type { RunGuard } from '../../model/run.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { Step } from '../engine/step.ts'
import type { StepContext } from './context.ts'
import { fencesByHost, guardOf } from './proxy.ts'
import type { Member } from './subject.ts'

interface ConvergeParts {
  readonly edge: Edge
  readonly members: readonly Member[]
  /** The hosts to take off the edge. */
  readonly removes: readonly string[]
  /** The plans of their entries. */
  readonly removedPlans: Readonly<Record<string, string>>
  readonly guard: RunGuard
  readonly store: Pick<PlanStore, 'findPlan'>
  readonly entryFor: StepContext['entryFor']
  readonly onCrashPoint: (point: EdgePoint) => void
}

/**
 * Makes one edge serve the hosts of the run as the store says, in one generation, and takes hosts without an exposure off the edge.
 * Entries that somebody edited stay. There is no undo: an edge that refuses stays as it is, and after a crash the step is repeated.
 */
export function convergeStep(parts: ConvergeParts): Step<'proxy', null> {
  const { edge, members, removes, removedPlans, guard, store, entryFor, onCrashPoint } = parts
  const removed = (exposed: ReadonlySet<string>) =>
    guard.fences.map(({ host }) => host).filter((host) => !exposed.has(host) && removes.includes(host))
  const fenceOf = fencesByHost(guard)
  const wishOf = async ({ host, planId, receipt }: Member) => {
    const plan = await store.findPlan(planId)
    if (!plan) return []
    const wanted = await entryFor(edge, plan, plan.request.tls ? receipt.certificate : undefined)
    return [{ host, fence: fenceOf(host), expected: 'any' as const, wanted }]
  }
  return {
    name: 'proxy',
    before: async () => null,
    do: async () => {
      const orphans = removed(new Set(members.map(({ host }) => host)))
      const standing = orphans.length === 0 ? [] : (await edge.list(orphans)).hosts
      // Another plan may have put an entry there in the meantime. That entry stays.
      const isNamed = ({ host, entry }: ListedHost) => entry?.plan === removedPlans[host]
      const gone = standing.flatMap((one) =>
        one.revision === null || !isNamed(one)
          ? []
          : [
              {
                ...{ host: one.host, fence: fenceOf(one.host), mend: true },
                expected: { revision: one.revision },
                wanted: 'absent' as const,
              },
            ],
      )
      const wishes = (await Promise.all(members.map(wishOf))).flat()
      const items = [...gone, ...wishes]
      if (items.length === 0) return { generation: 0 }
      const verdicts = await edge.change(
        { run: guard.run, items },
        { ...guardOf(guard), onCrashPoint, signal: guard.signal },
      )
      // An edit is drift. It must not keep the other hosts out of sync.
      for (const verdict of verdicts)
        if (verdict.state === 'refused' && verdict.fault.kind !== 'changed_elsewhere') throw verdict.fault
      const [first] = verdicts.flatMap((one) => (one.state === 'serving' ? [one.generation] : []))
      return { generation: first ?? 0 }
    },
    undo: async () => undefined,
  }
}
