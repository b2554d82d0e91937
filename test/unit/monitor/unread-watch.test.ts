import { expect, test } from 'vitest'
import type { BrokenPlace, EdgeReader, ServedMap } from '../../../src/edge/served.ts'
import { UnreadWatch } from '../../../src/monitor/edge-watch/unread-watch.ts'
import { createLog } from '../../../src/runtime/log.ts'

test('what is not read of an edge is logged once for each change, and when everything is read again', async () => {
  const lines: string[] = []
  const log = createLog('info', [], { write: (line) => void lines.push(line) })
  let broken: readonly BrokenPlace[] = []
  const reader = { read: async () => ({ broken }) as ServedMap } as EdgeReader<ServedMap>
  const away = { read: () => Promise.reject(new Error('away')) } as EdgeReader<ServedMap>
  const edges = Object.entries({ '73': { reader: away }, '23': { reader } })
  const watch = new UnreadWatch(new Map(edges), log)
  const check = async (next: readonly BrokenPlace[]) => {
    broken = next
    lines.length = 0
    await watch.check()
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  const place = { path: '/etc/nginx/nginx.conf', line: 7, sentence: 'too many names; the rest was not read' }
  expect(await check([])).toEqual([])
  const unread = { event: 'edge_unread', server: '23', places: 1, reason: place.sentence }
  expect(await check([place])).toMatchObject([unread])
  expect(await check([place])).toEqual([])
  expect(await check([])).toMatchObject([{ event: 'edge_read_whole', server: '23' }])
})
