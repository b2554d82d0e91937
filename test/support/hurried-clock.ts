import { vi } from 'vitest'
import { systemClock } from '../../src/primitives/clock.ts'

/** Measured by this process, ten seconds take half of one until this is disposed of: nobody waits for an edge that stays away. */
export function hurriedClock(): Disposable {
  const { monotonic } = systemClock
  return vi.spyOn(systemClock, 'monotonic').mockImplementation(() => 20 * monotonic())
}
