import { randomBytes } from 'node:crypto'
import type { CaaProperty, DnsOutcome, DnsQuestion, DnsReader, DnsRecord } from '../dns/contract.ts'
import { isInZone, selfAndAncestors } from '../model/dns-name.ts'
import { type Reading, readOutcome, silence } from './reading.ts'
import { comesFromWildcard, nameBelow } from './wildcard.ts'

/** The first non-empty CAA set from a host upwards (RFC 8659 section 3). */
export type CaaLookup = CaaAtName | { readonly kind: 'unknown'; readonly reason: string } | { readonly kind: 'none' }

interface CaaAtName {
  readonly kind: 'found'
  readonly owner: string
  readonly properties: readonly CaaProperty[]
}

export interface CaaSources {
  /** The zone's own primary. */
  readonly reader: DnsReader
  /** For the names above the zone; without one they are not looked at. */
  readonly resolver?: DnsReader | undefined
}

/** Asks for every name on the way at the same time; the nearest that says something decides. */
export async function lookUpCaa({ reader, resolver }: CaaSources, zone: string, host: string): Promise<CaaLookup> {
  const names = selfAndAncestors(host)
  const inside = names.filter((name) => isInZone(name, zone))
  const above = names.filter((name) => !isInZone(name, zone))
  const found = await Promise.all([askZone(reader, zone, inside), resolver ? askResolver(resolver, above) : []])
  return found.flat().find(({ kind }) => kind !== 'none') ?? { kind: 'none' }
}

async function askZone(reader: DnsReader, zone: string, names: readonly string[]): Promise<CaaLookup[]> {
  const randomLabel = randomBytes(5).toString('hex')
  const questions = [...names, ...names.map((name) => nameBelow(name, randomLabel))].map(caaQuestion)
  const outcomes = await reader.ask(questions)
  const readings = questions.map((question, i) => readOutcome(reader.server, zone, question, outcomeAt(outcomes, i)))
  return names.map((name, i) => caaInZone(name, zone, readings[i], readings[names.length + i]))
}

/**
 * A wildcard's answer for a name below the zone's top does not count: when the CA looks, the host exists, and so does
 * every name between it and the zone.
 */
function caaInZone(name: string, zone: string, atName: Reading | undefined, below: Reading | undefined): CaaLookup {
  if (!atName || !below) return unknown(`${name} was not asked for`)
  if (atName.kind === 'uncertain') return unknown(atName.reason)
  if (atName.kind === 'delegated') return unknown(`${name} lies in another zone that begins at ${atName.at}`)
  if (atName.kind === 'redirected') return unknown(`${name} is redirected by the DNAME at ${atName.at}`)
  if (atName.kind !== 'records') return { kind: 'none' }
  const type = atName.records.some((record) => record.type === 'CNAME') ? 'CNAME' : 'CAA'
  if (name !== zone && below.kind === 'uncertain') return unknown(below.reason)
  if (name !== zone && comesFromWildcard(type, atName, below)) return { kind: 'none' }
  return type === 'CAA' ? found(name, atName.records) : unknown(`${name} is an alias of another name`)
}

/** A resolver follows aliases by itself: whatever CAA records it brings are those of the name asked for. */
async function askResolver(resolver: DnsReader, names: readonly string[]): Promise<CaaLookup[]> {
  const questions = names.map(caaQuestion)
  const outcomes = await resolver.ask(questions)
  return questions.map((question, i) => {
    const outcome = outcomeAt(outcomes, i)
    if (outcome.kind === 'no_answer') return unknown(silence(resolver.server, question, outcome.reason))
    const resolved = outcome.recursionAvailable && ['NOERROR', 'NXDOMAIN'].includes(outcome.rcode)
    return resolved
      ? found(question.name, outcome.answers)
      : unknown(`${resolver.server} answered ${outcome.rcode} to ${question.name} CAA without resolving it`)
  })
}

function found(owner: string, records: readonly DnsRecord[]): CaaLookup {
  const properties = records.flatMap(({ caa }) => caa ?? [])
  return properties.length > 0 ? { kind: 'found', owner, properties } : { kind: 'none' }
}

const caaQuestion = (name: string): DnsQuestion => ({ name, type: 'CAA' })

const outcomeAt = (outcomes: readonly DnsOutcome[], i: number): DnsOutcome =>
  outcomes[i] ?? { kind: 'no_answer', reason: 'timeout' }

const unknown = (reason: string): CaaLookup => ({ kind: 'unknown', reason })
