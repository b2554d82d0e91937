import { X509Certificate } from 'node:crypto'
import type { EdgeFile, KeylessCertificate, SiteCertificate, SitePair } from '../contract.ts'
import { hostEntry, MAX_PARTS, type PemKind, parsePath, pemFile } from './layout.ts'

/** 48 lines of at most 65 characters are below the 4,096 characters that nginx allows for one value. */
const LINES_PER_PART = 48
const PEM_LINE = /^(?:-----(?:BEGIN|END) (?:CERTIFICATE|(?:EC |RSA )?PRIVATE KEY)-----|[A-Za-z0-9+/]{1,64}={0,2})$/
const FINGERPRINT = /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/

/** Half of the fingerprint: still unique, and short enough for nginx's default hash tables. */
export function certificateId(fingerprint: string): string {
  if (!FINGERPRINT.test(fingerprint))
    throw new Error('The fingerprint of a certificate must be a SHA-256 hash in upper-case hex with colons.')
  return fingerprint.replaceAll(':', '').slice(0, 32).toLowerCase()
}

/** The files with the certificate and its key, unless the edge keeps them, and the map entry that names them for the host. */
export const renderCertificate = (host: string, certificate: SiteCertificate): EdgeFile[] => [
  ...(certificate.keyPem === undefined ? [] : renderPair(certificate)),
  renderEntry(host, certificate.fingerprint),
]

/** Throws for a text that is not PEM. */
export function renderPair({ fingerprint, certificatePem, keyPem }: SitePair): EdgeFile[] {
  const id = certificateId(fingerprint)
  return [...renderPem('certificate', id, certificatePem), ...renderPem('key', id, keyPem)]
}

/** The map entry that names the pair of a host. */
export const renderEntry = (host: string, fingerprint: string): EdgeFile => ({
  path: hostEntry(host),
  content: `${host} ${certificateId(fingerprint)};\n`,
  secret: false,
})

/** The certificate id in a host's map entry, also where somebody wrote something beside it. */
export const idInEntry = (entry: string): string | undefined => /^\s*\S+\s+([0-9a-f]{32})\s*;/.exec(entry)?.[1]

/** The PEM text in one part, empty when there is none. */
export const pemInPart = (part: string): string => /^[0-9a-f]{32} "([^"]*)";\n/.exec(part)?.[1] ?? ''

/** The certificates that files bring without a key. A text that is no certificate counts for none. */
export function keylessCertificates(files: readonly EdgeFile[]): KeylessCertificate[] {
  const contents = new Map(files.map(({ path, content }) => [path, content]))
  const ids = new Set(
    files.flatMap(({ path, content }) => {
      const parsed = parsePath(path)
      return parsed.kind === 'certificate' && !parsed.secret && content !== null ? [parsed.id] : []
    }),
  )
  return [...ids].flatMap((id) => {
    const keyPath = pemFile('key', id, 1)
    if (contents.has(keyPath)) return []
    const parts = Array.from({ length: MAX_PARTS.certificate }, (_, at) =>
      pemInPart(contents.get(pemFile('certificate', id, at + 1)) ?? ''),
    )
    const fingerprint = fingerprintOf(parts.join(''))
    return fingerprint === undefined ? [] : [{ fingerprint, keyPath }]
  })
}

function fingerprintOf(pem: string): string | undefined {
  try {
    return new X509Certificate(pem).fingerprint256
  } catch {
    return undefined
  }
}

function renderPem(kind: PemKind, id: string, pem: string): EdgeFile[] {
  const lines = pem.split(/\r?\n/).filter((line) => line !== '')
  if (lines.length === 0 || !lines.every((line) => PEM_LINE.test(line))) throw new Error(`The ${kind} is not PEM text.`)
  const parts = Array.from({ length: Math.ceil(lines.length / LINES_PER_PART) }, (_, index) =>
    lines.slice(index * LINES_PER_PART, (index + 1) * LINES_PER_PART),
  )
  if (parts.length > MAX_PARTS[kind]) throw new Error(`The ${kind} is too long for the nginx configuration.`)
  return parts.map((part, index) => ({
    path: pemFile(kind, id, index + 1),
    content: `${id} "${part.join('\n')}\n";\n`,
    secret: kind === 'key',
  }))
}
