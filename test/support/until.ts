import { systemClock } from '../../src/primitives/clock.ts'
import { poll } from '../../src/primitives/retry.ts'

/** Waits until `holds` returns true. Throws an Error that names `what` when the time is over. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patienceMs = 60_000): Promise<void> {
  const held = await poll(holds, Boolean, { firstMs: 25, withinMs: patienceMs, clock: systemClock })
  if (!held) throw new Error(`Timed out after ${patienceMs} ms waiting until ${what}.`)
}

const STAYS_MS = 500

/** Looks again and again for half a second. `holds` throws as soon as something has changed that must not change. */
export async function stays(holds: () => unknown): Promise<void> {
  const end = systemClock.monotonic() + STAYS_MS
  while (systemClock.monotonic() < end) {
    await holds()
    await systemClock.turn()
  }
}
