import type { Clock } from '../primitives/clock.ts'
import type { Health } from './bodies.ts'
import { Refusal } from './refusal.ts'

/** Most hosts are ready soon. Each pause is twice as long as the one before. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000

const USUAL_MS = 300_000

export interface Waited {
  readonly reached: boolean
  /** The last answer about the host. Undefined if the service does not know it. */
  readonly health: Health | undefined
}

export interface WaitOptions {
  /** Default: RUNNING. */
  readonly badge?: string | undefined
  /** Default: 5 minutes. */
  readonly timeoutMs?: number | undefined
  /** Called with each other badge. */
  readonly onChange?: ((health: Health) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export async function waitForHost(
  { health: ask, clock }: { readonly health: (host: string) => Promise<Health>; readonly clock: Clock },
  host: string,
  { badge = 'RUNNING', timeoutMs = USUAL_MS, onChange, signal }: WaitOptions = {},
): Promise<Waited> {
  const end = clock.monotonic() + timeoutMs
  let pauseMs = FIRST_PAUSE_MS
  let before: string | undefined
  for (;;) {
    signal?.throwIfAborted()
    const health = await ask(host).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'host_not_found') return undefined
      throw error
    })
    if (health?.badge === badge) return { reached: true, health }
    if (health && health.badge !== before) onChange?.(health)
    before = health?.badge
    const left = end - clock.monotonic()
    if (left <= 0) return { reached: false, health }
    await clock.sleep(Math.min(pauseMs, left), { signal })
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
}
