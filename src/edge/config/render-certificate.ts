import type { EdgeFile, SiteCertificate } from '../contract.ts'
import { hostEntry, MAX_PARTS, type PemKind, pemFile } from './layout.ts'

/** At most 65 characters a line: well below the 4,096 that nginx takes as one value. */
const LINES_PER_PART = 48
const PEM_LINE = /^(?:-----(?:BEGIN|END) (?:CERTIFICATE|(?:EC |RSA )?PRIVATE KEY)-----|[A-Za-z0-9+/]{1,64}={0,2})$/
const FINGERPRINT = /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/

/** Half of the fingerprint: still unmistakable, and short enough for nginx's tables as they come. */
function certificateId({ fingerprint }: Pick<SiteCertificate, 'fingerprint'>): string {
  if (!FINGERPRINT.test(fingerprint)) throw new Error('not the SHA-256 fingerprint of a certificate')
  return fingerprint.replaceAll(':', '').slice(0, 32).toLowerCase()
}

/** The files that hold a certificate and its key, and the entry that gives it to the host. */
export function renderCertificate(host: string, certificate: SiteCertificate): EdgeFile[] {
  const id = certificateId(certificate)
  return [
    ...renderPem('certificate', id, certificate.certificatePem),
    ...renderPem('key', id, certificate.keyPem),
    { path: hostEntry(host), content: `${host} ${id};\n`, secret: false },
  ]
}

/** The id that a host's entry names. */
export const idInEntry = (entry: string): string | undefined => /^\S+ ([0-9a-f]{32});\n$/.exec(entry)?.[1]

function renderPem(kind: PemKind, id: string, pem: string): EdgeFile[] {
  const lines = pem.split(/\r?\n/).filter((line) => line !== '')
  if (lines.length === 0 || !lines.every((line) => PEM_LINE.test(line))) throw new Error(`the ${kind} is not plain PEM`)
  const parts = Array.from({ length: Math.ceil(lines.length / LINES_PER_PART) }, (_, index) =>
    lines.slice(index * LINES_PER_PART, (index + 1) * LINES_PER_PART),
  )
  if (parts.length > MAX_PARTS[kind]) throw new Error(`the ${kind} is too long`)
  return parts.map((part, index) => ({
    path: pemFile(kind, id, index + 1),
    content: `${id} "${part.join('\n')}\n";\n`,
    secret: kind === 'key',
  }))
}
