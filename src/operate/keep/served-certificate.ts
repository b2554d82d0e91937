import type { CertificateInventory } from '../../certificates/contract.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { Handshake } from '../../edge/contract/visit.ts'
import { certificateId } from '../../edge/record/entry.ts'
import { isCertificateName } from '../../model/dns-name.ts'
import { type ChosenCertificate, coversHost } from '../../model/receipt.ts'
import { chosen } from '../../runs/steps/certificate.ts'
import type { FoundEntry } from './rebuilt-exposure.ts'

interface Sources {
  readonly edge: Pick<Edge, 'handshake'>
  readonly inventory: Pick<CertificateInventory, 'covering' | 'withFingerprint'>
  readonly now: number
}

/**
 * The certificate with which an edge serves the host of an entry: it covers the host and has the id that the entry names. Its pair
 * is taken from the folders of certificates or stays on the edge. No key is requested from an edge, which may be compromised.
 */
export async function servedCertificate(
  { host, certificate: id }: FoundEntry,
  { edge, inventory, now }: Sources,
): Promise<ChosenCertificate | undefined> {
  const covering = await inventory.covering(host, now)
  if (covering && certificateId(covering.fingerprint) === id)
    return chosen(covering, covering.issued ? 'issued' : 'installed')
  const shown = await edge.handshake(host)
  if (shown.kind !== 'certificate' || !isFingerprint(shown.fingerprint)) return undefined
  if (certificateId(shown.fingerprint) !== id) return undefined
  const installed = await inventory.withFingerprint(shown.fingerprint)
  if (!installed) return keptOnEdge(host, shown, now)
  return coversHost(installed.names, host) ? chosen(installed, installed.issued ? 'issued' : 'installed') : undefined
}

type Shown = Extract<Handshake, { kind: 'certificate' }>

const isFingerprint = (text: string): boolean => /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/.test(text)

/** The longest validity of a public certificate. A later end would postpone the renewal for ever. */
const LONGEST_LIFE_MS = 398 * 24 * 3_600_000

/** Only names that cover the host are kept: the next order is for these, and the edge must not choose others. */
function keptOnEdge(host: string, shown: Shown, now: number): ChosenCertificate | undefined {
  const { fingerprint, notBefore, serial } = shown
  const notAfter = Math.min(shown.notAfter, now + LONGEST_LIFE_MS)
  const names = shown.names.filter((name) => isCertificateName(name) && coversHost([name], host))
  const isPeriod = Number.isSafeInteger(notBefore) && Number.isSafeInteger(notAfter) && notBefore < notAfter
  if (names.length === 0 || !isPeriod || !/^[0-9A-Fa-f]{1,40}$/.test(serial)) return undefined
  return {
    ...{ fingerprint, names, notBefore, notAfter, serial },
    ...{ pairOnEdge: true, certificateFile: '', keyFile: '', source: 'issued', ours: true },
  }
}
