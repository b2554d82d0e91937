import type { DnsRecord } from '../dns/contract.ts'
import type { Reading } from './reading.ts'

/**
 * A name whose answers tell whether records found at `name` are its own. A wildcard above `name` answers for it and for
 * everything below it, but only while `name` does not exist; once it does, nothing above it matches below it. The
 * asterisk in between keeps a wildcard directly below `name` from answering: if there is one, the asterisk exists.
 */
export const nameBelow = (name: string, randomLabel: string): string => `${randomLabel}.*.${name}`

/** Whether the records of `type` read at a name come from a wildcard above it, given what was read at `nameBelow`. */
export function comesFromWildcard(type: string, atName: Reading, below: Reading): boolean {
  const own = valuesOf(type, atName)
  const inherited = valuesOf(type, below)
  return own.size > 0 && own.size === inherited.size && [...own].every((value) => inherited.has(value))
}

const valuesOf = (type: string, reading: Reading): Set<string> =>
  new Set(recordsOf(reading).flatMap((record) => (record.type === type ? [record.rdata.toString('hex')] : [])))

const recordsOf = (reading: Reading): readonly DnsRecord[] => (reading.kind === 'records' ? reading.records : [])
