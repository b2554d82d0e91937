import type { DnsAnswer, DnsOutcome, DnsQuestion, DnsRecord, NoAnswer } from '../dns/contract.ts'
import { isInZone } from '../model/dns-name.ts'

/** What an answer of a zone's own server says about the name that was asked for. */
export type Reading =
  | { readonly kind: 'records'; readonly records: readonly DnsRecord[] }
  /** The name exists, or a wildcard stands for it, without a record of this type. */
  | { readonly kind: 'no_records' }
  | { readonly kind: 'no_name' }
  /** The name lies in another zone that begins at `at`. */
  | { readonly kind: 'delegated'; readonly at: string }
  /** A DNAME at `at`, above the name, sends it elsewhere. */
  | { readonly kind: 'redirected'; readonly at: string }
  | { readonly kind: 'uncertain'; readonly reason: string }

/** Signatures and proofs that a signing server adds by itself: they stand only beside other records. */
const BOOKKEEPING = new Set(['RRSIG', 'NSEC'])
/** With an answer these are news of where the alias leads, not of the name itself. */
const RCODES_WITH_ANSWER = new Set(['NOERROR', 'NXDOMAIN', 'YXDOMAIN'])

/** Reads the outcome of `question`, asked of `server` for a name inside `zone`. */
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
  if (records.length === 0) return uncertain(`${server} answered about other names when asked for ${text(question)}`)
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
    // A child zone on the same server: there is no referral, but the negative answer names the zone it comes from.
    if (isBetween(question.name, zoneOfAnswer, zone)) return { kind: 'delegated', at: zoneOfAnswer }
    return uncertain(`${server} answered ${text(question)} from the zone ${zoneOfAnswer || '.'}`)
  }
  return { kind: answer.rcode === 'NXDOMAIN' ? 'no_name' : 'no_records' }
}

/** Whether `candidate` is `name` or above it, and not above `zone`. */
const isBetween = (name: string, candidate: string, zone: string): boolean =>
  isInZone(name, candidate) && isInZone(candidate, zone)

/** The invented HINFO record by which a server declines ANY (RFC 8482). */
const isAnyRefusal = ({ type, rdata }: DnsRecord): boolean =>
  type === 'HINFO' && rdata.subarray(0, 8).equals(Buffer.from('\x07RFC8482'))

const uncertain = (reason: string): Reading => ({ kind: 'uncertain', reason })

const answeredText = (server: string, question: DnsQuestion, rcode: string): string =>
  `${server} answered ${rcode} to ${text(question)}`

const text = ({ name, type }: DnsQuestion): string => `${name} ${type}`

/** A sentence for an outcome that is no answer. */
export function noAnswerText(server: string, question: DnsQuestion, reason: NoAnswer['reason']): string {
  switch (reason) {
    case 'timeout':
      return `${server} did not answer ${text(question)} in time`
    case 'unreachable':
      return `${server} could not be reached for ${text(question)}`
    case 'malformed':
      return `${server} answered ${text(question)} with a message that cannot be read`
    case 'unaskable':
      return `${text(question)} cannot be asked: the name is too long for DNS`
  }
}

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
