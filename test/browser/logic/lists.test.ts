import { describe, expect, test } from 'vitest'
import {
  type ActivityLine,
  activityAddress,
  activityOf,
  auditAbout,
  burstsOf,
  matchingActivity,
  rawOf,
} from '../../../web/activity/activity.ts'
import type { HostRow } from '../../../web/api/hosts.ts'
import { shifted } from '../../../web/api/strips.ts'
import { wholeWay } from '../../../web/diagnosis/way.ts'
import { namesToShow, serversOf } from '../../../web/network/network.ts'
import { entriesFor } from '../../../web/palette/entries.ts'
import { alarmCount, isForOthers, needCounts, needsOf, notesOf } from '../../../web/status/attention.ts'
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
    return matching(inOrder(ROWS, view), view, 0).map(({ host }) => host[0])
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
    expect(names({ need: ['down'] })).toEqual(['d', 'c'])
    expect(names({ need: ['muted'] })).toEqual([])
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

  test('says in sentences what happened', () => {
    const said = lines.map(({ before, host, after }) => `${before}${host}${after}`)
    expect(said).toEqual([
      'b.test went from RUNNING to DOWN',
      '10.0.0.1 was refused to apply a.test: The situation changed after the plan was made',
    ])
    expect(titles({ search: 'went from running' })).toEqual(['host.badge'])
    expect(rawOf(lines[1] as ActivityLine)).toMatch(/^apply · plan_stale · by 10\.0\.0\.1 · /)
  })

  test('what happens to one host in a second is one burst, and so is the same of several hosts', () => {
    const event = (seq: number, second: number, host: string, type: string, facts: object) =>
      ({ id: `evt_${seq}`, seq, type, timestamp: `2026-01-01T00:00:0${second}Z`, data: { host, facts } }) as never
    const down = { before: 'RUNNING', badge: 'DOWN' }
    const heads = burstsOf(
      activityOf(
        [],
        [
          event(1, 1, 'a.test', 'host.badge', { before: 'PENDING', badge: 'RUNNING' }),
          event(2, 1, 'a.test', 'exposure.applied', { server: '25', port: 3000 }),
          event(3, 5, 'a.test', 'host.badge', down),
          event(4, 5, 'b.test', 'host.badge', down),
          event(5, 9, 'b.test', 'host.badge', down),
        ],
      ),
    ).map(({ head, lines: all, hosts }) => [head.title, all.length, hosts])
    expect(heads).toEqual([
      ['host.badge', 1, 1],
      ['host.badge', 2, 2],
      ['exposure.applied', 2, 1],
    ])
  })

  test('what happens to one of several hosts that turned together is a line of its own', () => {
    const event = (seq: number, host: string, type: string, facts: object) =>
      ({ id: `evt_${seq}`, seq, type, timestamp: `2026-01-01T00:00:01.${seq}Z`, data: { host, facts } }) as never
    const seen = { before: 'PENDING', badge: 'RUNNING' }
    const bursts = burstsOf(
      activityOf(
        [],
        [
          event(1, 'b.test', 'exposure.applied', { server: '25', port: 3000 }),
          event(2, 'b.test', 'host.badge', seen),
          event(3, 'a.test', 'host.badge', seen),
        ],
      ),
    )
    expect(bursts.map(({ head, hosts }) => [hosts > 1 ? hosts : head.host, head.after])).toEqual([
      [2, ' was seen RUNNING'],
      ['b.test', ' was exposed on server 25, port 3000'],
    ])
  })

  test.each([
    ['host.badge', { before: 'PENDING', badge: 'RUNNING' }, '2 hosts were seen RUNNING'],
    ['host.badge', { badge: 'DOWN' }, '2 hosts are DOWN'],
    ['host.badge', { before: 'RUNNING', badge: 'DOWN' }, '2 hosts went from RUNNING to DOWN'],
    ['plan.refused', { code: 'plan_busy' }, /^Plans for 2 hosts were refused: /],
    ['exposure.applied', { server: '25', port: 3000 }, '2 hosts were exposed on server 25, port 3000'],
    ['exposure.updated', {}, '2 hosts were changed'],
    ['exposure.extended', {}, '2 hosts were extended'],
    ['exposure.released', {}, '2 hosts were released and stay on the air, unmanaged'],
    ['exposure.expired', {}, '2 hosts removed themselves at their time'],
    ['exposure.rolled_back', { action: 'apply' }, 'The applies of 2 hosts failed and were rolled back'],
    ['exposure.blocked', {}, 'Runs of 2 hosts failed and could not be rolled back'],
    ['host.alert', { badge: 'DOWN' }, '2 hosts have been DOWN for too long'],
    ['host.alert_ended', {}, 'The alerts of 2 hosts have ended'],
    ['host.muted', { note: 'It was and is' }, '2 hosts were muted: It was and is'],
    ['host.unmuted', {}, 'The mutes of 2 hosts have ended'],
    ['certificate.warning', {}, 'The certificates of 2 hosts end soon'],
    ['certificate.expired', {}, 'The certificates of 2 hosts have expired'],
    ['certificate.recovered', {}, 'The certificates of 2 hosts are well again'],
    ['certificate.renewed', {}, 'The certificates of 2 hosts were renewed'],
    ['certificate.renewal_failed', {}, 'The renewals of the certificates of 2 hosts failed'],
  ] as const)('of several hosts, %s %j is told in the plural', (type, facts, words) => {
    const event = { id: 'evt_1', seq: 1, type, timestamp: '2026-01-01T00:00:01Z', data: { host: 'a.test', facts } }
    const [line] = activityOf([], [event as never])
    expect(`${line?.several?.before}2 hosts${line?.several?.after}`).toMatch(words)
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
  const on = (change: Partial<HostRow>) => ({ ...row('a.test', 'RUNNING'), ...change })
  const muted = { since: null, until: null, by: 'configuration' }
  const soon = { expiresAt: '2026-01-01T00:57:00Z' }
  const ending = { notAfter: '2026-01-04T00:00:00Z', level: 'critical' } as const
  const sentence = (rows: readonly HostRow[]) =>
    needCounts(rows, now)
      .map(({ words }) => words)
      .join(' · ')

  test('is a failed rollback, what visitors miss, a difference, the certificate and the end', () => {
    expect(needsOf(on({}), now)).toEqual([])
    expect(needsOf(on({ badge: 'PENDING' }), now)).toEqual([])
    const all = { badge: 'HTTP 502', blocked: true, secondary: 'missing', certificate: ending, ...soon } as const
    expect(needsOf(on(all), now)).toEqual(['blocked', 'down', 'differs', 'certificate', 'ends'])
    expect(needsOf(on({ ...all, muted }), now)).toEqual(['muted'])
    expect(needsOf(on({ badge: 'DRIFT' }), now)).toEqual(['differs'])
    expect(notesOf(on(all)).map(({ words }) => words)).toEqual(['Blocked', 'Missing on the Secondary'])
  })

  test('a certificate that only ends soon still serves visitors, an expired or foreign one does not', () => {
    const of = (certificate: HostRow['certificate']) => needsOf(on({ badge: 'CERT', certificate }), now)
    expect(of(ending)).toEqual(['certificate'])
    expect(of({ ...ending, level: 'expired' })).toEqual(['down'])
    expect(of({ ...ending, level: 'ok', names: ['b.test'] })).toEqual(['down'])
    expect(of(null)).toEqual(['down'])
  })

  test('is one sentence, whose first number is that of the title', () => {
    expect(sentence(ROWS)).toBe('2 down')
    expect(sentence([on({ badge: 'DOWN' }), on({ badge: 'DRIFT' }), on(soon), on({ badge: 'DOWN', muted })])).toBe(
      '1 down · 1 differs · 1 ends in 57 min · 1 muted',
    )
    expect(sentence([on(soon), on(soon), on({ certificate: ending })])).toBe(
      '1 certificate ends in 3 d · 2 end, one in 57 min',
    )
    expect(alarmCount(ROWS, now)).toBe(2)
    expect(alarmCount([on(soon)], now)).toBe(1)
    expect(alarmCount([on({ badge: 'DOWN', muted })], now)).toBe(0)
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

test('a server with many names shows those in trouble, and counts the others', () => {
  const rows = Array.from({ length: 100 }, (_, at) => row(`h${at}.test`, at % 10 === 0 ? 'DOWN' : 'RUNNING', '25'))
  const [[server, names] = ['', []]] = serversOf([...rows, row('other.test', 'RUNNING', '253')])
  expect(server).toBe('25')
  const { shown, others } = namesToShow(names)
  expect(shown.every(({ badge }) => badge === 'DOWN')).toBe(true)
  expect([shown.length, others]).toEqual([10, 90])
  expect(namesToShow(rows.slice(0, 5)).shown).toHaveLength(5)
})

test('the palette finds the act of a host by both names, where the page asks for it', () => {
  const caller = { network: 'internal', may: ['read', 'plan', 'apply', 'remove'] }
  const rows = [{ ...row('shop.test', 'RUNNING'), planId: 'plan_1' }, row('api.test', 'DOWN')]
  const first = (text: string) => entriesFor(text, rows, { caller } as never)[0]
  expect(first('remo shop')).toMatchObject({ words: 'Remove shop.test', to: '/plans/plan_1?act=remove' })
  expect(first('mute api')).toMatchObject({ to: '/hosts/api.test/details?act=mute' })
  expect(first('remove api')).toBeUndefined()
  expect(first('net')).toMatchObject({ words: 'Network', to: '/network' })
})

test.each([
  ['mute main', 'Mute main.test'],
  ['main mute', 'Mute main.test'],
  ['remove ext', 'Remove ext.test'],
  ['diagnose plan', 'Diagnose plan.test'],
  ['details of api', 'Details of api.test'],
  ['plan of ext', 'Plan of ext.test'],
  ['maintenance of main', 'Maintenance of main.test'],
  ['mute of', 'Mute office.test'],
])('the palette finds “%s”', (text, words) => {
  const caller = { network: 'internal', may: ['read', 'plan', 'apply', 'remove'] }
  const hosts = ['api', 'ext', 'main', 'office', 'plan']
  // More than it lists acts of, so that what it finds is not what merely comes first.
  const others = Array.from({ length: 40 }, (_, at) => `a${at}`)
  const rows = [...others, ...hosts].map((host) => ({ ...row(`${host}.test`, 'RUNNING'), planId: 'plan_1' }))
  expect(entriesFor(text, rows, { caller } as never)[0]?.words).toBe(words)
  expect(entriesFor(`${text} nowhere`, rows, { caller } as never)).toEqual([])
})
