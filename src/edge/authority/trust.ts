import { X509Certificate } from 'node:crypto'
import { Fault } from '../../model/errors.ts'
import {
  Authority,
  type AuthorityPem,
  isDueForReplacement,
  isOfEdge,
  newAuthority,
  type PemIdentity,
} from './authority.ts'

/** The storage of the authority and of the enrolled agents, sealed and shared by all instances. */
export interface SecretShelf {
  read(name: string): Promise<string | undefined>
  /** Replaces the stored text by the result of `next`, atomically. If `next` throws, the stored text stays. */
  change(name: string, next: (stored: string | undefined) => string): Promise<void>
  /** Resolves with the stored text: `text`, unless another instance was faster. */
  putOnce(name: string, text: string): Promise<string>
}

/** The certificate that this service shows to the agent of a server, and the certificates of that agent that it accepts. */
export interface ServiceIdentity extends PemIdentity {
  /** Changes whenever any part changes. */
  readonly version: string
  /** Throws if a certificate that the agent shows is not one that was enrolled. */
  assertEnrolled(certificate: X509Certificate): void
}

const AUTHORITY = 'edge authority'
const EDITION = 'edge edition'
const FIRST_EDITION = 1
const enrolment = (server: string): string => `edge ${server} certificates`

/** While a certificate is replaced, the former one is accepted. Several instances may try to replace it at the same time. */
const MOST_ENROLLED = 6

interface TrustParts {
  readonly shelf: SecretShelf
  readonly instance: string
  readonly now: () => number
}

/** The enrolled agents. Refuses an edge that is not the enrolled one of its server. */
export class EdgeTrust {
  readonly #parts: TrustParts
  #authority: Promise<Authority> | undefined
  #own: { readonly edition: number; readonly identity: PemIdentity } | undefined

  constructor(parts: TrustParts) {
    this.#parts = parts
  }

  /** Created on first use, by the first instance. */
  authority(): Promise<Authority> {
    this.#authority ??= this.#readAuthority().catch((error: unknown) => {
      this.#authority = undefined
      throw error
    })
    return this.#authority
  }

  async identity(server: string): Promise<ServiceIdentity> {
    const [own, enrolled] = await Promise.all([this.#ownIdentity(), this.#enrolled(server)])
    return {
      ...own,
      version: `${new X509Certificate(own.cert).fingerprint256} ${enrolled.join(' ')}`,
      assertEnrolled: (certificate) => {
        if (!isOfEdge(certificate.raw, server))
          throw new Error(`its certificate is not that of the agent of edge ${server}`)
        if (!enrolled.includes(certificate.fingerprint256))
          throw new Error(`its certificate is not enrolled, or it was revoked. Run: drawbridge edge enroll ${server}`)
      },
    }
  }

  /** Issues the certificate of a new agent of the server. The certificate of a former agent is no longer accepted. */
  async enroll(server: string, publicKey: string): Promise<{ readonly certificate: string; readonly ca: string }> {
    const issued = await this.#issue(server, publicKey)
    const { fingerprint256 } = new X509Certificate(issued.certificate)
    await this.#parts.shelf.change(enrolment(server), () => JSON.stringify([fingerprint256]))
    return issued
  }

  /**
   * Issues a new certificate for the agent that showed the certificate `former`, by its fingerprint. The former certificate is
   * accepted until the next one is issued. Rejects if it is no longer accepted: a replacement in progress must not restore a
   * revoked agent.
   */
  async replace(
    server: string,
    publicKey: string,
    former: string,
  ): Promise<{ readonly certificate: string; readonly ca: string }> {
    const issued = await this.#issue(server, publicKey)
    const { fingerprint256 } = new X509Certificate(issued.certificate)
    await this.#parts.shelf.change(enrolment(server), (stored) => {
      const enrolled = fingerprintsIn(stored)
      if (!enrolled.includes(former))
        throw new Fault(`The certificate of the agent of edge ${server} was revoked meanwhile, so it was not replaced.`)
      return JSON.stringify([fingerprint256, ...enrolled].slice(0, MOST_ENROLLED))
    })
    return issued
  }

  async revoke(server: string): Promise<boolean> {
    let had = false
    await this.#parts.shelf.change(enrolment(server), (stored) => {
      had = fingerprintsIn(stored).length > 0
      return '[]'
    })
    return had
  }

  /** All instances get new certificates, and agents refuse the former ones as soon as they have seen a new one. */
  async revokeServices(): Promise<number> {
    let edition = 0
    await this.#parts.shelf.change(EDITION, (stored) => {
      edition = Number(stored ?? FIRST_EDITION) + 1
      return String(edition)
    })
    return edition
  }

  async #issue(server: string, publicKey: string) {
    const authority = await this.authority()
    const certificate = authority.issueEdge(server, publicKey, this.#parts.now())
    return { certificate, ca: authority.certificate }
  }

  async #ownIdentity(): Promise<PemIdentity> {
    const { instance, now } = this.#parts
    const edition = await this.#edition()
    if (this.#own?.edition === edition && !isDueForReplacement(this.#own.identity.cert, now()))
      return this.#own.identity
    const identity = (await this.authority()).issueService(instance, edition, now())
    this.#own = { edition, identity }
    return identity
  }

  async #readAuthority(): Promise<Authority> {
    const { shelf, now } = this.#parts
    const stored =
      (await shelf.read(AUTHORITY)) ?? (await shelf.putOnce(AUTHORITY, JSON.stringify(newAuthority(now()))))
    return new Authority(JSON.parse(stored) as AuthorityPem)
  }

  async #edition(): Promise<number> {
    return Number((await this.#parts.shelf.read(EDITION)) ?? FIRST_EDITION)
  }

  async #enrolled(server: string): Promise<readonly string[]> {
    return fingerprintsIn(await this.#parts.shelf.read(enrolment(server)))
  }
}

const fingerprintsIn = (stored: string | undefined): readonly string[] => JSON.parse(stored ?? '[]') as string[]
