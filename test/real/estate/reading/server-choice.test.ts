import { connect as connectTcp, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls } from 'node:tls'
import { expect, test, vi } from 'vitest'
import { freePort, isPortFree } from '../../../../lab/free-port.ts'
import type { EdgeMap } from '../../../../src/edge/served.ts'
import { startNginx } from '../../../support/edge/nginx.ts'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'
import { makeCertificate } from '../../../support/edge/openssl.ts'
import { addressOf, type Question, renderSet, serverSets } from '../../../support/edge/sites/server-sets.ts'
import { fc, SEED } from '../../../support/fast-check.ts'
import { randomNetwork } from '../../../support/network.ts'

/** `npm run campaign -- server-choice` asks 100,000 questions, `npm test` some hundred. */
const ROUNDS = process.env.CAMPAIGN ? 125 : 2
const SETS_PER_ROUND = 20
const QUESTIONS_PER_SET = process.env.CAMPAIGN ? 40 : 10
/** A few hundred questions may leave out a way of answering: then more are asked. */
const MOST_ROUNDS = ROUNDS + 20
/** A look-ahead is not evaluated: where its pattern might match, the answer is unknown. */
const WAYS = ['default', 'exact', 'leading_wildcard', 'nobody', 'regex', 'trailing_wildcard', 'unknown']
const AT_ONCE = 8

vi.setConfig({ testTimeout: MOST_ROUNDS * 30_000 })

const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

test('nginx itself chooses the same server', async () => {
  const seen = { questions: 0, unknown: 0, how: new Set<string>() }
  let round = 0
  for (; round < ROUNDS || (round < MOST_ROUNDS && seen.how.size < WAYS.length); round += 1)
    await compare(SEED + round, seen)
  expect(seen.questions).toBe(round * SETS_PER_ROUND * QUESTIONS_PER_SET)
  expect([...seen.how].sort()).toEqual(WAYS)
  expect(seen.unknown / seen.questions).toBeLessThan(0.02)
})

/** One nginx with many sets, each on two ports of its own. */
async function compare(seed: number, seen: { questions: number; unknown: number; how: Set<string> }): Promise<void> {
  const network = randomNetwork()
  const ready = await freePort('0.0.0.0')
  using files = nginxFiles({})
  const key = { certificate: files.path('own.crt'), key: files.path('own.key') }
  await makeCertificate({ ...key, names: ['DNS:a.test'] })
  const sets = await Promise.all(
    fc.sample(serverSets(HAS_IPV6, QUESTIONS_PER_SET), { numRuns: SETS_PER_ROUND, seed }).map(async (set, i) => {
      const port = await freePair()
      return { set, port, ...renderSet(set, files.path(String(i)), port, network) }
    }),
  )
  for (const [i, { files: texts }] of sets.entries())
    files.write(Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${i}/${name}`, text])))
  const http = [
    'server_names_hash_bucket_size 256;',
    `ssl_certificate ${key.certificate}; ssl_certificate_key ${key.key};`,
    `server { listen ${ready}; return 204; }`,
    ...sets.map(({ includes }) => includes),
  ].join('\n')
  files.write({ 'nginx.conf': `events {}\nhttp {\n${http}\n}\n` })
  const nginx = await startNginx(http, `http://127.0.0.1:${ready}`)
  try {
    const map = await files.reader.read()
    expect(map.broken).toEqual([])
    const asked = sets.flatMap((set) => set.set.questions.map((question) => ({ set, question })))
    await inTurns(asked, async ({ set, question }) => {
      const place = {
        address: addressOf(question, network),
        port: set.port + (question.isSecond ? 1 : 0),
        tls: question.isTls,
      }
      const ours = ourChoice(map, set.ids, question, place)
      const theirs = await nginxChoice(question, place)
      const texts = JSON.stringify(set.files, null, 1)
      if (ours.how === 'unknown') seen.unknown += 1
      else expect(ours.id, `seed ${seed}, ${JSON.stringify({ ...question, ...place })} of\n${texts}`).toBe(theirs)
      seen.questions += 1
      seen.how.add(ours.how)
    })
  } finally {
    await nginx.stop()
  }
}

interface Place {
  readonly address: string
  readonly port: number
  readonly tls: boolean
}

/** The first of two neighbouring ports. */
async function freePair(): Promise<number> {
  for (;;) {
    const port = await freePort('0.0.0.0')
    if (await isPortFree('0.0.0.0', port + 1)) return port
  }
}

async function inTurns<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const work = async () => {
    for (let item = left.pop(); item; item = left.pop()) await each(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

function ourChoice(map: EdgeMap, ids: ReadonlyMap<string, string>, { host }: Question, place: Place) {
  const match = map.answers(host.replace(/:\d+$/, ''), place)
  if (!match) return { id: 'nobody', how: 'nobody' }
  return { id: ids.get(`${match.block.configPath}:${match.block.line}`), how: match.how }
}

/** nginx chooses by the `Host`, whatever name the visitor said in the handshake. */
function nginxChoice({ host, sni }: Question, { address, port, tls }: Place): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = tls
    ? connectTls({ host: address, port, rejectUnauthorized: false, ...(isIP(sni) === 0 && { servername: sni }) })
    : connectTcp({ host: address, port })
  let answer = ''
  socket.on(tls ? 'secureConnect' : 'connect', () =>
    socket.write(
      host === '' ? 'GET / HTTP/1.0\r\n\r\n' : `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    ),
  )
  socket.on('data', (bytes: Buffer) => {
    answer += bytes
  })
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(isNobody(error) ? 'nobody' : String(error.code)))
  socket.on('close', () => resolve(answer.includes('plain HTTP request was sent') ? 'nobody' : saidIn(answer)))
  return promise
}

const saidIn = (answer: string): string => answer.split('\r\n\r\n')[1] ?? 'no answer'

/** Nothing listens there, or nothing that speaks TLS. */
const isNobody = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'ECONNREFUSED' || code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
