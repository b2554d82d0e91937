import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listenWhenThere } from '../../../src/runtime/listen.ts'
import { until } from '../../support/until.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** No machine has it (RFC 5737). */
const MISSING = '192.0.2.77'

let app: FastifyInstance
let seen: string[]
let address: string
let tries: number
let stop: AbortController
let clock: VirtualClock

beforeEach(() => {
  app = Fastify()
  app.get('/', () => 'here')
  seen = []
  address = MISSING
  tries = 0
  stop = new AbortController()
  clock = new VirtualClock()
})
afterEach(async () => {
  stop.abort()
  await app.close()
})

const portOf = ({ server }: FastifyInstance) => (server.address() as AddressInfo).port
const listen = (port = 0) => {
  tries += 1
  return app.listen({ host: address, port }).finally(() => seen.push('tried'))
}
const start = (listening: () => Promise<unknown> = listen) =>
  listenWhenThere(listening, {
    onListening: () => seen.push('listens'),
    onMissing: () => seen.push('missing'),
    onFault: (error) => seen.push(String(error)),
    clock,
    signal: stop.signal,
  })

/** Moves the time on until the next try has ended. */
async function nextTry(): Promise<void> {
  const before = seen.filter((what) => what === 'tried').length
  await until('it was tried again', async () => {
    await clock.advance(500)
    return seen.filter((what) => what === 'tried').length > before
  })
}

test('a service waits for its address while it does its other work, and says so once', async () => {
  await start()
  expect(seen).toEqual(['tried', 'missing'])
  for (let again = 0; again < 3; again += 1) await nextTry()
  expect(seen.filter((what) => what !== 'tried')).toEqual(['missing'])
  address = '127.0.0.1'
  await nextTry()
  await until('it listens', async () => {
    await clock.advance(500)
    return seen.includes('listens')
  })
  expect(await (await fetch(`http://127.0.0.1:${portOf(app)}/`)).text()).toBe('here')
})

test('a port that another program has is no address to wait for', async () => {
  address = '127.0.0.1'
  const other = Fastify()
  await other.listen({ host: address, port: 0 })
  const port = portOf(other)
  try {
    await expect(start(() => listen(port))).rejects.toThrow('EADDRINUSE')
    address = MISSING
    await start(() => listen(port))
    address = '127.0.0.1'
    await nextTry()
    await until('the fault is told', () => seen.some((what) => what.includes('EADDRINUSE')))
    expect(seen).not.toContain('listens')
  } finally {
    await other.close()
  }
})

test('a service that is stopped meanwhile does not try again', async () => {
  await start()
  stop.abort()
  await clock.advance(60_000)
  expect(tries).toBe(1)
  expect(seen).toEqual(['tried', 'missing'])
})
