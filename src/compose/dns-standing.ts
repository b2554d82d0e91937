import { addressesOf } from '../dns/addresses.ts'
import type { ZoneRecord } from '../dns/contract.ts'
import { holdsExactly } from '../dns/read-back.ts'
import type { Plan } from '../model/exposure.ts'
import { judgeApplied, type NameStanding } from '../observe/host/inspect-name.ts'
import type { ZoneClients } from './zone-clients.ts'

/** Compares what the primary server of a plan's zone answers now with the records that the plan's apply wrote. */
export type ReadDnsStanding = (plan: Plan, records: readonly ZoneRecord[]) => Promise<NameStanding>

/** The monitor and the diagnosis share this comparison, so that they cannot disagree. */
export function dnsStandingReader(clients: ZoneClients): ReadDnsStanding {
  return async (plan, records) => {
    const reader = clients.primaryOf(plan.request.zone)
    if (!reader) return { name: { kind: 'not_asked', why: 'zone_not_managed' }, records: null }
    const [answer, held] = await Promise.all([addressesOf(reader, plan.host), holdsExactly(reader, records)])
    return judgeApplied(answer, held, addressValues(plan.host, records))
  }
}

/** The values of the host's own records, without the TXT record that marks the owner. */
const addressValues = (host: string, records: readonly ZoneRecord[]): string[] =>
  records.flatMap(({ name, type, value }) => (name === host && type !== 'TXT' ? [value] : []))
