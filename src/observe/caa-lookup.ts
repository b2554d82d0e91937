import { randomBytes } from 'node:crypto'
import type { CaaProperty, DnsOutcome, DnsQuestion, DnsReader, DnsRecord } from '../dns/contract.ts'
import { isInZone, selfAndAncestors } from '../model/dns-name.ts'
import { comesFromWildcard, nameBelow, noAnswerText, type Reading, readOutcome } from './reading.ts'

/** The nearest non-empty CAA set of a name or its parents (RFC 8659 section 3). */
export type CaaLookup = CaaAtName | { readonly kind: 'unknown'; readonly reason: string } | { readonly kind: 'none' }

interface CaaAtName {
  readonly kind: 'found'
  readonly owner: string
  readonly properties: readonly CaaProperty[]
}

interface Alias {
  readonly kind: 'alias'
  readonly owner: string
  readonly target: string
}

export interface CaaSources {
  /** The zone's own primary. */
  readonly reader: DnsReader
  /** For the names above the zone and for aliases that leave the zone. Without a resolver these are not checked. */
  readonly resolver?: DnsReader | undefined
}

/** `alias`: the target that the name will have when it is published as an alias. */
export interface CaaSubject {
  readonly zone: string
  readonly name: string
  readonly alias?: string | undefined
}

/** Asks for the name and all its parents at the same time. The nearest CAA set decides. Aliases are followed. */
export async function lookUpCaa(sources: CaaSources, { zone, name, alias }: CaaSubject): Promise<CaaLookup> {
  const { reader, resolver } = sources
  const names = selfAndAncestors(name)
  const inside = names.filter((each) => isInZone(each, zone))
  const above = names.filter((each) => !isInZone(each, zone))
  const found = await Promise.all([askZone(reader, zone, inside), resolver ? askResolver(resolver, above) : []])
  const [own = NONE, ...ancestors] = found.flat()
  const canFollow = alias !== undefined && (resolver !== undefined || isInZone(alias, zone))
  const published = own.kind === 'none' && canFollow ? { kind: 'alias' as const, owner: name, target: alias } : own
  for (const each of [published, ...ancestors]) {
    const result = each.kind === 'alias' ? await follow(sources, zone, each) : each
    if (result.kind !== 'none') return result
  }
  return NONE
}

const NONE = { kind: 'none' } as const
const MAX_ALIASES = 8

/** Asks only for the alias target. The parents that count are those of the alias, not of the target. */
async function follow(sources: CaaSources, zone: string, alias: Alias): Promise<CaaLookup> {
  let { owner, target } = alias
  for (let hops = 0; hops < MAX_ALIASES; hops += 1) {
    if (!isInZone(target, zone)) return askBeyond(sources, zone, owner, target)
    const question = caaQuestion(target)
    const [outcome] = await sources.reader.ask([question])
    const reading = readOutcome(sources.reader.server, zone, question, outcome ?? NO_ANSWER)
    const next = atName(target, reading)
    if (next.kind !== 'alias') return next
    ;({ owner, target } = next)
  }
  return unknown(`${alias.owner} has a chain of more than ${MAX_ALIASES} aliases`)
}

async function askBeyond({ resolver }: CaaSources, zone: string, owner: string, target: string): Promise<CaaLookup> {
  if (!resolver)
    return unknown(`${owner} is an alias of ${target}, which is not in ${zone}, and no resolver is configured`)
  return (await askResolver(resolver, [target]))[0] ?? NONE
}

async function askZone(reader: DnsReader, zone: string, names: readonly string[]): Promise<(CaaLookup | Alias)[]> {
  const randomLabel = randomBytes(5).toString('hex')
  const questions = [...names, ...names.map((name) => nameBelow(name, randomLabel))].map(caaQuestion)
  const outcomes = await reader.ask(questions)
  const readings = questions.map((question, i) => readOutcome(reader.server, zone, question, outcomeAt(outcomes, i)))
  return names.map((name, i) => caaInZone(name, zone, readings[i], readings[names.length + i]))
}

/**
 * A wildcard's answer for a name below the zone apex does not count: when the CA asks, the host and every name between the
 * host and the zone exist.
 */
function caaInZone(
  name: string,
  zone: string,
  reading: Reading | undefined,
  below: Reading | undefined,
): CaaLookup | Alias {
  if (!reading || !below) return unknown(`there is no answer for ${name}`)
  const result = atName(name, reading)
  if (name === zone || result.kind === 'unknown' || result.kind === 'none') return result
  if (below.kind === 'uncertain') return unknown(below.reason)
  return comesFromWildcard(result.kind === 'alias' ? 'CNAME' : 'CAA', reading, below) ? NONE : result
}

function atName(name: string, reading: Reading): CaaLookup | Alias {
  if (reading.kind === 'uncertain') return unknown(reading.reason)
  if (reading.kind === 'delegated') return unknown(`${name} is in another zone that starts at ${reading.at}`)
  if (reading.kind === 'redirected') return unknown(`${name} is redirected by the DNAME at ${reading.at}`)
  if (reading.kind !== 'records') return NONE
  const target = reading.records.find((record) => record.target !== undefined)?.target
  return target === undefined ? found(name, reading.records) : { kind: 'alias', owner: name, target }
}

/** A resolver follows aliases, so all CAA records in its answer belong to the name in the question. */
async function askResolver(resolver: DnsReader, names: readonly string[]): Promise<CaaLookup[]> {
  const questions = names.map(caaQuestion)
  const outcomes = await resolver.ask(questions)
  return questions.map((question, i) => {
    const outcome = outcomeAt(outcomes, i)
    if (outcome.kind === 'no_answer') return unknown(noAnswerText(resolver.server, question, outcome.reason))
    const resolved = outcome.recursionAvailable && ['NOERROR', 'NXDOMAIN'].includes(outcome.rcode)
    return resolved
      ? found(question.name, outcome.answers)
      : unknown(
          `the resolver ${resolver.server} answered ${outcome.rcode} to ${question.name} CAA and did not resolve it`,
        )
  })
}

function found(owner: string, records: readonly DnsRecord[]): CaaLookup {
  const properties = records.flatMap(({ caa }) => caa ?? [])
  return properties.length > 0 ? { kind: 'found', owner, properties } : NONE
}

const caaQuestion = (name: string): DnsQuestion => ({ name, type: 'CAA' })

const NO_ANSWER: DnsOutcome = { kind: 'no_answer', reason: 'timeout' }
const outcomeAt = (outcomes: readonly DnsOutcome[], i: number): DnsOutcome => outcomes[i] ?? NO_ANSWER

const unknown = (reason: string): CaaLookup => ({ kind: 'unknown', reason })
