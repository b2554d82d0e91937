import { AuditTrail } from '../../src/audit/trail.ts'
import type { RunGuard } from '../../src/model/run.ts'
import { systemClock } from '../../src/primitives/clock.ts'
import { Converge, type ConvergeParts } from '../../src/runs/converge.ts'
import type { EdgeStandings } from '../../src/runs/edge-standings.ts'
import type { Carried } from '../../src/runs/engine/begin.ts'
import { Runs } from '../../src/runs/engine/runs.ts'
import { convergeStep } from '../../src/runs/steps/converge.ts'
import { entryOf } from '../../src/runs/steps/entry-of.ts'
import { createLog } from '../../src/runtime/log.ts'
import type { Store } from '../../src/store/ports/store.ts'
import type { FakeEdge } from './edge/fake-edge.ts'

interface ConvergedWorld extends Pick<ConvergeParts, 'mostHosts'>, Partial<Pick<ConvergeParts, 'readBack'>> {
  readonly store: Store
  readonly primary: FakeEdge
  readonly secondary: FakeEdge
  readonly standings: EdgeStandings
  readonly now: () => number
  readonly monotonic?: () => number
}

/** The real converge and engine of runs on two stand-ins for edges. */
export function convergeOn({
  store,
  primary,
  secondary,
  now,
  monotonic = systemClock.monotonic,
  ...world
}: ConvergedWorld): Converge {
  const stepsFor = async ({ run, task }: Carried, guard: RunGuard) => {
    const isPrimary = task.edge === primary.server
    const members = (await store.exposuresOf(run.runId)).flatMap(({ host, planId, receipt }) =>
      receipt ? [{ host, planId, receipt }] : [],
    )
    return [
      convergeStep({
        ...{ members, removes: task.removes ?? [], removedPlans: task.removedPlans ?? {}, guard },
        edge: (isPrimary ? primary : secondary).edge,
        entryFor: async (_edge, plan, certificate) => entryOf(plan, certificate),
        store,
        onCrashPoint: () => undefined,
      }),
    ]
  }
  const common = { store, log: createLog('silent', []), instance: 'me', clock: { ...systemClock, now, monotonic } }
  const runs = new Runs({
    ...{ ...common, stepsFor, trail: new AuditTrail(store), leaseMs: 30_000 },
    raiseFences: async () => undefined,
    crashPoint: () => undefined,
    publish: (_host, commit) => commit(),
  })
  const placeOf = (server: string) => `192.168.45.${server}:80`
  const readBack = async () => 'yes' as const
  return new Converge({
    readBack,
    ...common,
    ...world,
    primary: primary.edge,
    secondary: secondary.edge,
    runs,
    placeOf,
  })
}
