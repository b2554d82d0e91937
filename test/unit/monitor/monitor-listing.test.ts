import { describe, expect, test } from 'vitest'
import type { Badge } from '../../../src/model/badge.ts'
import type { HostStatus } from '../../../src/model/host-status.ts'
import { type ListQuery, listHosts, type Place } from '../../../src/monitor/listing.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { sampleStatus } from '../../support/http/host-status.ts'

const status = (host: string, badge: Badge, given: Partial<HostStatus> = {}) => sampleStatus({ host, badge, ...given })
const HOSTS = [
  status('b.lab.test', 'RUNNING', { since: 30, server: '25' }),
  status('a.lab.test', 'HTTP 502', { since: 20, server: '253' }),
  status('d.lab.test', 'PENDING', { since: null, server: null, managed: false }),
  status('c.lab.test', 'DOWN', { since: 10, server: '25' }),
]
const serverOf = ({ server }: HostStatus) => server
const ask = (query: Partial<ListQuery>) =>
  listHosts(HOSTS, { sort: 'host', order: 'asc', limit: 100, at: 0, ...query }, serverOf)
const names = (query: Partial<ListQuery>) => ask(query).page.map(({ host }) => host[0])

describe('a list of hosts', () => {
  test.each([
    ['by name', { sort: 'host' }, 'abcd'],
    ['by name, backwards', { sort: 'host', order: 'desc' }, 'dcba'],
    ['by badge: what needs eyes first', { sort: 'badge' }, 'cadb'],
    ['by server', { sort: 'server' }, 'bcad'],
    ['by when it began, the unknown last', { sort: 'since' }, 'cabd'],
    ['by when it began, backwards, the unknown last', { sort: 'since', order: 'desc' }, 'bacd'],
  ] as const)('%s', (_what, query, expected) => expect(names(query).join('')).toBe(expected))

  test.each([
    ['a text in the name', { search: 'c.lab' }, 'c'],
    ['a text in the server', { search: '253' }, 'a'],
    ['badges', { badges: ['DOWN', 'RUNNING'] }, 'bc'],
    ['a server', { server: '25' }, 'bc'],
    ['those that are not managed', { managed: false }, 'd'],
    ['all at once', { server: '25', badges: ['DOWN'], search: 'lab', managed: true }, 'c'],
    ['nothing that there is', { search: 'nowhere' }, ''],
  ] as const)('that fit %s', (_what, query, expected) => expect(names(query).join('')).toBe(expected))

  test('counts all of them, whatever fits', () => {
    const { counts, servers, matched } = ask({ search: 'c.lab' })
    expect(counts).toEqual({ RUNNING: 1, 'HTTP 502': 1, PENDING: 1, DOWN: 1 })
    expect(servers).toEqual(['25', '253'])
    expect(matched).toBe(1)
  })

  test('shows each host once over all pages, in the order of one long page', () => {
    const hosts = fc.uniqueArray(fc.tuple(fc.nat(50), fc.option(fc.nat(3)), fc.constantFrom('25', '73', null)), {
      selector: ([name]) => name,
    })
    const sorts = fc.constantFrom<ListQuery['sort']>('host', 'badge', 'server', 'since', 'latency', 'uptime')
    forAll(hosts, sorts, fc.constantFrom('asc', 'desc'), fc.integer({ min: 1, max: 7 }), (made, sort, order, limit) => {
      const all = made.map(([name, since, server]) => status(`h${name}.lab.test`, 'RUNNING', { since, server }))
      const page = (after: Place | undefined, size: number) =>
        listHosts(all, { sort, order, limit: size, at: 0, after }, serverOf)
      const paged: string[] = []
      let next: Place | null = null
      do {
        const listing = page(next ?? undefined, limit)
        paged.push(...listing.page.map(({ host }) => host))
        next = listing.next
      } while (next)
      expect(paged).toEqual(page(undefined, 1_000).page.map(({ host }) => host))
      expect(new Set(paged).size).toBe(all.length)
    })
  })
})
