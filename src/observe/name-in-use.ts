import { randomBytes } from 'node:crypto'
import type { DnsReader } from '../dns/contract.ts'
import { FairClock } from '../fair-clock.ts'
import type { NameFact } from '../model/finding.ts'
import { Evidence, judgeName } from './name-verdict.ts'
import { readOutcome } from './reading.ts'

/** Looks at a host's name on the zone's own primary. Both names canonical; unknown is not free. */
export async function nameInUse(reader: DnsReader, zone: string, host: string): Promise<NameFact> {
  using clock = new FairClock()
  const look = { zone, host, randomLabel: randomBytes(5).toString('hex') }
  const evidence = new Evidence()
  for (;;) {
    const judgement = judgeName(look, evidence)
    if (!('ask' in judgement)) return judgement
    const outcomes = await reader.ask(judgement.ask, clock)
    for (const [i, question] of judgement.ask.entries()) {
      const outcome = outcomes[i] ?? { kind: 'no_answer', reason: 'timeout' }
      evidence.add(question, readOutcome(reader.server, zone, question, outcome))
    }
  }
}
