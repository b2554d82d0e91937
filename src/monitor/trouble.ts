import type { AlertRule, HostStatus } from '../model/host-status.ts'

/**
 * The status with the trouble that follows from its badge. One good check ends a trouble: a host that flaps faster than its rule
 * never alerts.
 */
export function withTrouble(status: HostStatus, before: HostStatus | undefined, rule: AlertRule): HostStatus {
  const { badge, lastCheck } = status
  if (badge === 'RUNNING' || badge === 'PENDING' || !lastCheck) return { ...status, trouble: null }
  const since = before?.trouble?.since ?? lastCheck.at
  return { ...status, trouble: { since, isAlerted: !rule.isMuted && lastCheck.at - since >= rule.afterMs } }
}

export const isAlerted = ({ trouble }: HostStatus): boolean => trouble?.isAlerted === true
