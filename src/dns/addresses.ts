import type { AddressAnswer, DnsOutcome, DnsReader, DnsRecord } from './contract.ts'
import { Cursor } from './wire/bytes.ts'
import { readName } from './wire/name.ts'
import { addressIn } from './wire/rdata.ts'

const TYPES = ['A', 'AAAA'] as const

/** What a server says a name leads to: a zone's own server, or a resolver that looks further. */
export async function addressesOf(reader: DnsReader, name: string): Promise<AddressAnswer> {
  const outcomes = await reader.ask(TYPES.map((type) => ({ name, type })))
  const doubtful = outcomes.find((outcome) => !isReliable(outcome))
  if (doubtful) return { kind: 'uncertain', reason: doubt(reader, name, doubtful) }
  const records = outcomes.flatMap((outcome) => (outcome.kind === 'answer' ? outcome.answers : []))
  const own = [...new Set(records.filter(({ owner }) => owner === name).flatMap(textIn))]
  const final = [...new Set(records.filter(({ type }) => type !== 'CNAME').flatMap(textIn))]
  return own.length + final.length === 0 ? { kind: 'missing' } : { kind: 'found', own, final }
}

/** With authority, or after looking everywhere. */
const isReliable = (outcome: DnsOutcome): boolean =>
  outcome.kind === 'answer' &&
  (outcome.authoritative || outcome.recursionAvailable) &&
  (outcome.rcode === 'NOERROR' || outcome.rcode === 'NXDOMAIN')

function doubt({ server }: DnsReader, name: string, outcome: DnsOutcome): string {
  if (outcome.kind === 'no_answer') return `${server} gave no answer about ${name} (${outcome.reason})`
  return `${server} answered ${outcome.rcode === 'NOERROR' ? 'without authority' : outcome.rcode} about ${name}`
}

function textIn({ type, rdata }: DnsRecord): string[] {
  if (type === 'CNAME') return [readName(new Cursor(rdata))]
  const address = type === 'A' || type === 'AAAA' ? addressIn(rdata) : undefined
  return address === undefined ? [] : [address]
}
