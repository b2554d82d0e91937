import { describe, expect, test } from 'vitest'
import { incidentsOf } from '../../../src/usecases/incidents.ts'

const badge = (at: number, before: string, after: string) => {
  const facts = { badge: after, before, httpStatus: null, reason: null }
  return { at, type: 'host.badge' as const, facts }
}
const WELL = { badge: 'RUNNING', since: 100 }

describe('the incidents of a host', () => {
  test('begin with the first bad badge and end with RUNNING, newest first', () => {
    const lasting = [badge(5, 'RUNNING', 'HTTP 502'), badge(6, 'HTTP 502', 'DOWN'), badge(7, 'DOWN', 'HTTP 502')]
    const ended = [badge(9, 'HTTP 502', 'RUNNING'), badge(20, 'RUNNING', 'DRIFT'), badge(30, 'DRIFT', 'RUNNING')]
    const events = [badge(1, 'PENDING', 'RUNNING'), ...lasting, ...ended]
    expect(incidentsOf(events, WELL)).toEqual([
      { began: 20, ended: 30, badges: ['DRIFT'] },
      { began: 5, ended: 9, badges: ['HTTP 502', 'DOWN'] },
    ])
  })

  test('go on while the host is not well', () => {
    const incidents = incidentsOf([badge(5, 'RUNNING', 'DOWN')], { badge: 'DOWN', since: 5 })
    expect(incidents).toEqual([{ began: 5, ended: null, badges: ['DOWN'] }])
  })

  test('that are older than the events have no beginning, and the board still knows them', () => {
    expect(incidentsOf([badge(5, 'DOWN', 'RUNNING')], WELL)).toEqual([{ began: null, ended: 5, badges: ['DOWN'] }])
    expect(incidentsOf([badge(5, 'DOWN', 'CERT')], { badge: 'CERT', since: 5 })).toEqual([
      { began: null, ended: null, badges: ['DOWN', 'CERT'] },
    ])
    expect(incidentsOf([], { badge: 'NO DNS', since: 3 })).toEqual([{ began: 3, ended: null, badges: ['NO DNS'] }])
    expect(incidentsOf([], WELL)).toEqual([])
  })

  test('end when the host is removed', () => {
    const removed = { at: 8, type: 'exposure.removed' as const, facts: {} }
    const events = [badge(5, 'RUNNING', 'DOWN'), removed, badge(20, 'PENDING', 'RUNNING')]
    expect(incidentsOf(events, WELL)).toEqual([{ began: 5, ended: 8, badges: ['DOWN'] }])
  })
})
