import type { DnsAnswer, DnsOutcome, DnsQuestion, DnsRecord, NoAnswer } from '../dns/contract.ts'
import { isInZone } from '../model/dns-name.ts'

/** The meaning of an answer of the zone's primary for the name in the question. `reason` is a clause. */
export type Reading =
  | { readonly kind: 'records'; readonly records: readonly DnsRecord[] }
  /** The name exists, or a wildcard matches it, without a record of this type. */
  | { readonly kind: 'no_records' }
  | { readonly kind: 'no_name' }
  /** The name is in another zone that starts at `at`. */
  | { readonly kind: 'delegated'; readonly at: string }
  /** A DNAME at `at`, above the name, redirects it. */
  | { readonly kind: 'redirected'; readonly at: string }
  | { readonly kind: 'uncertain'; readonly reason: string }

/** Records that a signing server adds to other records. */
const BOOKKEEPING = new Set(['RRSIG', 'NSEC'])
/** With answers, these codes describe the target of an alias and not the name itself. */
const RCODES_WITH_ANSWER = new Set(['NOERROR', 'NXDOMAIN', 'YXDOMAIN'])

/** `question` must be about a name in `zone`. */
export function readOutcome(server: string, zone: string, question: DnsQuestion, outcome: DnsOutcome): Reading {
  if (outcome.kind === 'no_answer') return uncertain(noAnswerText(server, question, outcome.reason))
  if (outcome.answers.length > 0) return readAnswers(server, zone, question, outcome)
  if (outcome.rcode === 'NOERROR' && !outcome.authoritative) return readReferral(server, zone, question, outcome)
  return readNegative(server, zone, question, outcome)
}

function readAnswers(server: string, zone: string, question: DnsQuestion, answer: DnsAnswer): Reading {
  if (!RCODES_WITH_ANSWER.has(answer.rcode)) return uncertain(answeredText(server, question, answer.rcode))
  if (!answer.authoritative) return uncertain(`${answeredText(server, question, answer.rcode)} without authority`)
  const redirect = answer.answers.find(
    ({ type, owner }) => type === 'DNAME' && owner !== question.name && isBetween(question.name, owner, zone),
  )
  if (redirect) return { kind: 'redirected', at: redirect.owner }
  const records = answer.answers.filter(({ owner, type }) => owner === question.name && !BOOKKEEPING.has(type))
  if (records.length === 0) return uncertain(`${server} answered ${text(question)} with records of other names`)
  if (question.type === 'ANY' && records.every(isAnyRefusal)) return uncertain(`${server} does not answer ANY`)
  return { kind: 'records', records }
}

function readReferral(server: string, zone: string, question: DnsQuestion, answer: DnsAnswer): Reading {
  const cut = answer.authority.find(({ type, owner }) => type === 'NS' && isBetween(question.name, owner, zone))
  if (cut && cut.owner !== zone) return { kind: 'delegated', at: cut.owner }
  return uncertain(`${answeredText(server, question, answer.rcode)} without authority`)
}

function readNegative(server: string, zone: string, question: DnsQuestion, answer: DnsAnswer): Reading {
  if (answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN')
    return uncertain(answeredText(server, question, answer.rcode))
  if (!answer.authoritative) return uncertain(`${answeredText(server, question, answer.rcode)} without authority`)
  const zoneOfAnswer = answer.authority.find(({ type }) => type === 'SOA')?.owner ?? zone
  if (zoneOfAnswer !== zone) {
    // A child zone on the same server sends no referral, but its negative answer names the child zone.
    if (isBetween(question.name, zoneOfAnswer, zone)) return { kind: 'delegated', at: zoneOfAnswer }
    return uncertain(`${server} answered ${text(question)} from the zone ${zoneOfAnswer || '.'}`)
  }
  return { kind: answer.rcode === 'NXDOMAIN' ? 'no_name' : 'no_records' }
}

/** Whether `candidate` is `name` or above it, and not above `zone`. */
const isBetween = (name: string, candidate: string, zone: string): boolean =>
  isInZone(name, candidate) && isInZone(candidate, zone)

/** The HINFO record with which a server declines ANY (RFC 8482). */
const isAnyRefusal = ({ type, rdata }: DnsRecord): boolean =>
  type === 'HINFO' && rdata.subarray(0, 8).equals(Buffer.from('\x07RFC8482'))

const uncertain = (reason: string): Reading => ({ kind: 'uncertain', reason })

const answeredText = (server: string, question: DnsQuestion, rcode: string): string =>
  `${server} answered ${rcode} to ${text(question)}`

const text = ({ name, type }: DnsQuestion): string => `${name} ${type}`

export function noAnswerText(server: string, question: DnsQuestion, reason: NoAnswer['reason']): string {
  switch (reason) {
    case 'timeout':
      return `${server} did not answer ${text(question)} in time`
    case 'unreachable':
      return `${server} could not be reached for ${text(question)}`
    case 'malformed':
      return `${server} answered ${text(question)} with a malformed message`
    case 'unaskable':
      return `the name in ${text(question)} is too long for DNS`
  }
}

/**
 * A name whose answers show whether records at `name` are its own. A wildcard above `name` answers for `name` and for all names
 * below it, but only while `name` does not exist. The asterisk label excludes a wildcard directly below `name`: if there is
 * one, the asterisk name exists.
 */
export const nameBelow = (name: string, randomLabel: string): string => `${randomLabel}.*.${name}`

/** Whether the records of `type` at a name come from a wildcard above it. `below`: the reading of `nameBelow`. */
export function comesFromWildcard(type: string, atName: Reading, below: Reading): boolean {
  const own = valuesOf(type, atName)
  const inherited = valuesOf(type, below)
  return own.size > 0 && own.size === inherited.size && [...own].every((value) => inherited.has(value))
}

const valuesOf = (type: string, reading: Reading): Set<string> =>
  new Set(recordsOf(reading).flatMap((record) => (record.type === type ? [record.rdata.toString('hex')] : [])))

const recordsOf = (reading: Reading): readonly DnsRecord[] => (reading.kind === 'records' ? reading.records : [])
