import { readFile } from 'node:fs/promises'
import type { RenewalAdvice } from '../../model/renewal.ts'
import { certificateId } from '../certificate-id.ts'
import type { AcmeDirectory, InstalledCertificate, RenewalAdvisor } from '../contract.ts'
import { readPemFile } from '../pem-file.ts'
import { readRetryAfter } from './problem.ts'

export interface RenewalInfoOptions {
  readonly directory: AcmeDirectory
  /** PEM roots to trust in place of the system's. */
  readonly caFile?: string | undefined
  readonly now: () => number
}

const LIMIT_MS = 10_000
const LARGEST_ANSWER = 64 * 1024
/** How often it is asked where it does not say so itself, and how it is kept from saying anything else. */
const USUAL_SECONDS = 6 * 3_600
const LEAST_SECONDS = 60
const MOST_SECONDS = 24 * 3_600

/** Asks the authority when it wants its certificates to be replaced (RFC 9773). */
export function renewalAdvisor({ directory, caFile, now }: RenewalInfoOptions): RenewalAdvisor {
  const idOf = async ({ certificateFile }: Pick<InstalledCertificate, 'certificateFile'>) => {
    const [leaf] = (await readPemFile(certificateFile).catch(() => undefined))?.certificates ?? []
    return leaf && certificateId(leaf)
  }
  return {
    async advise(certificate) {
      const look = await directory.look()
      const told = look.kind === 'available' ? look.renewalInfo : undefined
      const address = told !== undefined && isOfDirectory(directory, told) ? told : undefined
      const id = address === undefined ? undefined : await idOf(certificate)
      const unknown = { askAgainAt: now() + USUAL_SECONDS * 1000 }
      if (address === undefined || id === undefined) return unknown
      return { replaces: id, ...(await ask(`${address}/${id}`, caFile, now()).catch(() => unknown)) }
    },
  }
}

/** An authority may not send us elsewhere. */
const isOfDirectory = ({ url }: AcmeDirectory, address: string): boolean =>
  URL.canParse(address) && new URL(address).origin === new URL(url).origin

async function ask(url: string, caFile: string | undefined, now: number): Promise<RenewalAdvice> {
  const { origin, pathname, search } = new URL(url)
  const ca = caFile === undefined ? undefined : await readFile(caFile)
  // Loaded when it is first needed: many a service never asks.
  const { Client } = await import('undici')
  const client = new Client(origin, { connect: { ca }, pipelining: 0, maxResponseSize: LARGEST_ANSWER })
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: `${pathname}${search}`,
      headers: { accept: 'application/json', 'user-agent': 'drawbridge' },
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    const content = await body.text()
    const seconds = readRetryAfter(headers['retry-after'], now) ?? USUAL_SECONDS
    const askAgainAt = now + Math.min(Math.max(seconds, LEAST_SECONDS), MOST_SECONDS) * 1000
    return statusCode === 200 ? { ...readWindow(content), askAgainAt } : { askAgainAt }
  } finally {
    await client.destroy()
  }
}

/** A window that ends before it begins says nothing. */
function readWindow(content: string): Pick<RenewalAdvice, 'window'> {
  const { suggestedWindow } = JSON.parse(content) as { suggestedWindow?: { start?: unknown; end?: unknown } }
  const [start, end] = [suggestedWindow?.start, suggestedWindow?.end].map((time) => Date.parse(String(time)))
  return start !== undefined && end !== undefined && start < end ? { window: { start, end } } : {}
}
