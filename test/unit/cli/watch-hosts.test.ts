import { afterEach, expect, test, vi } from 'vitest'
import { watchHosts } from '../../../src/cli/watch.ts'
import { createClient } from '../../../src/client/client.ts'

afterEach(() => vi.restoreAllMocks())

test('a host that comes to have the wanted badge is printed in a pipe', async () => {
  const written: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text))
    return true
  })
  const at = '2026-01-31T12:00:00.000Z'
  const row = (host: string) => ({ host, badge: 'DOWN' })
  const listed = [row('old.lab.test')]
  const api = createClient('http://drawbridge.test')
  const watched = Object.assign(Object.create(api) as typeof api, {
    allHosts: async () => ({ hosts: listed, at }),
    async *hostEvents() {
      listed.push(row('new.lab.test'))
      yield { event: 'badge', data: row('new.lab.test') }
    },
  })
  await watchHosts(watched, { badge: 'DOWN' }, false)
  expect(written.join('')).toMatch(/old\.lab\.test {2}DOWN\n.*new\.lab\.test {2}DOWN\n$/)
})
