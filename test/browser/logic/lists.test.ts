import { describe, expect, test } from 'vitest'
import { activityAddress, activityOf, auditAbout, matchingActivity } from '../../../web/activity/activity.ts'
import type { HostRow } from '../../../web/api/hosts.ts'
import { shifted } from '../../../web/api/strips.ts'
import { wholeWay } from '../../../web/diagnosis/way.ts'
import { attentionOf, isForOthers, needAttention, verdictOf } from '../../../web/status/attention.ts'
import { badgeCounts, inOrder, matching, valuesOf, WHOLE_VIEW } from '../../../web/status/host-list.ts'

const row = (host: string, badge: string, server: string | null = '25'): HostRow => ({
  host,
  badge,
  server,
  managed: true,
  tls: true,
  url: `https://${host}/`,
  since: null,
  checkedAt: null,
  latencyMs: null,
  uptime24h: null,
  strip: '-'.repeat(48),
  latencies: [],
  certificate: null,
  expiresAt: null,
})
const ROWS = [
  row('b.test', 'RUNNING'),
  row('c.test', 'HTTP 502', '253'),
  row('a.test', 'RUNNING'),
  row('d.test', 'DOWN', null),
]

describe('the list of hosts', () => {
  const names = (change: Partial<typeof WHOLE_VIEW>) => {
    const view = { ...WHOLE_VIEW, ...change }
    return matching(inOrder(ROWS, view), view).map(({ host }) => host[0])
  }

  test('shows the worst state first, then sorts by name', () => {
    expect(names({})).toEqual(['d', 'c', 'a', 'b'])
    expect(names({ descending: true })).toEqual(['a', 'b', 'c', 'd'])
  })

  test('can be searched, filtered and sorted', () => {
    expect(names({ search: ' A.T' })).toEqual(['a'])
    expect(names({ search: '253' })).toEqual(['c'])
    expect(names({ badge: ['RUNNING'], sort: 'host', descending: true })).toEqual(['b', 'a'])
    expect(names({ server: ['25'] })).toEqual(['a', 'b'])
    expect(names({ sort: 'server' })).toEqual(['a', 'b', 'c', 'd'])
  })

  test('counts the hosts of each filter', () => {
    expect(badgeCounts(ROWS)).toEqual([
      ['DOWN', 1],
      ['HTTP 502', 1],
      ['RUNNING', 2],
    ])
    expect(valuesOf([...ROWS, row('e.test', 'DOWN', '23')], 'server')).toEqual(['23', '25', '253', 'none'])
    expect(names({ server: ['25', 'none'], badge: ['RUNNING', 'DOWN'] })).toEqual(['d', 'a', 'b'])
    expect(names({ managed: ['unmanaged'] })).toEqual([])
  })
})

describe('the activity', () => {
  const lines = activityOf(
    [
      {
        ...{ seq: 7, at: '2026-01-01T00:00:02Z', actor: '10.0.0.1', network: 'internal', action: 'apply' },
        ...{ outcome: 'refused', code: 'plan_stale', host: 'a.test', previous: '', hash: '' },
      } as const,
    ],
    [
      {
        ...{ id: 'evt_1', seq: 3, type: 'host.badge', timestamp: '2026-01-01T00:00:03Z' },
        data: { host: 'b.test', facts: { before: 'RUNNING', badge: 'DOWN', httpStatus: null, reason: 'timeout' } },
      } as const,
    ],
  )
  const titles = (filter: object) =>
    matchingActivity(lines, { kind: '', outcome: '', search: '', ...filter }).map(({ title }) => title)

  test('has actions and events, newest first, and can be filtered', () => {
    expect(lines.map(({ title, detail }) => [title, detail])).toEqual([
      ['host.badge', 'RUNNING → DOWN'],
      ['apply', 'plan_stale'],
    ])
    expect(titles({ kind: 'event' })).toEqual(['host.badge'])
    expect(titles({ outcome: 'refused' })).toEqual(['apply'])
    expect(titles({ search: 'B.TEST' })).toEqual(['host.badge'])
    expect(titles({ search: '10.0.0' })).toEqual(['apply'])
  })

  test('keeps its filters in the address', () => {
    const filter = { search: 'a b', kind: 'event', outcome: 'ok' }
    expect(activityAddress.write(filter)).toBe('?search=a+b&kind=event&outcome=ok')
    expect(activityAddress.read(new URLSearchParams(activityAddress.write(filter)))).toEqual(filter)
    const none = { search: '', kind: '', outcome: '' }
    expect(activityAddress.write(none)).toBe('')
    expect(activityAddress.read(new URLSearchParams('kind=constructor&outcome=maybe'))).toEqual(none)
  })
})

