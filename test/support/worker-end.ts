const KEY = Symbol.for('drawbridge.worker-end')
const holder = globalThis as { [KEY]?: true }

/**
 * Vitest ends a worker by SIGTERM, at which Node runs no handlers of its exit: what the worker shares between its files, and stops
 * then, would stay. To be called by whoever starts such a thing.
 */
export function exitOnTermination(): void {
  if (holder[KEY]) return
  holder[KEY] = true
  process.once('SIGTERM', () => process.exit())
}
