import { expect, test } from 'vitest'
import type { Badge } from '../../../src/model/badge.ts'
import type { AlertRule, HostStatus } from '../../../src/model/host-status.ts'
import { eventsBetween, withTrouble } from '../../../src/monitor/host-events.ts'
import { sampleStatus } from '../../support/http/host-status.ts'

const RULE: AlertRule = { afterMs: 60_000, isMuted: false }

/** The types of alert events that checks every 30 s with these badges lead to. */
function alerts(
  badges: readonly Badge[],
  ruleAt: (check: number) => AlertRule = () => RULE,
  timeOf = (check: number): number => 30_000 * check,
): string[] {
  let before: HostStatus = sampleStatus()
  return badges.flatMap((badge, check) => {
    const at = timeOf(check)
    const lastCheck = { at, ok: badge === 'RUNNING', httpStatus: 200, latencyMs: 1, reason: null }
    const after = withTrouble({ ...before, badge, lastCheck }, before, ruleAt(check))
    const types = eventsBetween(before, after, at).map(({ type }) => type)
    before = after
    return types.filter((type) => type.startsWith('host.alert')).map((type) => `${check} ${type}`)
  })
}

test('a trouble that lasts is one alert, and its end another event', () =>
  expect(alerts(['RUNNING', 'DOWN', 'DOWN', 'DOWN', 'DOWN', 'RUNNING'])).toEqual([
    '3 host.alert',
    '5 host.alert_ended',
  ]))

test('another kind of trouble does not begin the time anew', () =>
  expect(alerts(['RUNNING', 'HTTP 502', 'DOWN', 'HTTP 503'])).toEqual(['3 host.alert']))

test('a host that flaps faster than its rule wakes nobody', () =>
  expect(alerts(['DOWN', 'RUNNING', 'DOWN', 'DOWN', 'RUNNING', 'DOWN'])).toEqual([]))

test('a muted host wakes nobody, and muting ends an alert', () => {
  expect(alerts(['DOWN', 'DOWN', 'DOWN', 'DOWN'], () => ({ ...RULE, isMuted: true }))).toEqual([])
  const muted = alerts(['DOWN', 'DOWN', 'DOWN', 'DOWN'], (check) => ({ ...RULE, isMuted: check === 3 }))
  expect(muted).toEqual(['2 host.alert', '3 host.alert_ended'])
})

test('a clock that is set back delays an alert by no more than its rule, and ends none', () => {
  const setBackFrom = (first: number) => (check: number) => 30_000 * check - (check < first ? 0 : 7_200_000)
  const down = new Array<Badge>(6).fill('DOWN')
  expect(alerts(down, () => RULE, setBackFrom(1))).toEqual(['3 host.alert'])
  expect(alerts([...down, 'RUNNING'], () => RULE, setBackFrom(3))).toEqual(['2 host.alert', '6 host.alert_ended'])
})
