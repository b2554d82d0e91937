import { systemClock } from '../../src/primitives/clock.ts'

/** The time that a stand-in takes, or after which a caller comes. Nobody waits with it for a result: `until` does that. */
export const takes = (ms: number): Promise<void> => systemClock.sleep(ms)
