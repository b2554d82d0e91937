import type { Clock } from '../../primitives/clock.ts'
import { type AcmeDirectory, type DirectoryState, IssueFault } from '../contract.ts'
import { withConnection } from './connection.ts'
import { readRetryAfter, reasonOf } from './problem.ts'

export interface AcmeDirectoryOptions {
  readonly url: string
  /** PEM file with the roots to trust instead of the system's. */
  readonly caFile?: string | undefined
  readonly limitMs?: number
  readonly clock: Clock
}

const MAX_DIRECTORY_BYTES = 64 * 1024
const SUCCESS_CACHE_MS = 60_000
const FAILURE_CACHE_MS = 5_000

/** Anyone may plan, so results are cached for a while and at most one request is running. */
export function acmeDirectory(options: AcmeDirectoryOptions): AcmeDirectory {
  const { monotonic: now } = options.clock
  let cached: { readonly state: DirectoryState; readonly until: number } | undefined
  let running: Promise<DirectoryState> | undefined

  const fetchAndCache = async (): Promise<DirectoryState> => {
    const state = await fetchDirectory(options)
    cached = { state, until: now() + cacheMs(state) }
    running = undefined
    return state
  }
  return {
    url: options.url,
    async read() {
      if (cached && now() < cached.until) return withTimeLeft(cached.state, cached.until - now())
      running ??= fetchAndCache()
      return running
    },
  }
}

function cacheMs(state: DirectoryState): number {
  if (state.kind === 'available') return SUCCESS_CACHE_MS
  return Math.max(FAILURE_CACHE_MS, (state.retryAfter ?? 0) * 1000)
}

/** A cached Retry-After counts down. */
const withTimeLeft = (state: DirectoryState, leftMs: number): DirectoryState =>
  state.kind === 'available' || state.retryAfter === undefined
    ? state
    : { ...state, retryAfter: Math.ceil(leftMs / 1000) }

async function fetchDirectory({ url, caFile, limitMs = 3_000, clock }: AcmeDirectoryOptions): Promise<DirectoryState> {
  const limits = { directory: url, caFile, requestMs: limitMs, maxBytes: MAX_DIRECTORY_BYTES, clock }
  try {
    const { status, headers, body } = await withConnection(limits, (send) => send('GET', url))
    if (status === 200) return readDirectory(body)
    const retryAfter = readRetryAfter(headers['retry-after'], clock.now())
    return { ...unavailable(`it answered HTTP ${status}`), ...(retryAfter && { retryAfter }) }
  } catch (error) {
    const isRoots = error instanceof IssueFault
    return unavailable(isRoots ? 'the file with its trusted roots cannot be read' : reasonOf(error))
  }
}

function readDirectory(content: string): DirectoryState {
  const directory = parseObject(content)
  if (typeof directory?.newOrder !== 'string') return unavailable('its response is not an ACME directory')
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

const unavailable = (reason: string): DirectoryState => ({ kind: 'unavailable', reason })
