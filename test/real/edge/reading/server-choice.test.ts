import { expect, test, vi } from 'vitest'
import { freePort } from '../../../../lab/free-port.ts'
import type { EdgeMap } from '../../../../src/edge/reading/contract.ts'
import { startNginx } from '../../../support/edge/nginx.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'
import { type Question, renderSet, type ServerSet, serverSet } from '../../../support/edge/sites/server-sets.ts'
import { fc, SEED } from '../../../support/fast-check.ts'
import { call } from '../../../support/http/call.ts'
import { randomNetwork } from '../../../support/network.ts'

/** `npm run campaign -- server-choice` asks 10,000 questions, `npm test` some hundred. */
const ROUNDS = process.env.CAMPAIGN ? 50 : 2
const SETS_PER_ROUND = 20
/** A few hundred questions may leave out a way of answering: then more are asked. */
const MOST_ROUNDS = ROUNDS + 20
const WAYS = ['default', 'exact', 'leading_wildcard', 'nobody', 'regex', 'trailing_wildcard']

vi.setConfig({ testTimeout: MOST_ROUNDS * 20_000 })

interface Placed {
  readonly set: ServerSet
  readonly port: number
  readonly text: string
}

test('nginx itself chooses the same server', async () => {
  const seen = { questions: 0, how: new Set<string>() }
  let round = 0
  for (; round < ROUNDS || (round < MOST_ROUNDS && seen.how.size < WAYS.length); round += 1)
    await compare(SEED + round, seen)
  expect(seen.questions).toBe(round * SETS_PER_ROUND * 10)
  expect([...seen.how].sort()).toEqual(WAYS)
})

/** One nginx with many sets, each on a port of its own. */
async function compare(seed: number, seen: { questions: number; how: Set<string> }): Promise<void> {
  const network = randomNetwork()
  const addresses = ['*', `${network}.1`, `${network}.2`, `${network}.3`]
  const [ready = 0, ...ports] = await freePorts(1 + SETS_PER_ROUND)
  const sets = fc.sample(serverSet, { numRuns: SETS_PER_ROUND, seed }).map((set, i): Placed => {
    const port = ports[i] ?? 0
    return { set, port, text: renderSet(set, port, addresses, (seed + i) % 100) }
  })
  const readiness = `server { listen ${ready}; return 204; }`
  const text = ['server_names_hash_bucket_size 256;', readiness, ...sets.map((placed) => placed.text)].join('\n')
  const nginx = await startNginx(text, `http://127.0.0.1:${ready}`)
  try {
    using files = nginxFiles({ 'nginx.conf': `events {}\nhttp {\n${text}\n}\n` })
    const map = await files.reader.read()
    expect(map.broken).toEqual([])
    for (const placed of sets) {
      for (const question of placed.set.questions) {
        const address = addresses[question.address] ?? ''
        const ours = ourChoice(map, text, question, address, placed.port)
        const theirs = await nginxChoice(question, address, placed.port)
        expect(ours.id, `seed ${seed}, ${question.host} at ${address}:${placed.port} of\n${placed.text}`).toBe(theirs)
        seen.questions += 1
        seen.how.add(ours.how)
      }
    }
  } finally {
    await nginx.stop()
  }
}

async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort('0.0.0.0'))
  return ports
}

function ourChoice(map: EdgeMap, text: string, { host }: Question, address: string, port: number) {
  const match = map.answers(host.replace(/:\d+$/, ''), { address, port, tls: false })
  if (!match) return { id: 'nobody', how: 'nobody' }
  const line = text.split('\n')[match.block.line - 3] ?? ''
  return { id: / return 200 (\d+);/.exec(line)?.[1], how: match.how }
}

const nginxChoice = ({ host }: Question, address: string, port: number): Promise<string> =>
  call(`http://${address}:${port}`, { path: '/', headers: { host }, from: '127.0.0.1' }).then(
    ({ text }) => text,
    (error: NodeJS.ErrnoException) => (error.code === 'ECONNREFUSED' ? 'nobody' : `${error.code}`),
  )
