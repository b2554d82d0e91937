import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { applied, invariants, planned, planOf, removed, run, world } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'

/** `npm run campaign -- backend` tries both. */
const TLS = process.env.CAMPAIGN ? [false, true] : [true]

let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(() => lab?.stop())

test('an apply does not start when the backend died after the plan', async () => {
  const before = await world(lab)
  const backend = await startWebBackend(lab, (_request, response) => response.end('through'))
  const { planId } = await planned(lab, { subdomain: 'dead', port: backend.port })
  await backend[Symbol.asyncDispose]()
  const answer = await run(lab, planId)
  expectFailure(answer, 422, 'backend_unhealthy', 'check')
  expect(answer.body.steps[0].detail).toMatch(
    /^The health check failed: The backend on server 25 did not answer HTTP 2xx/,
  )
  const { events } = (await planOf(lab, planId)).runs[0]
  expect(events).toContainEqual(expect.objectContaining({ name: 'failed', detail: answer.body.steps[0].detail }))
  expect(answer.body.checks).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'health', status: 'failed' })]),
  )
  await expectPutBack(lab, planId, before)
})

test.each(TLS)('a backend that is healthy only when asked directly (tls: %s): everything is put back', async (tls) => {
  const before = await world(lab)
  let isSick = true
  await using backend = await startWebBackend(lab, (_request, response) =>
    response.writeHead(isSick ? 500 : 200).end('through'),
  )
  const { planId } = await planned(lab, { subdomain: 'sick', port: backend.port, tls })
  const answer = await run(lab, planId)
  expectFailure(answer, 502, 'apply_failed', 'verify')
  expect(answer.body.detail).toContain('HTTP 500')
  expect(answer.body.rollback.map(({ name, status }: Record<string, string>) => `${name} ${status}`)).toEqual(
    ['verify', 'dns', 'proxy', ...(tls ? ['certificate'] : []), 'backup', 'check'].map((name) => `${name} undone`),
  )
  expect(backend.throughEdge()).toBeGreaterThan(0)
  await expectPutBack(lab, planId, before)
  isSick = false
  await expectApplicable(lab, planId)
  expect(await world(lab)).toEqual(before)
})

const endlessly = (socket: Socket, text: string): void => {
  const timer = setInterval(() => socket.write(text), 5)
  socket.on('error', () => undefined).on('close', () => clearInterval(timer))
}

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'

/** The answers of a hostile backend to a request through an edge. */
const HOSTILE: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'never answers': () => undefined,
  'switches the protocol and closes': (socket) => socket.end(SWITCHING),
  'switches the protocol and stays': (socket) => socket.write(SWITCHING),
  'sends interim answers without end': (socket) => endlessly(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  'sends a header without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Long: ')
    endlessly(socket, 'x')
  },
}

test.runIf(process.env.CAMPAIGN).each(TLS)(
  'a backend that is hostile only through the edge (tls: %s): every apply ends and is put back, and other hosts stay',
  { timeout: 90_000 },
  async (tls) => {
    const neighbour = await applied(lab, { subdomain: 'neighbour' })
    const before = await world(lab)
    // In parallel, because each case takes the whole time limit of an edge.
    const outcomes = await Promise.all(
      Object.entries(HOSTILE).map(async ([what, talk], i) => {
        await using backend = await startWebBackend(lab, ({ socket }) => talk(socket))
        const { planId } = await planned(lab, { subdomain: `hostile-${i}`, port: backend.port, tls })
        const { status, body } = await run(lab, planId)
        const { state } = await planOf(lab, planId)
        return { what, status, code: body.code, failed: body.steps?.at(-1)?.name, state }
      }),
    )
    const putBack = { status: 502, code: 'apply_failed', failed: 'verify', state: 'rolled_back' }
    expect(outcomes).toEqual(Object.keys(HOSTILE).map((what) => ({ what, ...putBack })))
    expect(await world(lab)).toEqual(before)
    await invariants(lab)
    await removed(lab, neighbour.planId)
  },
)

test('a backend with an endless body through the edge is healthy by its status', async () => {
  const before = await world(lab)
  await using backend = await startWebBackend(lab, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    endlessly(socket, '4\r\nmore\r\n')
  })
  const { planId } = await applied(lab, { subdomain: 'endless', port: backend.port })
  await removed(lab, planId)
  expect(await world(lab)).toEqual(before)
})
