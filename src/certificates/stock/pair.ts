import type { X509Certificate } from 'node:crypto'
import type { ChosenCertificate } from '../../model/receipt.ts'
import { type CertificateInventory, type InstalledCertificate, IssueFault, type PemPair } from '../contract.ts'
import {
  keyDigest,
  type PemTexts,
  parseCertificate,
  publicKeyDigest,
  readPemTexts,
  splitPem,
  UnusablePemFile,
} from './pem-file.ts'

/** Checks the authority's certificate against the order. Throws `UnusablePemFile`. */
export function checkIssued(chainPem: string, keyPem: string, names: readonly string[], now: number) {
  const { certificates } = splitPem(chainPem)
  const [leaf, ...chain] = certificates.map(parseCertificate)
  if (!leaf) throw new UnusablePemFile('has no certificate')
  if (publicKeyDigest(leaf.publicKey) !== keyDigest(keyPem)) throw new UnusablePemFile('is for another key')
  const described = describeLeaf(leaf)
  const covers = (name: string) => (name.startsWith('*.') ? described.names.includes(name) : coveringName(leaf, name))
  const missing = names.find((name) => !covers(name))
  if (missing) throw new UnusablePemFile(`does not cover ${missing}`)
  if (described.notAfter.getTime() <= now) throw new UnusablePemFile('has expired')
  const broken = [leaf, ...chain].some(
    (certificate, i, all) => all[i + 1] && !certificate.checkIssued(all[i + 1] ?? leaf),
  )
  if (broken) throw new UnusablePemFile('has a broken chain')
  return { ...described, certificatePem: pemOf(certificates) }
}

/**
 * Reads the texts of an installed certificate. They are checked again, because the files may have been replaced. Rejects with
 * IssueFault.
 */
export async function loadPair(
  installed: Pick<InstalledCertificate, 'certificateFile' | 'keyFile' | 'fingerprint'>,
): Promise<PemPair> {
  const { certificateFile, keyFile, fingerprint } = installed
  const [{ certificates }, { keys }] = await Promise.all([readTexts(certificateFile), readTexts(keyFile)])
  const leaf = inFile(certificateFile, () => certificates.map(parseCertificate)[0])
  if (leaf?.fingerprint256 !== fingerprint) throw unusable(certificateFile, 'has another certificate than before')
  const wanted = publicKeyDigest(leaf.publicKey)
  const key = inFile(keyFile, () => keys.find((text) => keyDigest(text) === wanted))
  if (!key) throw unusable(keyFile, `does not have the key of the certificate in ${certificateFile}`)
  return { certificatePem: pemOf(certificates), keyPem: pemOf([key]), fingerprint }
}

/**
 * Loads the pair that a run has chosen. A pair that was replaced during the run may have moved: the inventory finds it by its
 * fingerprint. Undefined for a pair that only edges have.
 */
export async function loadChosenPair(
  inventory: Pick<CertificateInventory, 'withFingerprint'>,
  chosen: Pick<ChosenCertificate, 'fingerprint' | 'certificateFile' | 'keyFile' | 'pairOnEdge'>,
): Promise<PemPair | undefined> {
  const { fingerprint, pairOnEdge } = chosen
  if (pairOnEdge && !(await inventory.withFingerprint(fingerprint))) return undefined
  return loadPair(chosen).catch(async (error: unknown) => {
    const moved = await inventory.withFingerprint(fingerprint)
    if (!moved) throw error
    return loadPair(moved)
  })
}

const readTexts = (file: string): Promise<PemTexts> =>
  readPemTexts(file).catch((error: unknown) => {
    throw error instanceof UnusablePemFile ? unusable(file, error.message) : error
  })

function inFile<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof UnusablePemFile ? unusable(file, error.message) : error
  }
}

const unusable = (file: string, clause: string): IssueFault => new IssueFault('local', `The file ${file} ${clause}.`)

const pemOf = (texts: readonly string[]): string => `${texts.join('\n')}\n`

export const describeLeaf = (
  x509: X509Certificate,
): Omit<InstalledCertificate, 'certificateFile' | 'keyFile' | 'issued'> => ({
  names: dnsNames(x509),
  notBefore: x509.validFromDate,
  notAfter: x509.validToDate,
  fingerprint: x509.fingerprint256,
  serial: x509.serialNumber,
})

/** The name in the certificate that covers the host. */
export const coveringName = (x509: X509Certificate, host: string): string | undefined =>
  x509.checkHost(host, { subject: 'never', partialWildcards: false })

/** For display only: `coveringName` decides what a certificate covers. OpenSSL quotes names with special characters; such names are not shown. */
const dnsNames = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.includes('"')
    ? []
    : subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4).toLowerCase()] : []))
