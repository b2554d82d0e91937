import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { freePort } from '../../../../lab/free-port.ts'
import { startNginx } from '../../../support/edge/nginx.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'
import { routeSet } from '../../../support/edge/sites/route-sets.ts'
import { fc, SEED } from '../../../support/fast-check.ts'
import { call } from '../../../support/http/call.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

/** `CAMPAIGN=1` compares thousands of servers, `npm test` some hundred. */
const ROUNDS = process.env.CAMPAIGN ? 25 : 1
const SERVERS = 200
const BACKENDS = ['A', 'B', 'C', 'D']

vi.setConfig({ testTimeout: 60_000 + ROUNDS * 30_000 })

test('a request for / goes to the backend that the reader names', async () => {
  const seen = { named: 0, none: 0, unknown: 0 }
  for (let round = 0; round < ROUNDS; round += 1) await compare(SEED + round, seen)
  // What is never known would never be wrong.
  expect(seen.named).toBeGreaterThan(ROUNDS * SERVERS * 0.1)
  expect(seen.none).toBeGreaterThan(0)
  expect(seen.unknown).toBeLessThan(ROUNDS * SERVERS * 0.3)
})

async function compare(seed: number, seen: { named: number; none: number; unknown: number }): Promise<void> {
  using folder = tempFolder()
  const ports = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()]
  const [front = 0, ...backends] = ports
  const sets = fc.sample(routeSet, { seed, numRuns: SERVERS })
  const servers = sets.map(({ text, files }, i) => {
    const root = join(folder.path, String(i))
    for (const file of files) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), 'a file')
    }
    const filled = text
      .replaceAll('@ROOT@', root)
      .replaceAll(/@([A-D])@/g, (_, name: string) => `127.0.0.1:${backends[BACKENDS.indexOf(name)]}`)
    return `server { listen 127.0.0.1:${front}; server_name ${i}.a.test;\n  ${filled}\n}`
  })
  const answering = backends.map(
    (port, i) => `server { listen 127.0.0.1:${port}; return 200 "backend ${BACKENDS[i]}"; }`,
  )
  const first = `server { listen 127.0.0.1:${front} default_server; return 204; }`
  const text = ['server_names_hash_bucket_size 256;', ...answering, first, ...servers].join('\n')
  const nginx = await startNginx(text, `http://127.0.0.1:${front}`)
  try {
    using files = nginxFiles({ 'nginx.conf': `events {}\nhttp {\n${text}\n}\n` })
    const map = await files.reader.read()
    expect(map.broken).toEqual([])
    for (const [i, server] of servers.entries()) {
      const host = `${i}.a.test`
      const served = map.find(host)
      const { text: said, status } = await call(`http://127.0.0.1:${front}`, {
        path: '/',
        headers: { host },
        from: '127.0.0.1',
      })
      const theirs = /^backend ([A-D])$/.exec(said)?.[1] ?? 'none'
      const port = served?.target?.port
      const ours = served?.unresolved ? 'unknown' : port === undefined ? 'none' : BACKENDS[backends.indexOf(port)]
      seen[ours === 'unknown' || ours === 'none' ? ours : 'named'] += 1
      if (ours !== 'unknown')
        expect(ours, `seed ${seed}, ${host}, HTTP ${status}, files ${sets[i]?.files.join(' ')} of\n${server}`).toBe(
          theirs,
        )
    }
  } finally {
    await nginx.stop()
  }
}
