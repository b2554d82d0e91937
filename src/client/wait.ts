import type { Health } from './bodies.ts'
import type { DrawbridgeClient } from './client.ts'
import { Refusal } from './refusal.ts'

const ASK_EVERY_MS = 1_000

interface Waited {
  readonly reached: boolean
  /** The last answer about the host. Undefined if the service does not know it. */
  readonly health: Health | undefined
}

/** Asks until the host has the badge, or until the time is over. A host that is not known yet may become known. */
export async function waitForBadge(
  api: DrawbridgeClient,
  host: string,
  badge: string,
  limitMs: number,
  onChange: (health: Health) => void = () => undefined,
): Promise<Waited> {
  const end = api.clock.now() + limitMs
  let before: string | undefined
  for (;;) {
    const health = await api.health(host).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'host_not_found') return undefined
      throw error
    })
    if (health?.badge === badge) return { reached: true, health }
    if (health && health.badge !== before) onChange(health)
    before = health?.badge
    const left = end - api.clock.now()
    if (left <= 0) return { reached: false, health }
    await api.clock.sleep(Math.min(ASK_EVERY_MS, left))
  }
}
