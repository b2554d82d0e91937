import type { X509Certificate } from 'node:crypto'
import { certificateLevel } from '../../model/badge.ts'
import type { CertificateFinding, InstalledCertificate } from '../contract.ts'
import { type Listing, UnusablePemFile } from './pem-file.ts'

export interface CheckedFile {
  readonly path: string
  readonly content: FileSummary | UnusablePemFile
}

interface FileSummary {
  /** The first certificate of the file. */
  readonly leaf: Leaf | undefined
  readonly chainLength: number
  readonly keyDigests: readonly string[]
  /** Whether each certificate was issued by the next one. */
  readonly isChainSound: boolean
}

export interface Leaf extends Omit<InstalledCertificate, 'certificateFile' | 'keyFile' | 'issued'> {
  readonly der: Buffer
  /** Of its public key. */
  readonly keyDigest: string
  readonly isForServers: boolean
}

/** Current and coming problems. A certificate that a later one replaces is not reported as expiring. */
export function findingsIn(
  files: readonly CheckedFile[],
  pairs: readonly InstalledCertificate[],
  now: number,
): readonly CertificateFinding[] {
  const paired = new Set(pairs.map(({ fingerprint }) => fingerprint))
  const inUse = new Set(pairs.map(({ certificateFile }) => certificateFile))
  return [
    ...files.flatMap(({ path, content }) =>
      content instanceof UnusablePemFile
        ? [{ kind: 'unreadable' as const, path, names: [], sentence: `The file ${content.message}.` }]
        : [
            ...withoutKey(path, content, paired),
            ...(inUse.has(path) && !content.isChainSound ? brokenChain(path, content) : []),
          ],
    ),
    ...pairs.flatMap((certificate) => {
      const found = outOfTime(certificate, now)
      return found && !isReplaced(certificate, pairs) ? [found] : []
    }),
  ]
}

/** Reports a cut listing: a certificate outside the listing would be ordered again. */
export function tooMany({ folder: path, files, cutFrom }: Listing): CertificateFinding[] {
  if (cutFrom === undefined) return []
  const read = `The folder has ${cutFrom} files. Only ${files.length} of them are read`
  const sentence = `${read}, so certificates may be missing.`
  return [{ kind: 'too_many_files', path, names: [], sentence }]
}

/** Only a certificate with names can be served. CA certificates have none. */
function withoutKey(path: string, { leaf }: FileSummary, paired: ReadonlySet<string>): CertificateFinding[] {
  if (!leaf || paired.has(leaf.fingerprint)) return []
  const { names } = leaf
  const sentence = `The certificate for ${names.join(', ')} cannot be used: its private key is in none of the files, or it is not a server certificate.`
  return names.length === 0 ? [] : [{ kind: 'no_key', path, names, sentence }]
}

function brokenChain(path: string, { leaf }: FileSummary): CertificateFinding[] {
  if (!leaf) return []
  const { names } = leaf
  const sentence = `The chain behind the certificate for ${names.join(', ')} is broken: browsers may reject it. Install the full chain in the right order.`
  return [{ kind: 'chain_broken', path, names, sentence }]
}

export const isChainSound = (certificates: readonly X509Certificate[]): boolean =>
  certificates.every((certificate, i) => isIssuedBy(certificate, certificates[i + 1]))

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate | undefined): boolean =>
  !issuer || (certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey))

const isReplaced = ({ names, notAfter }: InstalledCertificate, pairs: readonly InstalledCertificate[]): boolean =>
  pairs.some((other) => other.notAfter > notAfter && names.every((name) => other.names.includes(name)))

function outOfTime(certificate: InstalledCertificate, now: number): CertificateFinding | undefined {
  const { certificateFile: path, names, notBefore, notAfter } = certificate
  const what = `The certificate for ${names.join(', ')}`
  if (now < notBefore.getTime())
    return { kind: 'not_yet_valid', path, names, sentence: `${what} is not valid before ${notBefore.toISOString()}.` }
  const level = certificateLevel({ notBefore: notBefore.getTime(), notAfter: notAfter.getTime() }, now)
  if (level === 'ok') return undefined
  if (level === 'expired')
    return { kind: 'expired', path, names, sentence: `${what} expired at ${notAfter.toISOString()}.` }
  const share = level === 'critical' ? 'a sixth' : 'a third'
  const sentence = `${what} has less than ${share} of its validity left: it expires at ${notAfter.toISOString()}.`
  return { kind: 'expiring', path, names, sentence }
}