test.each([
  [undefined, false],
  [['a.test'], false],
  [['*.test'], false],
  [['b.test', '*.a.test'], true],
])('a certificate for %s is for others than a.test: %s', (names, isWrong) => {
  const certificate = { notAfter: '2030-01-01T00:00:00Z', level: 'ok' as const, ...(names && { names }) }
  expect(isForOthers({ host: 'a.test', certificate })).toBe(isWrong)
})

describe('what needs attention', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const on = (change: Partial<HostRow>) => attentionOf({ ...row('a.test', 'RUNNING'), ...change }, now)

  test('is the badge, a failed rollback, the Secondary, the certificate and the end, worst first', () => {
    expect(on({})).toEqual([])
    expect(
      on({
        badge: 'HTTP 502',
        blocked: true,
        secondary: 'missing',
        certificate: { notAfter: '2026-01-04T00:00:00Z', level: 'critical' },
        expiresAt: '2026-01-01T01:00:00Z',
      }).map(({ words }) => words),
    ).toEqual(['Blocked', 'HTTP 502', 'Missing on the Secondary', 'Certificate ends in 3 d', 'Removed in 1 h'])
    expect(verdictOf([...ROWS], now)).toBe('2 of 4 hosts need attention')
    expect(needAttention(ROWS, now)).toHaveLength(2)
    const muted = { since: null, until: null, by: 'configuration' }
    const some = ROWS.map((one) => (one.badge === 'DOWN' ? { ...one, muted } : one))
    expect(verdictOf(some, now)).toBe('1 of 4 hosts needs attention, 1 muted')
    expect(needAttention(some, now)).toHaveLength(1)
    const ending = { ...row('e.test', 'RUNNING'), expiresAt: '2026-01-01T01:00:00Z' }
    expect(verdictOf([ending, row('f.test', 'RUNNING')], now)).toBe('1 of 2 hosts needs attention')
    expect(needAttention([ending], now)).toHaveLength(1)
    expect(verdictOf([{ ...row('d.test', 'DOWN'), muted }], now)).toBe('No host of 1 needs attention, 1 muted')
  })

  test('a request that fails alone is the broken link of the chain', () => {
    const link = { link: 'dns' as const, ok: true, detail: '' }
    expect(wholeWay([link], 'RUNNING')).toHaveLength(1)
    expect(wholeWay([link], 'HTTP 502').at(-1)).toMatchObject({ link: 'request', ok: false })
    expect(wholeWay([{ ...link, ok: false }], 'HTTP 502')).toHaveLength(1)
  })

  test('half hours without news are like the last one', () => {
    expect(shifted({ strip: `${'-'.repeat(46)}90`, badge: 'RUNNING' }, 1)).toBe(`${'-'.repeat(45)}909`)
    expect(shifted({ strip: '9'.repeat(48), badge: 'DOWN' }, 100)).toHaveLength(48)
  })
})

test('the activity of a host without a plan has no lines of other hosts', () => {
  const line = { seq: 1, at: '', actor: 'a', network: 'internal', action: 'token', outcome: 'refused' } as const
  const lines = [line, { ...line, seq: 2, host: 'b.test' }, { ...line, seq: 3, planId: 'plan_1' }] as never
  const about = (of: { host: string; planId?: string }) => auditAbout(lines, of).map(({ seq }) => seq)
  expect(about({ host: 'a.test' })).toEqual([])
  expect(about({ host: 'b.test' })).toEqual([2])
  expect(about({ host: 'b.test', planId: 'plan_1' })).toEqual([2, 3])
})
