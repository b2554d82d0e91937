import { randomBytes } from 'node:crypto'
import type { DnsReader } from '../dns/contract.ts'
import type { NameFact } from '../model/finding.ts'
import { hostLease, runOfHolder } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'
import type { ExposureStore } from '../store/ports/exposures.ts'
import type { LeaseStore } from '../store/ports/leases.ts'
import type { RunStore } from '../store/ports/runs.ts'
import { Evidence, judgeName } from './name-verdict.ts'
import { readOutcome } from './reading.ts'

/** Checks a host's name on the zone's primary. Both names must be canonical. A caller must not treat `unknown` as free. */
export async function nameInUse(reader: DnsReader, zone: string, host: string, clock?: Clock): Promise<NameFact> {
  using waited = new FairClock(clock)
  const query = { zone, host, randomLabel: randomBytes(5).toString('hex') }
  const evidence = new Evidence()
  for (;;) {
    const judgement = judgeName(query, evidence)
    if (!('ask' in judgement)) return judgement
    const outcomes = await reader.ask(judgement.ask, { clock: waited })
    for (const [i, question] of judgement.ask.entries()) {
      const outcome = outcomes[i] ?? { kind: 'no_answer', reason: 'timeout' }
      evidence.add(question, readOutcome(reader.server, zone, question, outcome))
    }
  }
}

interface NameHolder {
  readonly by: 'exposure' | 'run'
  /** The plan that is exposed or run. Undefined if the run has just ended. */
  readonly planId: string | undefined
}

/** What uses a name in Drawbridge: a live exposure or a run. A plan alone does not use a name. The exposure of `ownPlan` does not count. */
export async function nameHolder(
  store: Pick<ExposureStore, 'findExposure'> & Pick<LeaseStore, 'findLease'> & Pick<RunStore, 'findRun'>,
  host: string,
  now: number,
  ownPlan?: string,
): Promise<NameHolder | undefined> {
  const [exposure, lease] = await Promise.all([store.findExposure(host), store.findLease(hostLease(host), now)])
  if (exposure && exposure.planId === ownPlan) return undefined
  if (!lease) return exposure && { by: 'exposure', planId: exposure.planId }
  const run = await store.findRun(runOfHolder(lease.holder))
  return { by: 'run', planId: run?.planId }
}
