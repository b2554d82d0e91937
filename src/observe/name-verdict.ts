import type { DnsQuestion } from '../dns/contract.ts'
import { isInZone, selfAndAncestors } from '../model/dns-name.ts'
import { CONFLICTING_TYPES, type NameFact } from '../model/finding.ts'
import { comesFromWildcard, nameBelow, type Reading } from './reading.ts'

/** One look at a name: canonical names, and a label that nobody else uses. */
export interface NameQuery {
  readonly zone: string
  readonly host: string
  readonly randomLabel: string
}

/** What was read so far, by question. */
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

/** Decides from the evidence, or names the questions whose answers are still needed. */
export function judgeName(look: NameQuery, evidence: Evidence): NameFact | MoreToAsk {
  const { zone, host } = look
  const mark = `_drawbridge.${host}`
  const missing = firstQuestions(look, mark).filter((question) => !evidence.of(question))
  if (missing.length > 0) return { ask: missing }
  const elsewhere = unknownOrElsewhere(look, evidence)
  if (elsewhere) return elsewhere

  const hostState = stateOf(host, CONFLICTING_TYPES, look, evidence)
  const markState = stateOf(mark, ['TXT'], look, evidence)
  const ask = [hostState, markState].flatMap((state) => (state.kind === 'asking' ? state.ask : []))
  if (ask.length > 0) return { ask }

  if (hostState.kind === 'own') return taken(host, hostState.types)
  if (markState.kind === 'own') return { kind: 'taken', by: 'owner_mark', types: markState.types, at: mark }
  const torn = [hostState, markState].find((state) => state.kind === 'contradictory')
  if (torn?.kind === 'contradictory') return unknown(`The answers about ${torn.name} in ${zone} contradict each other`)
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

/** The zone's own NS records are no delegation; everything else above the host may cut it off or redirect it. */
function questionsAbove(zone: string, host: string): DnsQuestion[] {
  const above = selfAndAncestors(host).slice(1)
  const inside = above.filter((name) => isInZone(name, zone))
  const types = (name: string) => (name === zone ? ['DNAME'] : ['NS', 'DNAME'])
  return inside.flatMap((name) => types(name).map((type) => ({ name, type })))
}

/** What makes the zone's own records moot: an answer to doubt, another zone, a redirection. */
function unknownOrElsewhere({ zone, host }: NameQuery, evidence: Evidence): NameFact | undefined {
  const readings = evidence.all()
  const doubt = readings.find((reading) => reading.kind === 'uncertain')
  if (doubt?.kind === 'uncertain') return unknown(doubt.reason)
  if (!holds(evidence.of({ name: zone, type: 'SOA' }), 'SOA'))
    return unknown(`The server does not hold the zone ${zone}`)
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

/** What stands at one name, given its answers to `types`; other types are asked for where the name exists without them. */
function stateOf(name: string, types: readonly string[], look: NameQuery, evidence: Evidence): NameState {
  const readings = types.flatMap((type) => evidence.of({ name, type }) ?? [])
  const any: DnsQuestion = { name, type: 'ANY', over: 'tcp' }
  if (readings.every(({ kind }) => kind === 'no_name')) return { kind: 'absent' }
  if (readings.some(({ kind }) => kind === 'no_name')) return { kind: 'contradictory', name }
  if (readings.some(({ kind }) => kind === 'records')) return originOf(name, readings, look, evidence)
  const others = evidence.of(any)
  if (!others) return { kind: 'asking', ask: [any] }
  if (others.kind === 'no_name') return { kind: 'contradictory', name }
  return others.kind === 'records' ? originOf(name, [others], look, evidence) : { kind: 'empty' }
}

/** Whether the records read at a name are its own or a wildcard's. */
function originOf(name: string, readings: readonly Reading[], look: NameQuery, evidence: Evidence): NameState {
  const atName = merged(readings)
  const types = [...new Set(atName.records.map(({ type }) => type))]
  const below = types.map((type) => ({ name: nameBelow(name, look.randomLabel), type }))
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

/** NS records anywhere but at the top of their zone are a delegation. */
const taken = (at: string, types: readonly string[]): NameFact =>
  types.includes('NS')
    ? { kind: 'taken', by: 'delegation', types: ['NS'], at }
    : { kind: 'taken', by: 'record', types, at }

const unknown = (reason: string): NameFact => ({ kind: 'unknown', reason })
