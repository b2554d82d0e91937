import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
import { getJson } from './get-json.ts'

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PORT = 8045
const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`
/** Where the lab answers callers inside. */
const LAB_URL = 'http://localhost:8046'
/** The configuration of an installed service. */
const INSTALLED = '/etc/drawbridge/drawbridge.yaml'
/** systemd has it while the service runs, and every user may see it. */
const UNIT_GROUP = '/sys/fs/cgroup/system.slice/drawbridge.service'
const READY_WITHIN_MS = 15_000
const PROBE_MS = 700
const MOST_ADDRESSES = 8

interface Search {
  /** Whether there is a service that may answer soon, as after `systemctl start`. It is waited for. */
  readonly isRunning?: () => boolean
  /** Ends the search. */
  readonly signal?: AbortSignal | undefined
}

/** The address of a service of this machine: the first that sees this machine as internal, else one that answers, else the likeliest. */
export async function urlOnThisMachine(
  environment: Environment,
  { isRunning = () => existsSync(UNIT_GROUP), signal }: Search = {},
): Promise<string> {
  const likely = await likelyUrls(environment)
  const isEnough = (url: string | undefined) => url !== undefined || !isRunning()
  const limits = { firstMs: 200, withinMs: READY_WITHIN_MS, clock: systemClock, signal }
  // Rejects only when the search is ended.
  const found = await poll(() => answering(likely, signal), isEnough, limits).catch(() => undefined)
  return found ?? likely[0] ?? DEFAULT_URL
}

async function answering(likely: readonly string[], signal: AbortSignal | undefined): Promise<string | undefined> {
  const networks = await Promise.all(likely.map((url) => networkSeenBy(url, signal)))
  const inside = likely[networks.indexOf('internal')]
  return inside ?? likely.find((_, index) => networks[index] !== undefined)
}

/**
 * Where a service of this machine may answer: where a lab and the configuration of the service say that it does, and at the
 * defaults. DRAWBRIDGE_LAB_STATE names the folder of a lab, DRAWBRIDGE_CONFIG a configuration at another place.
 */
export async function likelyUrls(environment: Environment): Promise<readonly string[]> {
  const state = environment.DRAWBRIDGE_LAB_STATE
  const told = [...(state ? labUrl(state) : []), ...(await configuredUrls(environment.DRAWBRIDGE_CONFIG || INSTALLED))]
  return [...new Set([...told, ...(told.length === 0 ? [DEFAULT_URL] : []), LAB_URL, ...everyAddress(DEFAULT_PORT)])]
}

function labUrl(state: string): string[] {
  try {
    const { inside } = JSON.parse(readFileSync(join(state, 'lab.json'), 'utf8')) as { inside?: unknown }
    return typeof inside === 'string' ? [inside] : []
  } catch {
    return []
  }
}

/** Reads only where the service listens. A file that is missing, closed or broken tells nothing: other commands check it. */
async function configuredUrls(file: string): Promise<string[]> {
  try {
    const text = readFileSync(file, 'utf8')
    const { parse } = await import('yaml')
    const { listen, publicUrls } = parse(text) as { listen?: ListenSettings | null; publicUrls?: unknown }
    const { address = '0.0.0.0', port = DEFAULT_PORT, tls } = listen ?? {}
    if (typeof address !== 'string' || typeof port !== 'number') return []
    const scheme = tls ? 'https' : 'http'
    const own = ['0.0.0.0', '::'].includes(address) ? everyAddress(port, scheme) : [urlAt(address, port, scheme)]
    const named = Array.isArray(publicUrls) ? publicUrls.filter((url) => typeof url === 'string') : []
    // A certificate is valid for a name: with TLS the names come first.
    return tls ? [...named, ...own] : [...own, ...named]
  } catch {
    return []
  }
}

interface ListenSettings {
  readonly address?: unknown
  readonly port?: unknown
  readonly tls?: unknown
}

const urlAt = (address: string, port: number, scheme = 'http'): string =>
  `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`

/** A service that knows this machine by its address in the internal network sees a call to that address as internal. */
const everyAddress = (port: number, scheme = 'http'): string[] =>
  [
    '127.0.0.1',
    ...Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address),
  ]
    .slice(0, MOST_ADDRESSES)
    .map((address) => urlAt(address, port, scheme))

/** Undefined if no Drawbridge answers there. */
async function networkSeenBy(url: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const probe = systemClock.timeout(PROBE_MS)
  try {
    const answer = await getJson(`${url}/api/policy`, signal ? AbortSignal.any([probe, signal]) : probe)
    const { caller } = answer as { caller?: { network?: unknown } }
    return typeof caller?.network === 'string' ? caller.network : undefined
  } catch {
    return undefined
  }
}
