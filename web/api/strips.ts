import type { HostRow } from '../../src/client/index.ts'

/**
 * The strip of a host after some half hours in which the service sent no change: each was like the last one. A host that fails
 * gets a row of its own in each of them.
 */
export function shifted({ strip, badge }: Pick<HostRow, 'strip' | 'badge'>, halfHours: number): string {
  const passed = Math.min(halfHours, strip.length)
  const last = badge === 'RUNNING' ? '9' : (strip.at(-1) ?? '-')
  return strip.slice(passed) + last.repeat(passed)
}
