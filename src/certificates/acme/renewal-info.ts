import type { X509Certificate } from 'node:crypto'
import type { RenewalAdvice } from '../../model/ledger.ts'
import type { Clock } from '../../primitives/clock.ts'
import { LONGEST_ADVICE_MS } from '../budget/renewal-schedule.ts'
import type { AcmeDirectory, InstalledCertificate, RenewalAdvisor } from '../contract.ts'
import { readPemFile } from '../stock/pem-file.ts'
import { type ConnectionOptions, isSameOrigin, withConnection } from './connection.ts'
import { readRetryAfter } from './problem.ts'

export interface RenewalInfoOptions {
  readonly directory: AcmeDirectory
  /** PEM file with the roots to trust instead of the system's. */
  readonly caFile?: string | undefined
  readonly clock: Clock
}

const LIMITS = { requestMs: 10_000, maxBytes: 64 * 1024 }
/** The interval between requests where the authority sends no Retry-After, and the least that it may send. */
const DEFAULT_SECONDS = 6 * 3_600
const MIN_SECONDS = 60

/** Asks the authority when it wants its certificates to be replaced (RFC 9773). */
export function renewalAdvisor({ directory, caFile, clock }: RenewalInfoOptions): RenewalAdvisor {
  const connection = { directory: directory.url, caFile, clock, ...LIMITS }
  const idOf = async ({ certificateFile }: Pick<InstalledCertificate, 'certificateFile'>) => {
    const [leaf] = (await readPemFile(certificateFile).catch(() => undefined))?.certificates ?? []
    return leaf && certificateId(leaf)
  }
  return {
    async advise(certificate) {
      const state = await directory.read()
      const offered = state.kind === 'available' ? state.renewalInfo : undefined
      const url = offered !== undefined && isSameOrigin(directory.url, offered) ? offered : undefined
      const id = url === undefined ? undefined : await idOf(certificate)
      const unknown = { askAgainAt: clock.now() + DEFAULT_SECONDS * 1000 }
      if (url === undefined || id === undefined) return unknown
      return { replaces: id, ...(await fetchAdvice(`${url}/${id}`, connection, clock.now()).catch(() => unknown)) }
    },
  }
}

async function fetchAdvice(url: string, connection: ConnectionOptions, now: number): Promise<RenewalAdvice> {
  const { status, headers, body } = await withConnection(connection, (send) => send('GET', url))
  const seconds = readRetryAfter(headers['retry-after'], now) ?? DEFAULT_SECONDS
  const askAgainAt = now + Math.min(Math.max(seconds, MIN_SECONDS) * 1000, LONGEST_ADVICE_MS)
  return status === 200 ? { ...readWindow(body), askAgainAt } : { askAgainAt }
}

/** A window that ends before it begins is ignored. */
function readWindow(content: string): Pick<RenewalAdvice, 'window'> {
  const { suggestedWindow } = JSON.parse(content) as { suggestedWindow?: { start?: unknown; end?: unknown } }
  const [start, end] = [suggestedWindow?.start, suggestedWindow?.end].map((time) => Date.parse(String(time)))
  return start !== undefined && end !== undefined && start < end ? { window: { start, end } } : {}
}

/** One element of DER. */
interface Element {
  readonly tag: number
  readonly content: Buffer
}

const EXTENSIONS = 0xa3
const KEY_IDENTIFIER = 0x80
/** 2.5.29.35 */
const AUTHORITY_KEY_IDENTIFIER = Buffer.from('551d23', 'hex')

/** The RFC 9773 identifier: the issuer's key identifier and the serial number. Undefined without an authority key identifier. */
export function certificateId({ raw }: X509Certificate): string | undefined {
  const [certificate] = elementsIn(raw)
  const [signed] = elementsIn(certificate?.content)
  const members = elementsIn(signed?.content)
  const serial = members.find(({ tag }) => tag === 0x02)?.content
  const [extensions] = elementsIn(members.find(({ tag }) => tag === EXTENSIONS)?.content)
  const issuerKey = elementsIn(extensions?.content).map(keyIdentifierIn).find(Boolean)
  return serial && issuerKey && `${issuerKey.toString('base64url')}.${serial.toString('base64url')}`
}

function keyIdentifierIn({ content }: Element): Buffer | undefined {
  const [type, ...rest] = elementsIn(content)
  if (!type?.content.equals(AUTHORITY_KEY_IDENTIFIER)) return undefined
  const [value] = elementsIn(rest.at(-1)?.content)
  return elementsIn(value?.content).find(({ tag }) => tag === KEY_IDENTIFIER)?.content
}

function elementsIn(der: Buffer = Buffer.alloc(0)): Element[] {
  const elements: Element[] = []
  for (let at = 0; at + 2 <= der.length; ) {
    const { start, length } = lengthAt(der, at + 1)
    elements.push({ tag: der[at] ?? 0, content: der.subarray(start, start + length) })
    at = start + length
  }
  return elements
}

/** The short form is the length itself, the long form says how many octets hold it. */
function lengthAt(der: Buffer, at: number): { start: number; length: number } {
  const first = der[at] ?? 0
  if (first < 0x80) return { start: at + 1, length: first }
  const octets = first & 0x7f
  return { start: at + 1 + octets, length: Number.parseInt(der.subarray(at + 1, at + 1 + octets).toString('hex'), 16) }
}
