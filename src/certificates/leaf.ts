import type { X509Certificate } from 'node:crypto'
import type { InstalledCertificate } from './contract.ts'

export const describeLeaf = (
  x509: X509Certificate,
): Omit<InstalledCertificate, 'certificateFile' | 'keyFile' | 'issued'> => ({
  names: dnsNames(x509),
  notBefore: x509.validFromDate,
  notAfter: x509.validToDate,
  fingerprint: x509.fingerprint256,
  serial: x509.serialNumber,
})

/** The name of the certificate by which it covers the host. */
export const coveringName = (x509: X509Certificate, host: string): string | undefined =>
  x509.checkHost(host, { subject: 'never', partialWildcards: false })

/** For showing only: what a certificate covers is decided by `coveringName`. Quotes stand around names that mean to deceive. */
const dnsNames = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.includes('"')
    ? []
    : subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4).toLowerCase()] : []))
