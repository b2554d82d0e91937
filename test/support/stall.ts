import { setImmediate as immediate } from 'node:timers/promises'

/** Blocks the event loop, as on a machine that gives this process no processor. */
export function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** The next turn of the event loop. */
export const nextTurn = (): Promise<void> => immediate()
