import { readFile } from 'node:fs/promises'
import type { AcmeDirectory, DirectoryLook } from '../contract.ts'
import { readRetryAfter, reasonOf } from './problem.ts'

export interface AcmeDirectoryOptions {
  readonly url: string
  /** PEM roots to trust in place of the system's. */
  readonly caFile?: string | undefined
  readonly limitMs?: number
  /** A clock in milliseconds. */
  readonly now?: () => number
}

const LARGEST_DIRECTORY = 64 * 1024
const TRUST_SUCCESS_MS = 60_000
const TRUST_FAILURE_MS = 5_000

/** Anyone may plan, so what was seen is remembered for a while and only one request is ever under way. */
export function acmeDirectory(options: AcmeDirectoryOptions): AcmeDirectory {
  const now = options.now ?? (() => performance.now())
  let seen: { readonly look: DirectoryLook; readonly until: number } | undefined
  let underWay: Promise<DirectoryLook> | undefined

  const lookAgain = async (): Promise<DirectoryLook> => {
    const look = await fetchDirectory(options)
    seen = { look, until: now() + trustMs(look) }
    underWay = undefined
    return look
  }
  return {
    url: options.url,
    async look() {
      if (seen && now() < seen.until) return laterLook(seen.look, seen.until - now())
      underWay ??= lookAgain()
      return underWay
    },
  }
}

function trustMs(look: DirectoryLook): number {
  if (look.kind === 'available') return TRUST_SUCCESS_MS
  return Math.max(TRUST_FAILURE_MS, (look.retryAfter ?? 0) * 1000)
}

/** The same, told later: of the seconds to wait some have passed. */
const laterLook = (look: DirectoryLook, leftMs: number): DirectoryLook =>
  look.kind === 'available' || look.retryAfter === undefined ? look : { ...look, retryAfter: Math.ceil(leftMs / 1000) }

async function fetchDirectory({ url, caFile, limitMs = 3_000 }: AcmeDirectoryOptions): Promise<DirectoryLook> {
  const ca = caFile === undefined ? undefined : await readFile(caFile).catch(() => null)
  if (ca === null) return unavailable('the file with its trusted roots cannot be read')
  return get(url, ca, limitMs).catch((error: unknown) => unavailable(reasonOf(error)))
}

async function get(url: string, ca: Buffer | undefined, limitMs: number): Promise<DirectoryLook> {
  const { origin, pathname, search } = new URL(url)
  // Loaded when it is first needed: many a service never asks.
  const { Client } = await import('undici')
  const client = new Client(origin, { connect: { ca }, pipelining: 0, maxResponseSize: LARGEST_DIRECTORY })
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: `${pathname}${search}`,
      headers: { accept: 'application/json', 'user-agent': 'drawbridge' },
      signal: AbortSignal.timeout(limitMs),
    })
    const content = await body.text()
    if (statusCode === 200) return readDirectory(content)
    const retryAfter = readRetryAfter(headers['retry-after'], Date.now())
    return { kind: 'unavailable', reason: `it answered HTTP ${statusCode}`, ...(retryAfter && { retryAfter }) }
  } finally {
    await client.destroy()
  }
}

function readDirectory(content: string): DirectoryLook {
  const directory = parseObject(content)
  if (typeof directory?.newOrder !== 'string') return unavailable('what it answered is not an ACME directory')
  const meta = typeof directory.meta === 'object' && directory.meta !== null ? directory.meta : {}
  const identities = 'caaIdentities' in meta && Array.isArray(meta.caaIdentities) ? meta.caaIdentities : []
  const renewalInfo = typeof directory.renewalInfo === 'string' ? directory.renewalInfo : undefined
  return {
    kind: 'available',
    caaIdentities: identities.filter((identity) => typeof identity === 'string'),
    renewalInfo,
  }
}

function parseObject(content: string): { newOrder?: unknown; renewalInfo?: unknown; meta?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(content)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const unavailable = (reason: string): DirectoryLook => ({ kind: 'unavailable', reason })
