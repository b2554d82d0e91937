import { type CaaVerdict, evaluateCaa } from '../certificates/budget/caa.ts'
import {
  type AcmeDirectory,
  type BudgetReader,
  budgetSentence,
  type CertificateInventory,
  type ChallengeType,
  type CoveringCertificate,
} from '../certificates/contract.ts'
import type { CaaRecord, CertificateFact } from '../model/finding.ts'
import type { Clock } from '../primitives/clock.ts'
import { type CaaLookup, type CaaSources, lookUpCaa } from './caa-lookup.ts'

export interface CertificateSources extends CaaSources {
  readonly inventory: Pick<CertificateInventory, 'covering'>
  readonly clock: Clock
  /** Without a directory no certificate can be issued. */
  readonly directory?: AcmeDirectory | undefined
  readonly budget: BudgetReader
  /** The alias target of published hosts in the zone, if they are published as aliases. */
  readonly aliasIn: (zone: string) => string | undefined
  /** The CA's names in CAA records. Used when the directory does not list them. */
  readonly caaIdentities: readonly string[]
  readonly challenge: ChallengeType
  /** The names of the certificate that would be ordered for a host. */
  readonly certificateNames: (zone: string, host: string) => readonly string[]
}

/** Whether a host can get HTTPS: by an installed certificate that covers it, or by a certificate that can be issued. */
export async function checkCertificate(
  sources: CertificateSources,
  zone: string,
  host: string,
): Promise<CertificateFact> {
  const installed = await sources.inventory.covering(host, sources.clock.now())
  return installed ? installedFact(installed) : checkIssuance(sources, zone, host)
}

/** Checks the budget first, so that an authority that asked for no requests is not asked for its directory. */
async function checkIssuance(sources: CertificateSources, zone: string, host: string): Promise<CertificateFact> {
  const { directory, caaIdentities, budget } = sources
  if (!directory)
    return unavailable('directory_unavailable', 'No certificate authority is configured. Set acme.directory.')
  const names = sources.certificateNames(zone, host)
  const spending = await budget.check({ names })
  if (spending.kind === 'refused') {
    const { because, retryAfter } = spending
    return { ...unavailable('budget', budgetSentence(directory.url, because)), retryAfter }
  }
  const [state, ...lookups] = await Promise.all([
    directory.read(),
    ...names.map((name) => lookUpCaa(sources, caaSubject(sources, zone, name))),
  ])
  if (state.kind === 'unavailable') {
    const sentence = `The directory of the certificate authority is not available: ${state.reason}.`
    const { retryAfter } = state
    return { ...unavailable('directory_unavailable', sentence), ...(retryAfter !== undefined && { retryAfter }) }
  }
  const identities = state.caaIdentities.length > 0 ? state.caaIdentities : caaIdentities
  const verdicts = lookups.map((caa, i) => caaFact(sources, zone, identities, names[i] ?? host, caa))
  const { failures, limits } = spending
  return (
    verdicts.find((verdict) => typeof verdict !== 'string') ?? {
      kind: 'issuable',
      directory: directory.url,
      names,
      caa: [...new Set(verdicts)].join('; '),
      budget: { failures, limits },
    }
  )
}

const caaSubject = ({ aliasIn }: CertificateSources, zone: string, name: string) =>
  isWildcard(name) ? { zone, name: name.slice(2) } : { zone, name, alias: aliasIn(zone) }

const isWildcard = (name: string): boolean => name.startsWith('*.')

type Unavailable = Extract<CertificateFact, { kind: 'unavailable' }>

/** A clause that says why CAA allows the name, or the refusal. */
function caaFact(
  { challenge, resolver }: CertificateSources,
  zone: string,
  identities: readonly string[],
  name: string,
  caa: CaaLookup,
): string | Unavailable {
  if (caa.kind === 'unknown') return unavailable('caa_unknown', `The CAA records could not be read: ${caa.reason}.`)
  if (caa.kind === 'none') {
    const scope = resolver ? '' : ` (names above ${zone} were not checked, because no resolver is configured)`
    return `no CAA record restricts it${scope}`
  }
  const verdict = evaluateCaa(caa.properties, { identities, challenge, wildcard: isWildcard(name) })
  const clause = `CAA records of ${caa.owner} ${verdict.because}${explain(verdict, identities)}`
  if (verdict.verdict === 'allowed') return `the ${clause}`
  const refusal = unavailable(verdict.verdict === 'forbidden' ? 'caa_forbids' : 'caa_unknown', `The ${clause}.`)
  return verdict.record ? { ...refusal, record: recordOf(caa.owner, verdict.record) } : refusal
}

const recordOf = (name: string, { tag, value }: { tag: string; value: string }): CaaRecord => ({
  name,
  tag,
  value: value.slice(0, 200),
})

function explain({ verdict }: CaaVerdict, identities: readonly string[]): string {
  if (verdict === 'unknown') return '; neither the directory nor acme.caaIdentities names our certificate authority'
  return verdict === 'forbidden' && identities.length > 0
    ? `; our certificate authority is ${identities.join(' or ')}`
    : ''
}

const installedFact = ({ names, byWildcard, notAfter, fingerprint }: CoveringCertificate): CertificateFact => ({
  kind: 'installed',
  names,
  wildcard: byWildcard,
  notAfter: notAfter.toISOString(),
  fingerprint,
})

const unavailable = (reason: Unavailable['reason'], sentence: string): Unavailable => ({
  kind: 'unavailable',
  reason,
  sentence,
})
