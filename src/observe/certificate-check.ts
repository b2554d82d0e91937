import { type CaaVerdict, evaluateCaa } from '../certificates/caa.ts'
import type {
  AcmeDirectory,
  CertificateInventory,
  ChallengeResponder,
  CoveringCertificate,
} from '../certificates/contract.ts'
import type { CertificateFact } from '../model/finding.ts'
import { type CaaLookup, type CaaSources, lookUpCaa } from './caa-lookup.ts'

export interface CertificateSources extends CaaSources {
  readonly inventory: Pick<CertificateInventory, 'covering'>
  /** Without one nothing can be issued. */
  readonly directory?: AcmeDirectory | undefined
  /** The CA's names in CAA records, for when its directory does not tell them. */
  readonly caaIdentities: readonly string[]
  /** How the CA would be shown that the name is ours. */
  readonly challenge: ChallengeResponder['type']
  /** What would be ordered for a host. */
  readonly certificateNames: (zone: string, host: string) => readonly string[]
}

/** Whether HTTPS can be had for a host: by an installed certificate that covers it, or by one that can be issued. */
export async function checkCertificate(
  sources: CertificateSources,
  zone: string,
  host: string,
): Promise<CertificateFact> {
  const installed = await sources.inventory.covering(host, Date.now())
  return installed ? installedFact(installed) : checkIssuance(sources, zone, host)
}

async function checkIssuance(sources: CertificateSources, zone: string, host: string): Promise<CertificateFact> {
  const { directory, caaIdentities, challenge, resolver, certificateNames } = sources
  if (!directory) return unavailable('directory_unavailable', 'No certificate authority is configured.')
  const names = certificateNames(zone, host)
  const isWildcard = names.some((name) => name.startsWith('*.'))
  const [look, caa] = await Promise.all([directory.look(), lookUpCaa(sources, zone, isWildcard ? zone : host)])
  if (look.kind === 'unavailable') {
    return unavailable(
      'directory_unavailable',
      `The directory of the certificate authority is not available: ${look.reason}.`,
    )
  }
  const identities = look.caaIdentities.length > 0 ? look.caaIdentities : caaIdentities
  const notAbove = resolver ? undefined : zone
  return issuanceFact({ names, directory: directory.url, identities, challenge, notAbove }, caa)
}

interface Authority extends Pick<CertificateSources, 'challenge'> {
  readonly names: readonly string[]
  readonly directory: string
  readonly identities: readonly string[]
  /** The zone above which nobody looked. */
  readonly notAbove: string | undefined
}

function issuanceFact(authority: Authority, caa: CaaLookup): CertificateFact {
  const { names, directory, identities, challenge, notAbove } = authority
  if (caa.kind === 'unknown') return unavailable('caa_unknown', `The CAA records could not be read: ${caa.reason}.`)
  if (caa.kind === 'none') {
    const reach = notAbove === undefined ? '' : ` (above ${notAbove} nobody looked, since no resolver is configured)`
    return { kind: 'issuable', names, directory, caa: `no CAA record restricts it${reach}` }
  }
  const verdict = evaluateCaa(caa.properties, identities, challenge)
  const clause = `CAA records of ${caa.owner} ${verdict.because}${explain(verdict, identities)}`
  if (verdict.verdict === 'allowed') return { kind: 'issuable', names, directory, caa: `the ${clause}` }
  return unavailable(verdict.verdict === 'forbidden' ? 'caa_forbids' : 'caa_unknown', `The ${clause}.`)
}

function explain({ verdict }: CaaVerdict, identities: readonly string[]): string {
  if (verdict === 'unknown') return '; by which name ours goes is neither in its directory nor in the configuration'
  return verdict === 'forbidden' && identities.length > 0 ? `; ours is ${identities.join(' or ')}` : ''
}

const installedFact = ({ names, byWildcard, notAfter, fingerprint }: CoveringCertificate): CertificateFact => ({
  kind: 'installed',
  names,
  wildcard: byWildcard,
  notAfter: notAfter.toISOString(),
  fingerprint,
})

const unavailable = (
  reason: 'caa_forbids' | 'caa_unknown' | 'directory_unavailable',
  sentence: string,
): CertificateFact => ({ kind: 'unavailable', reason, sentence })
