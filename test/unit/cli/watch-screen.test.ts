import { Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { watchHosts } from '../../../src/cli/watch.ts'
import { createClient } from '../../../src/client/client.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const ROWS = 24
const COLUMNS = 80

/** A terminal in the place of standard output. Tells what stands on it. */
function terminal(): { readonly shown: () => string[]; readonly draws: () => number } {
  let text = ''
  const taken = new Writable({
    write(part, _encoding, done) {
      text += String(part)
      done()
    },
  })
  const before = Object.getOwnPropertyDescriptor(process, 'stdout') ?? {}
  Object.defineProperty(process, 'stdout', {
    configurable: true,
    value: Object.assign(taken, { isTTY: true, columns: COLUMNS, rows: ROWS }),
  })
  onTestFinished(() => void Object.defineProperty(process, 'stdout', before))
  const drawn = () => text.split('\u001b[H\u001b[2J').slice(1)
  const rowsOf = (line: string) => line.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? ['']
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no room
  const plain = () => (drawn().at(-1) ?? '').replaceAll(/\u001b\[\d+m/g, '')
  return { shown: () => plain().split('\n').flatMap(rowsOf).slice(-ROWS), draws: () => drawn().length }
}

const clock = new VirtualClock()
const rest = { server: '25', managed: true, latencyMs: 1, uptime24h: 1, certificate: null, expiresAt: null }
const row = (host: string, badge: string, more: object = {}) => ({
  ...{ host, badge, since: new Date(clock.now()).toISOString() },
  ...rest,
  ...more,
})

/** A service whose hosts are sorted by badge, and whose stream says nothing until `end` is called. */
function watching(hosts: readonly object[], more: object) {
  const ended = Promise.withResolvers<void>()
  const client = createClient('http://drawbridge.test', { clock })
  const counts = { total: hosts.length, matched: hosts.length, counts: { RUNNING: hosts.length } }
  const api = Object.assign(Object.create(client) as typeof client, {
    hosts: async ({ limit }: { limit: string }) => ({
      ...{ hosts: hosts.slice(0, Number(limit)), at: new Date(clock.now()).toISOString() },
      ...counts,
      ...more,
    }),
    // biome-ignore lint/correctness/useYield: no event comes
    async *hostEvents() {
      await ended.promise
    },
  })
  return { watched: watchHosts(api, { sort: 'badge' }, false), end: ended.resolve }
}

const patterns = Array.from({ length: 9 }, (_, at) => ({
  ...{ name: `*.pattern-${at}.lab.test`, kind: 'wildcard', configPath: '/etc/nginx/sites-enabled/of-many-names.conf' },
  line: at,
}))
const edges = [{ server: '23', unknown: 2, outOfStep: null, stray: [] }]

test('the worst hosts stay on the screen, whatever is told below them, and a blocked one is the first', async () => {
  const { shown } = terminal()
  const many = Array.from({ length: 60 }, (_, at) => row(`host-${at}.lab.test`, 'RUNNING'))
  const hosts = [row('down.lab.test', 'DOWN'), ...many, row('blocked.lab.test', 'RUNNING', { blocked: true })]
  const { watched, end } = watching(hosts, { patterns, edges })
  await expect.poll(shown).not.toEqual([''])
  end()
  await watched
  const screen = shown()
  expect(screen.slice(0, 3).map((line) => line.split(' ')[0])).toEqual(['HOST', 'blocked.lab.test', 'down.lab.test'])
  expect(screen.join('\n')).toContain('… and ')
})

test('what is told below a few hosts is shown as a whole', async () => {
  const { shown } = terminal()
  const { watched, end } = watching([row('down.lab.test', 'DOWN')], { patterns: patterns.slice(0, 3), edges })
  await expect.poll(shown).not.toEqual([''])
  end()
  await watched
  expect(shown().join('\n')).toMatch(/^HOST.*\ndown\.lab\.test[\s\S]*pattern-2[\s\S]*drawbridge down HOST\.\n$/)
})

test('how long a host has its state is drawn again without an event, until the stream ends', async () => {
  const { shown, draws } = terminal()
  const { watched, end } = watching([row('down.lab.test', 'DOWN')], {})
  await expect.poll(draws).toBe(1)
  await clock.advance(20_000)
  await expect.poll(draws).toBe(3)
  expect(shown().join('\n')).toMatch(/down\.lab\.test +DOWN +20s/)
  end()
  await watched
  expect(clock.pending).toBe(0)
})
