import type { Hosts, PlanPage, Policy } from '../../client/bodies.ts'
import { getJson } from '../service/get-json.ts'
import { serviceUrl } from '../service/own-settings.ts'

/** What `drawbridge complete` asks the service for. */
export const ASKED = ['hosts', 'plans', 'hosts-and-plans', 'servers'] as const
export type Asked = (typeof ASKED)[number]

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
  try {
    const names = await offered(asked, prefix)
    process.stdout.write(names.map((name) => `${name}\n`).join(''))
    return true
  } catch {
    return false
  }
}

/** The names that may follow: none where the service does not answer. Rejects when its address is not valid. */
export async function offered(what: Asked, prefix: string, url?: string): Promise<string[]> {
  const service = await serviceUrl(url, process.env)
  const begun = prefix.toLowerCase()
  const named = { hosts, plans, servers }
  const kinds = what === 'hosts-and-plans' ? (['hosts', 'plans'] as const) : [what]
  const answers = await Promise.all(kinds.map((kind) => named[kind](service, begun).catch(() => [])))
  return answers.flat().filter((name) => name.startsWith(begun))
}

async function hosts(service: string, prefix: string): Promise<string[]> {
  const query = new URLSearchParams({ limit: `${MOST_OFFERED}`, ...(prefix !== '' && { prefix }) })
  const { hosts: rows } = (await getJson(`${service}/api/hosts?${query}`)) as Hosts
  return rows.map(({ host }) => host)
}

async function plans(service: string, prefix: string): Promise<string[]> {
  if (!(PLAN_ID.startsWith(prefix) || prefix.startsWith(PLAN_ID))) return []
  const { plans: rows } = (await getJson(`${service}/api/deploy/plans?limit=${MOST_OFFERED}`)) as PlanPage
  return rows.map(({ planId }) => planId)
}

async function servers(service: string): Promise<string[]> {
  return ((await getJson(`${service}/api/policy`)) as Policy).servers.targets
}
