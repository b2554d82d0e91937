import type { LabDescription } from '../lab/description.ts'
import type { Caller } from './caller.ts'
import { atRest } from './floor.ts'
import { type Limit, roundsOf, timed } from './measure.ts'

export interface Planned {
  readonly host: string
  /** Its capability is there already. */
  apply(): Promise<{ steps: { name: string; ms: number }[] }>
  /** Gets the capability, so that the removal itself can be timed alone. */
  toRemove(): Promise<() => Promise<unknown>>
}

export async function planned(caller: Caller, { zone }: LabDescription, subdomain: string): Promise<Planned> {
  const { planId } = await caller.post<{ planId: string }>('/api/deploy/plan', requestFor(zone, subdomain))
  const capabilityFor = async (action: 'apply' | 'remove') => {
    const { capability } = await caller.post<{ capability: string }>('/api/internal/token', { planId, action })
    return { 'x-deploy-capability': capability }
  }
  const toApply = await capabilityFor('apply')
  return {
    host: `${subdomain}.${zone}`,
    apply: () => caller.post('/api/deploy/apply', { planId }, toApply),
    toRemove: async () => {
      const capability = await capabilityFor('remove')
      return () => caller.post('/api/deploy/remove', { planId }, capability)
    },
  }
}

export const requestFor = (zone: string, subdomain: string, tls = true) => ({
  zone,
  subdomain,
  server: '25',
  port: 3000,
  health: '/healthz',
  tls,
})

export interface OneByOne {
  readonly apply: number[]
  readonly remove: number[]
  /** Milliseconds by the name of the step. */
  readonly steps: Map<string, number[]>
}

export interface Rounds extends Limit {
  readonly prefix: string
  /** Called at rest after each round. */
  readonly between?: (round: number) => Promise<void>
}

/** Applies and removes one host after the other, each when nginx is at rest. */
export async function oneByOne(
  caller: Caller,
  lab: LabDescription,
  { prefix, between, ...limit }: Rounds,
): Promise<OneByOne> {
  const times: OneByOne = { apply: [], remove: [], steps: new Map() }
  for (const round of roundsOf(limit)) {
    const exposure = await planned(caller, lab, `${prefix}-${round + limit.warmUp}`)
    await atRest(lab)
    let reports: { name: string; ms: number }[] = []
    const apply = await timed(async () => {
      reports = (await exposure.apply()).steps
    })
    const removal = await exposure.toRemove()
    await atRest(lab)
    const remove = await timed(removal)
    await atRest(lab)
    await between?.(round)
    if (round < 0) continue
    times.apply.push(apply)
    times.remove.push(remove)
    for (const { name, ms } of reports) times.steps.set(name, [...(times.steps.get(name) ?? []), ms])
  }
  return times
}
