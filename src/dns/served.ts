import type { DnsOutcome, DnsQuestion, ZoneRecord } from './contract.ts'
import { encodeRdata, textOf } from './wire/rdata.ts'

/**
 * The values that a zone's own server serves for the name and type it was asked for, each as a text that equals that of
 * an equal value. Undefined where the outcome cannot be relied on.
 */
export function servedValues({ name, type }: DnsQuestion, outcome: DnsOutcome): ReadonlySet<string> | undefined {
  if (outcome.kind === 'no_answer' || !outcome.authoritative) return undefined
  if (outcome.rcode !== 'NOERROR' && outcome.rcode !== 'NXDOMAIN') return undefined
  const records = outcome.answers.filter((record) => record.owner === name && record.type === type)
  return new Set(records.map(({ rdata }) => comparable(type, rdata)))
}

/** The value of a record in the same form. */
export const valueIn = (record: ZoneRecord): string => comparable(record.type, encodeRdata(record))

function comparable(type: string, rdata: Buffer): string {
  if (type !== 'TXT') return rdata.toString('hex')
  return textOf(rdata)?.toString('hex') ?? `no text: ${rdata.toString('hex')}`
}
