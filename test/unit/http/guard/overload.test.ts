import { expect, test } from 'vitest'
import { createApp } from '../../../../src/http/app.ts'
import { refuseOverload } from '../../../../src/http/guard/overload.ts'
import { systemClock } from '../../../../src/primitives/clock.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { until } from '../../../support/until.ts'

const HANDFUL = 20
const MANY = 101

/** An application that is under pressure, with a route that answers only when it is told to, and one that sends without an end. */
async function pressedApp(lateMs = Number.NEGATIVE_INFINITY) {
  const app = createApp(createLog('silent', []), undefined)
  refuseOverload(app, systemClock, lateMs)
  const told = Promise.withResolvers<void>()
  let entered = 0
  app.get('/waits', () => {
    entered += 1
    return told.promise.then(() => 'done')
  })
  app.get('/at-once', async () => 'done')
  app.get('/stream', (_request, reply) => {
    entered += 1
    reply.hijack()
    reply.raw.writeHead(200)
    reply.raw.write('begun')
  })
  app.setErrorHandler(async (error: Error, _request, reply) => reply.status(503).send(error.message))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (path: string, signal: AbortSignal | null = null) => {
    const answer = await fetch(`${app.listeningOrigin}${path}`, { signal })
    return path === '/stream' ? '' : `${answer.status} ${await answer.text()}`
  }
  /** Resolves when all of them have come. */
  const come = async (path: string, times: number, signal?: AbortSignal) => {
    const answers = Array.from({ length: times }, () => ask(path, signal).catch(() => 'gone'))
    await until('all of them have come', () => entered >= times)
    entered = 0
    return { answers }
  }
  const end = () => {
    told.resolve()
    app.server.closeAllConnections()
    return app.close()
  }
  return { ask, come, tell: told.resolve, end }
}

test('a handful of callers is served, however late the event loop is', async () => {
  const { ask, come, tell, end } = await pressedApp()
  const { answers } = await come('/waits', HANDFUL)
  expect(await ask('/at-once')).toBe('200 done')
  tell()
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['200 done']))
  await end()
})

test('while many requests wait, more are refused, and no longer when their callers have gone', async () => {
  const { ask, come, end } = await pressedApp()
  const gone = new AbortController()
  await come('/waits', MANY - 1, gone.signal)
  expect(await ask('/at-once')).toBe('503 The service is overloaded.')
  gone.abort()
  await until('they are served again', async () => (await ask('/at-once')) === '200 done')
  await end()
})

test('an open stream does not wait', async () => {
  const { ask, come, end } = await pressedApp()
  await come('/stream', MANY)
  expect(await ask('/at-once')).toBe('200 done')
  await end()
})

test('the event loop is late after it was blocked, and not any more when it goes on', async () => {
  const { ask, come, end } = await pressedApp(200)
  await come('/waits', MANY)
  expect(await ask('/at-once')).toBe('200 done')
  const blockedUntil = performance.now() + 1_000
  while (performance.now() < blockedUntil);
  expect(await ask('/at-once')).toBe('503 The service is overloaded.')
  await until('they are served again', async () => (await ask('/at-once')) === '200 done')
  await end()
})
