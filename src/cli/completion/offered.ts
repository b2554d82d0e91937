import type { Hosts, PlanPage, Policy } from '../../client/bodies.ts'
import { systemClock } from '../../primitives/clock.ts'
import { getJson } from '../service/get-json.ts'
import { serviceUrl } from '../service/own-settings.ts'

/** What `drawbridge complete` asks the service for. */
export const ASKED = ['hosts', 'plans', 'hosts-and-plans', 'servers'] as const
export type Asked = (typeof ASKED)[number]

/** A person who presses Tab waits no longer, whatever the service and the network do. */
const WITHIN_MS = 1_000

/** More than these nobody reads. */
const MOST_OFFERED = 200

const PLAN_ID = 'plan_'

/**
 * The words of `drawbridge complete` without options. False if the full command line has to read them, also to say what is wrong. A
 * shell waits for this at every press of Tab, so it is bundled by itself: no option is declared, no client and no command is loaded.
 */
export async function isCompleted([what, prefix = '', ...more]: readonly string[]): Promise<boolean> {
  const asked = ASKED.find((word) => word === what)
  if (asked === undefined || prefix.startsWith('-') || more.length > 0) return false
  // A lookup cannot be ended, and a process ends after it: without this it asks a dead resolver for ten seconds.
  process.env.RES_OPTIONS ??= 'timeout:1 attempts:1'
  try {
    const names = await offered(asked, prefix)
    process.stdout.write(names.map((name) => `${name}\n`).join(''))
    return true
  } catch {
    return false
  }
}

/** The names that may follow: none where the service does not answer soon. Rejects when its address is not valid. */
export async function offered(what: Asked, prefix: string, url?: string): Promise<string[]> {
  const signal = systemClock.timeout(WITHIN_MS)
  const service = await serviceUrl(url, process.env, signal)
  const begun = prefix.toLowerCase()
  const named = { hosts, plans, servers }
  const kinds = what === 'hosts-and-plans' ? (['hosts', 'plans'] as const) : [what]
  const answers = await Promise.all(kinds.map((kind) => named[kind]({ service, signal }, begun).catch(() => [])))
  return answers.flat().filter((name) => name.startsWith(begun))
}

interface Asking {
  readonly service: string
  readonly signal: AbortSignal
}

async function hosts({ service, signal }: Asking, prefix: string): Promise<string[]> {
  const query = new URLSearchParams({ limit: `${MOST_OFFERED}`, ...(prefix !== '' && { prefix }) })
  const { hosts: rows } = (await getJson(`${service}/api/hosts?${query}`, signal)) as Hosts
  return rows.map(({ host }) => host)
}

async function plans({ service, signal }: Asking, prefix: string): Promise<string[]> {
  if (!(PLAN_ID.startsWith(prefix) || prefix.startsWith(PLAN_ID))) return []
  const answer = await getJson(`${service}/api/deploy/plans?limit=${MOST_OFFERED}`, signal)
  const { plans: rows } = answer as PlanPage
  return rows.map(({ planId }) => planId)
}

async function servers({ service, signal }: Asking): Promise<string[]> {
  return ((await getJson(`${service}/api/policy`, signal)) as Policy).servers.targets
}
