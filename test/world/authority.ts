import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  CertificateInventory,
  CertificateIssuer,
  CoveringCertificate,
  RenewalAdvisor,
} from '../../src/certificates/contract.ts'
import type { Pair } from '../../src/edge/contract/change.ts'
import type { Handshake } from '../../src/edge/contract/visit.ts'
import { certificateId } from '../../src/edge/record/entry.ts'
import { makeCertificate } from '../support/edge/openssl.ts'
import type { Process } from './process.ts'
import type { Timeline } from './timeline.ts'

/** A certificate of the authority with its key. */
export interface IssuedPair extends Pair {
  readonly certificate: CoveringCertificate
}

const ORDER_MS = 400
const FOR_DAYS = [30, 60]

/** A certificate for these hosts, and the one that takes its place. */
export const makePairs = (folder: string, hosts: readonly string[]): Promise<readonly IssuedPair[]> =>
  Promise.all(FOR_DAYS.map((days) => makePair(join(folder, `${days}-days`), hosts, days)))

async function makePair(folder: string, hosts: readonly string[], days: number): Promise<IssuedPair> {
  mkdirSync(folder)
  const [certificateFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const names = hosts.map((host) => `DNS:${host}`)
  await makeCertificate({ certificate: certificateFile, key: keyFile, names, days })
  const [certificatePem, keyPem] = [readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8')]
  const { fingerprint256, serialNumber, validFrom, validTo } = new X509Certificate(certificatePem)
  const times = { notBefore: new Date(validFrom), notAfter: new Date(validTo) }
  const known = { fingerprint: fingerprint256, serial: serialNumber, issued: true, byWildcard: false }
  return { certificatePem, keyPem, certificate: { names: hosts, ...times, ...known, certificateFile, keyFile } }
}

/** An authority, and the folder in which all instances find what it has issued. It asks for a proof of each name. */
export class Authority {
  /** It wants the certificate in use to be replaced. */
  isDue = false
  readonly #pairs: readonly IssuedPair[]
  readonly #timeline: Timeline
  #issued = 1

  constructor(timeline: Timeline, pairs: readonly IssuedPair[]) {
    this.#timeline = timeline
    this.#pairs = pairs
  }

  get #newest(): IssuedPair {
    const pair = this.#pairs[this.#issued - 1]
    if (!pair) throw new Error('The authority has no such certificate.')
    return pair
  }

  readonly inventory: CertificateInventory = {
    covering: async (host) => this.#covering(host),
    coveringEach: async (hosts) =>
      new Map(hosts.flatMap((host) => [this.#covering(host)].flatMap((found) => (found ? [[host, found]] : [])))),
    withFingerprint: async (fingerprint) =>
      this.#pairs.slice(0, this.#issued).find(({ certificate }) => certificate.fingerprint === fingerprint)
        ?.certificate,
    findings: async () => [],
  }

  readonly advisor: RenewalAdvisor = {
    advise: async ({ certificateFile }) => {
      const at = this.#timeline.now()
      const isFirst = certificateFile === this.#pairs[0]?.certificate.certificateFile
      return { askAgainAt: at, ...(isFirst && this.isDue && { window: { start: at - 1, end: at - 1 } }) }
    },
  }

  readonly pairOf = async ({ fingerprint }: { readonly fingerprint: string }): Promise<Pair | undefined> =>
    this.#pairs.find(({ certificate }) => certificate.fingerprint === fingerprint)

  /** As a process of the service reaches it. */
  issuerOf(process: Process): CertificateIssuer {
    return process.gated<CertificateIssuer>({
      issue: async (names, responder, { guard } = {}) => {
        for (const name of names) await responder.present(name, 'token', 'proof', guard?.signal)
        await this.#timeline.sleep(ORDER_MS)
        this.#issued = this.#pairs.length
        const { certificate } = this.#newest
        for (const name of names) await responder.withdraw(name, 'token', 'proof', guard?.signal)
        return certificate
      },
      sweepChallenges: async () => undefined,
    })
  }

  /** What a visitor is shown by an edge that has the pair of this id. */
  handshake(id: string | undefined, host: string): Handshake {
    const found = this.#pairs.find(({ certificate }) => certificateId(certificate.fingerprint) === id)
    if (!found) return { kind: 'refused' }
    const { fingerprint, serial, names, notBefore, notAfter } = found.certificate
    const times = { notBefore: notBefore.getTime(), notAfter: notAfter.getTime() }
    return { kind: 'certificate', fingerprint, serial, names, coversHost: names.includes(host), ...times }
  }

  #covering(host: string): CoveringCertificate | undefined {
    const { certificate } = this.#newest
    return certificate.names.includes(host) ? certificate : undefined
  }
}
