import type { AddressAnswer, DnsOutcome, DnsReader, DnsRecord } from './contract.ts'
import { Cursor } from './wire/bytes.ts'
import { readName } from './wire/name.ts'
import { addressIn } from './wire/rdata.ts'

const TYPES = ['A', 'AAAA'] as const

/** The addresses of a name, according to one server: the zone's primary, or a resolver. */
export async function addressesOf(reader: DnsReader, name: string): Promise<AddressAnswer> {
  const outcomes = await reader.ask(TYPES.map((type) => ({ name, type })))
  const unreliable = outcomes.find((outcome) => !isReliable(outcome))
  if (unreliable) return { kind: 'uncertain', reason: unreliableReason(reader, name, unreliable) }
  const records = outcomes.flatMap((outcome) => (outcome.kind === 'answer' ? outcome.answers : []))
  const own = [...new Set(records.filter(({ owner }) => owner === name).flatMap(textIn))]
  const final = [...new Set(records.filter(({ type }) => type !== 'CNAME').flatMap(textIn))]
  return own.length + final.length === 0 ? { kind: 'missing' } : { kind: 'found', own, final }
}

/** From an authoritative server or from a resolver, with a definite result. */
const isReliable = (outcome: DnsOutcome): boolean =>
  outcome.kind === 'answer' &&
  (outcome.authoritative || outcome.recursionAvailable) &&
  (outcome.rcode === 'NOERROR' || outcome.rcode === 'NXDOMAIN')

function unreliableReason({ server }: DnsReader, name: string, outcome: DnsOutcome): string {
  if (outcome.kind === 'no_answer') return `${server} sent no answer for ${name} (${outcome.reason})`
  return `${server} answered ${outcome.rcode === 'NOERROR' ? 'without authority' : outcome.rcode} for ${name}`
}

function textIn({ type, rdata }: DnsRecord): string[] {
  if (type === 'CNAME') return [readName(new Cursor(rdata))]
  const address = type === 'A' || type === 'AAAA' ? addressIn(rdata) : undefined
  return address === undefined ? [] : [address]
}
