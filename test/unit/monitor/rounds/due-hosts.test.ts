import { expect, test } from 'vitest'
import { DueHosts } from '../../../../src/monitor/rounds/due-hosts.ts'
import { fc, forAll } from '../../../support/fast-check.ts'

const taken = (due: DueHosts, now: number, most = Number.POSITIVE_INFINITY): string[] => {
  const hosts: string[] = []
  for (let host: string | undefined; hosts.length < most; hosts.push(host)) {
    host = due.take(now)
    if (host === undefined) break
  }
  return hosts
}

test('those that are due for longest go first, and those that are due later stay', () => {
  const due = new DueHosts()
  for (const at of [5, 1, 9, 3, 7]) due.set(`due-at-${at}`, at)
  expect(due.countDue(8)).toBe(4)
  expect(taken(due, 8, 2)).toEqual(['due-at-1', 'due-at-3'])
  expect(taken(due, 0)).toEqual([])
  expect(taken(due, 8)).toEqual(['due-at-5', 'due-at-7'])
  expect([...due.hosts]).toEqual(['due-at-9'])
})

test('after any changes each host is taken once, at its last time', () => {
  const change = fc.record({ host: fc.integer({ min: 0, max: 9 }), at: fc.option(fc.integer({ min: 0, max: 50 })) })
  forAll(fc.array(change, { maxLength: 60 }), fc.integer({ min: 0, max: 50 }), (changes, now) => {
    const due = new DueHosts()
    const model = new Map<string, number>()
    for (const { host, at } of changes) {
      if (at === null) due.delete(`h${host}`)
      else due.set(`h${host}`, at)
      if (at === null) model.delete(`h${host}`)
      else model.set(`h${host}`, at)
    }
    const expected = [...model].filter(([, at]) => at <= now).map(([host]) => host)
    expect(due.countDue(now)).toBe(expected.length)
    const hosts = taken(due, now)
    expect(hosts.toSorted()).toEqual(expected.toSorted())
    const times = hosts.map((host) => model.get(host) ?? 0)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect([...due.hosts].length).toBe(model.size - expected.length)
  })
})
