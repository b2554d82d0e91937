import type { RenewalAdvice } from '../../model/renewal.ts'
import { certificateId } from '../certificate-id.ts'
import type { AcmeDirectory, InstalledCertificate, RenewalAdvisor } from '../contract.ts'
import { readPemFile } from '../pem-file.ts'
import { type ConnectionOptions, isSameOrigin, withConnection } from './connection.ts'
import { readRetryAfter } from './problem.ts'

export interface RenewalInfoOptions {
  readonly directory: AcmeDirectory
  /** PEM file with the roots to trust instead of the system's. */
  readonly caFile?: string | undefined
  readonly now: () => number
}

const LIMITS = { requestMs: 10_000, maxBytes: 64 * 1024 }
/** The interval between requests where the authority sends no Retry-After, and the bounds of one that it sends. */
const DEFAULT_SECONDS = 6 * 3_600
const MIN_SECONDS = 60
const MAX_SECONDS = 24 * 3_600

/** Asks the authority when it wants its certificates to be replaced (RFC 9773). */
export function renewalAdvisor({ directory, caFile, now }: RenewalInfoOptions): RenewalAdvisor {
  const connection = { directory: directory.url, caFile, ...LIMITS }
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
      const unknown = { askAgainAt: now() + DEFAULT_SECONDS * 1000 }
      if (url === undefined || id === undefined) return unknown
      return { replaces: id, ...(await fetchAdvice(`${url}/${id}`, connection, now()).catch(() => unknown)) }
    },
  }
}

async function fetchAdvice(url: string, connection: ConnectionOptions, now: number): Promise<RenewalAdvice> {
  const { status, headers, body } = await withConnection(connection, (send) => send('GET', url))
  const seconds = readRetryAfter(headers['retry-after'], now) ?? DEFAULT_SECONDS
  const askAgainAt = now + Math.min(Math.max(seconds, MIN_SECONDS), MAX_SECONDS) * 1000
  return status === 200 ? { ...readWindow(body), askAgainAt } : { askAgainAt }
}

/** A window that ends before it begins is ignored. */
function readWindow(content: string): Pick<RenewalAdvice, 'window'> {
  const { suggestedWindow } = JSON.parse(content) as { suggestedWindow?: { start?: unknown; end?: unknown } }
  const [start, end] = [suggestedWindow?.start, suggestedWindow?.end].map((time) => Date.parse(String(time)))
  return start !== undefined && end !== undefined && start < end ? { window: { start, end } } : {}
}
