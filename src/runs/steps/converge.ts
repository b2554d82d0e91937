import type { Edge, EdgePoint, ListedHost } from '../../edge/contract.ts'
import type { RunGuard } from '../../model/run.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { Step } from '../engine/step.ts'
import type { StepContext } from './context.ts'
import { fenceOf, guardOf } from './proxy.ts'
import type { Member } from './subject.ts'

interface ConvergeParts {
  readonly edge: Edge
  readonly members: readonly Member[]
  /** The hosts that go, as far as nobody else changes them. Undefined: those of the run that have no exposure. */
  readonly removes: readonly string[] | undefined
  /** The plans of their entries. Undefined: whatever stands there. */
  readonly removedPlans: Readonly<Record<string, string>> | undefined
  readonly guard: RunGuard
  readonly store: Pick<PlanStore, 'findPlan'>
  readonly entryFor: StepContext['entryFor']
  readonly onCrashPoint: (point: EdgePoint) => void
}

/**
 * Brings the hosts of the run into step on one edge, in one generation: those with an exposure as the store says, the others off
 * the edge. What somebody has edited there stays. Nothing is undone: an edge that refuses stays as it is, and what a crash interrupted
 * is done again.
 */
export function convergeStep(parts: ConvergeParts): Step<'proxy', null> {
  const { edge, members, removes, removedPlans, guard, store, entryFor, onCrashPoint } = parts
  const removed = (exposed: ReadonlySet<string>) =>
    guard.fences.map(({ host }) => host).filter((host) => !exposed.has(host) && (removes?.includes(host) ?? true))
  const wishOf = async ({ host, planId, receipt }: Member) => {
    const plan = await store.findPlan(planId)
    // Without its secret nobody can tell whether the edge serves it.
    if (plan?.proof === undefined) return []
    const wanted = await entryFor(edge, plan, plan.request.tls ? receipt.certificate : undefined)
    return [{ host, fence: fenceOf(guard.fences, host), expected: 'any' as const, wanted }]
  }
  return {
    name: 'proxy',
    before: async () => null,
    do: async () => {
      const orphans = removed(new Set(members.map(({ host }) => host)))
      const standing = orphans.length === 0 ? [] : (await edge.list(orphans)).hosts
      // What another plan has put there since it was found stays.
      const isNamed = ({ host, entry }: ListedHost) => !removedPlans || entry?.plan === removedPlans[host]
      const gone = standing.flatMap((one) =>
        one.revision === null || !isNamed(one)
          ? []
          : [
              {
                ...{ host: one.host, fence: fenceOf(guard.fences, one.host), mend: true },
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
      // An edit is drift, and no reason to leave the other hosts out of step.
      for (const verdict of verdicts)
        if (verdict.state === 'refused' && verdict.fault.kind !== 'changed_elsewhere') throw verdict.fault
      const [first] = verdicts.flatMap((one) => (one.state === 'serving' ? [one.generation] : []))
      return { generation: first ?? 0 }
    },
    undo: async () => undefined,
  }
}
