import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { issueCertificate, issuedAt } from './certificate.ts'

const DAY_MS = 86_400_000
const AUTHORITY_LIFE_MS = 20 * 365 * DAY_MS
const EDGE_LIFE_MS = 90 * DAY_MS
/** A service issues itself a new certificate long before this time. */
const SERVICE_LIFE_MS = 2 * DAY_MS

const NAME = 'Drawbridge edge authority'
const EDGE_NAME = /^([a-z0-9-]{1,32})\.edge\.drawbridge\.internal$/
const SERVICE_NAME = /^e(\d{1,9})\.([a-z0-9-]{1,63})\.service\.drawbridge\.internal$/

/** The names in certificates. They are not DNS names. */
export const edgeName = (server: string): string => `${server.toLowerCase()}.edge.drawbridge.internal`
const serviceName = (instance: string, edition: number): string =>
  `e${edition}.${instance
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, 63)}.service.drawbridge.internal`
const ENROLMENT_NAME = 'enrolment.drawbridge.internal'

export interface PemIdentity {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** The stored form of the authority, in PEM. */
export interface AuthorityPem {
  readonly key: string
  readonly certificate: string
}

export function newAuthority(now: number): AuthorityPem {
  const { key, publicKey } = newKey()
  const certificate = issueCertificate(
    { name: NAME, publicKey: createPublicKey(publicKey), use: undefined, from: now, lifeMs: AUTHORITY_LIFE_MS },
    { name: NAME, key: createPrivateKey(key) },
  )
  return { key, certificate }
}

/** Issues the certificates of agents and of services. */
export class Authority {
  readonly certificate: string
  readonly #signer: { readonly name: string; readonly key: ReturnType<typeof createPrivateKey> }

  constructor({ key, certificate }: AuthorityPem) {
    this.certificate = certificate
    this.#signer = { name: NAME, key: createPrivateKey(key) }
  }

  /** Issues a certificate for the key of an agent. Throws for a key that is not on P-256. */
  issueEdge(server: string, publicKeyPem: string, now: number): string {
    const publicKey = createPublicKey(publicKeyPem)
    if (publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('The key of an agent is on P-256.')
    return issueCertificate(
      { name: edgeName(server), publicKey, use: 'server', from: now, lifeMs: EDGE_LIFE_MS },
      this.#signer,
    )
  }

  /** `edition`: agents refuse certificates of a lower edition than they have seen. */
  issueService(instance: string, edition: number, now: number): PemIdentity {
    return this.#issue(serviceName(instance, edition), 'client', now, SERVICE_LIFE_MS)
  }

  /** Issues a certificate for the time of one enrolment. */
  issueEnrolment(now: number, lifeMs: number): PemIdentity {
    return this.#issue(ENROLMENT_NAME, 'server', now, lifeMs)
  }

  #issue(name: string, use: 'server' | 'client', from: number, lifeMs: number): PemIdentity {
    const { key, publicKey } = newKey()
    const cert = issueCertificate({ name, publicKey: createPublicKey(publicKey), use, from, lifeMs }, this.#signer)
    return { ca: this.certificate, cert, key }
  }
}

export function newKey(): { readonly key: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** The fingerprint that people compare. Throws for a text that is not a key. */
export function keyFingerprint(publicKeyPem: string): string {
  const key = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' })
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** Whether a certificate of the authority is that of the server's agent. */
export const isOfEdge = (pem: string | Buffer, server: string): boolean => {
  const x509 = new X509Certificate(pem)
  return x509.subjectAltName === `DNS:${edgeName(server)}` && EDGE_NAME.test(edgeName(server))
}

/** Whether the authority with the certificate `ca` has issued it. */
export function isIssuedBy(certificate: X509Certificate, ca: string): boolean {
  const authority = new X509Certificate(ca)
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

/** The edition and the instance that a service's certificate names. Undefined for another certificate. */
export function serviceIn(subjectAltName: string | undefined): { edition: number; instance: string } | undefined {
  const [, edition, instance] = SERVICE_NAME.exec(subjectAltName?.replace(/^DNS:/, '') ?? '') ?? []
  return edition === undefined || instance === undefined ? undefined : { edition: Number(edition), instance }
}

/** A certificate is replaced after this part of its life. */
const REPLACE_AFTER = 1 / 3

/** True for a certificate that was issued in the future too: the clock of its authority was ahead, and others may refuse it until then. */
export function isDueForReplacement(pem: string, now: number): boolean {
  const x509 = new X509Certificate(pem)
  const [from, to] = [x509.validFromDate.getTime(), x509.validToDate.getTime()]
  return now < issuedAt(x509) || now > from + (to - from) * REPLACE_AFTER
}
