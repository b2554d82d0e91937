import type { DnsQuestion } from '../dns/contract.ts'
import { isInZone, selfAndAncestors } from '../model/dns-name.ts'
import { CONFLICTING_TYPES, type NameFact } from '../model/finding.ts'
import { comesFromWildcard, nameBelow, type Reading } from './reading.ts'

/** Names are canonical. `randomLabel` must be unused in the zone. */
export interface NameQuery {
  readonly zone: string
  readonly host: string
  readonly randomLabel: string
}

/** The answers so far, by question. */
export class Evidence {
  readonly #readings = new Map<string, Reading>()

  add({ name, type }: DnsQuestion, reading: Reading): void {
    this.#readings.set(`${name} ${type}`, reading)
  }

  of({ name, type }: DnsQuestion): Reading | undefined {
    return this.#readings.get(`${name} ${type}`)
  }

  all(): Reading[] {
    return [...this.#readings.values()]
  }
}

export interface MoreToAsk {
  readonly ask: readonly DnsQuestion[]
}

/** Decides from the evidence, or returns the questions that are still open. */
export function judgeName(query: NameQuery, evidence: Evidence): NameFact | MoreToAsk {
  const { zone, host } = query
  const mark = `_drawbridge.${host}`
  const missing = firstQuestions(query, mark).filter((question) => !evidence.of(question))
  if (missing.length > 0) return { ask: missing }
  const elsewhere = unknownOrElsewhere(query, evidence)
  if (elsewhere) return elsewhere

  const hostState = stateOf(host, CONFLICTING_TYPES, query, evidence)
  const markState = stateOf(mark, ['TXT'], query, evidence)
  const ask = [hostState, markState].flatMap((state) => (state.kind === 'asking' ? state.ask : []))
  if (ask.length > 0) return { ask }

  if (hostState.kind === 'own') return taken(host, hostState.types)
  if (markState.kind === 'own') return { kind: 'taken', by: 'owner_mark', types: markState.types, at: mark }
  const torn = [hostState, markState].find((state) => state.kind === 'contradictory')
  if (torn?.kind === 'contradictory') return unknown(`the answers about ${torn.name} in ${zone} contradict each other`)
  return {
    kind: 'free',
    wildcardTypes: hostState.kind === 'wildcard' ? hostState.types : [],
    emptyNonTerminal: hostState.kind === 'empty',
  }
}

function firstQuestions({ zone, host }: NameQuery, mark: string): DnsQuestion[] {
  return [
    { name: zone, type: 'SOA' },
    ...CONFLICTING_TYPES.map((type) => ({ name: host, type })),
    { name: mark, type: 'TXT' },
    ...questionsAbove(zone, host),
  ]
}

/** NS records at the zone apex are not a delegation. Any other NS or DNAME above the host delegates or redirects it. */
function questionsAbove(zone: string, host: string): DnsQuestion[] {
  const above = selfAndAncestors(host).slice(1)
  const inside = above.filter((name) => isInZone(name, zone))
  const types = (name: string) => (name === zone ? ['DNAME'] : ['NS', 'DNAME'])
  return inside.flatMap((name) => types(name).map((type) => ({ name, type })))
}

/** The cases in which the zone's own records do not decide: an unreliable answer, a delegation, a redirection. */
function unknownOrElsewhere({ zone, host }: NameQuery, evidence: Evidence): NameFact | undefined {
  const readings = evidence.all()
  const doubt = readings.find((reading) => reading.kind === 'uncertain')
  if (doubt?.kind === 'uncertain') return unknown(doubt.reason)
  if (!holds(evidence.of({ name: zone, type: 'SOA' }), 'SOA'))
    return unknown(`the server does not serve the zone ${zone}`)
  const redirect = readings.find((reading) => reading.kind === 'redirected')
  if (redirect?.kind === 'redirected') return { kind: 'taken', by: 'dname', types: ['DNAME'], at: redirect.at }
  const cut = readings.find((reading) => reading.kind === 'delegated')
  if (cut?.kind === 'delegated') return { kind: 'taken', by: 'delegation', types: ['NS'], at: cut.at }
  const found = questionsAbove(zone, host).find((question) => holds(evidence.of(question), question.type))
  if (!found) return undefined
  return { kind: 'taken', by: found.type === 'NS' ? 'delegation' : 'dname', types: [found.type], at: found.name }
}

const holds = (reading: Reading | undefined, type: string): boolean =>
  reading?.kind === 'records' && reading.records.some((record) => record.type === type)

type NameState =
  | { readonly kind: 'asking'; readonly ask: readonly DnsQuestion[] }
  | { readonly kind: 'absent' | 'empty' }
  | { readonly kind: 'own' | 'wildcard'; readonly types: readonly string[] }
  | { readonly kind: 'contradictory'; readonly name: string }

/** The state of one name by its answers for `types`. If the name exists without them, ANY is asked. */
function stateOf(name: string, types: readonly string[], query: NameQuery, evidence: Evidence): NameState {
  const readings = types.flatMap((type) => evidence.of({ name, type }) ?? [])
  const any: DnsQuestion = { name, type: 'ANY', over: 'tcp' }
  if (readings.every(({ kind }) => kind === 'no_name')) return { kind: 'absent' }
  if (readings.some(({ kind }) => kind === 'no_name')) return { kind: 'contradictory', name }
  if (readings.some(({ kind }) => kind === 'records')) return originOf(name, readings, query, evidence)
  const others = evidence.of(any)
  if (!others) return { kind: 'asking', ask: [any] }
  if (others.kind === 'no_name') return { kind: 'contradictory', name }
  return others.kind === 'records' ? originOf(name, [others], query, evidence) : { kind: 'empty' }
}

/** Whether the records of a name are its own or come from a wildcard. */
function originOf(name: string, readings: readonly Reading[], query: NameQuery, evidence: Evidence): NameState {
  const atName = merged(readings)
  const types = [...new Set(atName.records.map(({ type }) => type))]
  const below = types.map((type) => ({ name: nameBelow(name, query.randomLabel), type }))
  const ask = below.filter((question) => !evidence.of(question))
  if (ask.length > 0) return { kind: 'asking', ask }
  const inherited = below.every((question) => {
    const reading = evidence.of(question)
    return reading !== undefined && comesFromWildcard(question.type, atName, reading)
  })
  return { kind: inherited ? 'wildcard' : 'own', types }
}

const merged = (readings: readonly Reading[]) => ({
  kind: 'records' as const,
  records: readings.flatMap((reading) => (reading.kind === 'records' ? reading.records : [])),
})

/** NS records below the zone apex are a delegation. */
const taken = (at: string, types: readonly string[]): NameFact =>
  types.includes('NS')
    ? { kind: 'taken', by: 'delegation', types: ['NS'], at }
    : { kind: 'taken', by: 'record', types, at }

const unknown = (reason: string): NameFact => ({ kind: 'unknown', reason })
