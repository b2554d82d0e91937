import type { Config } from '../config/config.ts'
import { addressesOf } from '../dns/addresses.ts'
import { holdsExactly } from '../dns/read-back.ts'
import { dnsReader } from '../dns/reader.ts'
import type { Plan } from '../model/exposure.ts'
import { judgeApplied, type NameStanding } from '../observe/host/inspect-name.ts'
import { recordsOf } from '../runs/steps/receipt.ts'

/** Asks a zone's own server how it stands to what was applied. The monitor and the diagnosis both ask this way. */
export type AskStanding = (plan: Plan) => Promise<NameStanding>

export function askStanding({ zones }: Pick<Config, 'zones'>): AskStanding {
  const readers = new Map([...zones.values()].map(({ name, primary }) => [name, dnsReader(primary)]))
  return async (plan) => {
    const reader = readers.get(plan.request.zone)
    if (!reader) return { name: { kind: 'not_asked', why: 'zone_not_managed' }, records: null }
    const records = recordsOf(plan)
    const [answer, held] = await Promise.all([addressesOf(reader, plan.host), holdsExactly(reader, records)])
    return judgeApplied(answer, held, valuesOf(plan))
  }
}

/** The values that the host's own name was given. */
const valuesOf = (plan: Plan): string[] =>
  recordsOf(plan).flatMap(({ name, type, value }) => (name === plan.host && type !== 'TXT' ? [value] : []))
