import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../primitives/durable-file.ts'
import { isIssuedBy, isOfEdge, newKey, type PemIdentity } from './authority.ts'

const [KEY, CERTIFICATE, AUTHORITY, NEXT_KEY] = ['agent.key', 'agent.crt', 'authority.crt', 'next.key']
const editionFile = (ca: string): string =>
  `edition-${new X509Certificate(ca).fingerprint256.replaceAll(':', '').toLowerCase()}`

/** The certificate and the key of an agent, in a folder that no other user may enter. */
export class AgentIdentity {
  readonly #folder: string
  readonly #server: string

  /** Creates the folder. Throws if it is open to others. */
  constructor(folder: string, server: string) {
    this.#folder = folder
    this.#server = server
    if (mkdirSync(folder, { recursive: true, mode: 0o700 })) chmodSync(folder, 0o700)
    if (statSync(folder).mode & 0o077)
      throw new Error(`The state folder ${folder} is open to other users than its owner. Run: chmod 0700 ${folder}`)
  }

  /** Undefined before the agent has joined. Throws if other users may read the key, or if it does not belong to the certificate. */
  read(): PemIdentity | undefined {
    const [key, cert, ca] = [KEY, CERTIFICATE, AUTHORITY].map((name) => this.#text(name))
    if (key === undefined || cert === undefined || ca === undefined) return undefined
    if (lstatSync(this.#path(KEY)).mode & 0o077)
      throw new Error(`${this.#path(KEY)} can be read by other users. Run: chmod 0600 ${this.#path(KEY)}`)
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      throw new Error(`${this.#path(KEY)} is not the key of ${this.#path(CERTIFICATE)}. Enroll the agent again.`)
    return { key, cert, ca }
  }

  /** Changes when another certificate is installed. Empty before the agent has joined. */
  get stamp(): string {
    const found = statSync(this.#path(CERTIFICATE), { throwIfNoEntry: false })
    return found ? `${found.ino} ${found.mtimeMs}` : ''
  }

  /** The public half of a key whose certificate will be installed next. */
  async prepareKey(): Promise<string> {
    const { key, publicKey } = newKey()
    await replaceFile(this.#path(NEXT_KEY), key, 0o600)
    return publicKey
  }

  /** The public half of a key that was prepared and has no certificate yet, or of a new one. */
  async preparedKey(): Promise<string> {
    const key = this.#text(NEXT_KEY)
    if (key === undefined || key === this.#text(KEY)) return this.prepareKey()
    return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
  }

  /**
   * Throws for a certificate that is not for the prepared key, this server and the authority. `joined`: the authority of a join. The
   * agent trusts no other authority afterwards.
   */
  async install(certificate: string, joined?: string): Promise<void> {
    const stored = this.#text(AUTHORITY)
    const ca = joined ?? stored
    const key = this.#text(NEXT_KEY)
    if (key === undefined || ca === undefined) throw new Error('No key was prepared for a certificate.')
    const x509 = new X509Certificate(certificate)
    if (!isIssuedBy(x509, ca) || !isOfEdge(certificate, this.#server) || !x509.checkPrivateKey(createPrivateKey(key)))
      throw new Error(`The certificate is not one of edge ${this.#server} for the key that was prepared.`)
    // Write the certificate last: until then the agent continues with the former one.
    // A replacement by a service leaves the authority alone: it could bring back the former one beside a join.
    if (ca !== stored) await replaceFile(this.#path(AUTHORITY), ca, 0o600)
    await replaceFile(this.#path(KEY), key, 0o600)
    await replaceFile(this.#path(CERTIFICATE), certificate, 0o600)
  }

  /**
   * The highest seen edition of the certificates of services by the authority `ca`. Lower editions were revoked. Each authority has a
   * file: a former authority cannot raise the edition of the present one, and a crash leaves none without its edition.
   */
  editionOf(ca: string): number {
    return Number(this.#text(editionFile(ca)) ?? 0)
  }

  raiseEdition(edition: number, ca: string): Promise<void> {
    return replaceFile(this.#path(editionFile(ca)), String(edition), 0o600)
  }

  #text(name: string): string | undefined {
    try {
      return readFileSync(this.#path(name), 'utf8')
    } catch {
      return undefined
    }
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }
}
