import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Edge } from '../../../src/edge/contract/edge.ts'
import { EdgeFault } from '../../../src/edge/contract/fault.ts'
import { withoutNumber } from '../../../src/estate/reading/base-file.ts'
import type { EdgeSettings } from '../../../src/estate/settings.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { isIdle, servingWorkers } from '../../../src/nginx/process/nginx-workers.ts'
import { reloadNginx } from '../../../src/nginx/process/reload.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { PLAN_ID, placeSite, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { stays, until } from '../../support/until.ts'

let at: TestEdge
beforeAll(async () => {
  at = await startTestEdge()
})
afterAll(() => at?.stop())
afterEach(() => expect(at.leftOvers()).toEqual([]))

const REASON = new Error('the run must stop')
/** The limit of a reload is 10 s. */
const SHORTER_THAN_A_RELOAD_MS = 8_000
const SITE = { host: 'shop.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:9' }

const beside = (name: string) => join(dirname(at.config), name)

/** Aborts when `when` holds. */
function abortedWhen(when: () => boolean): AbortSignal {
  const controller = new AbortController()
  void until('it is time to abort', when).then(() => controller.abort(REASON))
  return controller.signal
}

describe('an nginx that hangs while it tests a configuration', () => {
  let edge: Edge
  beforeAll(() => {
    writeFileSync(
      beside('hanging-nginx'),
      `#!/bin/sh\n[ "$1" = -V ] && exec ${at.binary} -V\necho $$ > ${beside('pid')}.new\nmv ${beside('pid')}.new ${beside('pid')}\nexec sleep 600\n`,
    )
    chmodSync(beside('hanging-nginx'), 0o755)
    edge = localEdge({ ...at, binary: beside('hanging-nginx') })
  })
  const begun = () => existsSync(beside('pid'))
  afterEach(() => rmSync(beside('pid'), { force: true }))

  test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['assertValid', (signal) => edge.assertValid(signal)],
    ['change', (signal) => placeSite(edge, SITE, { signal })],
    [
      'prepare',
      (signal) => localEdge({ ...at, binary: beside('hanging-nginx'), listen: ['127.0.0.9'] }).prepare(signal),
    ],
  ])('is killed when %s is aborted, and nothing has changed', async (_, wait) => {
    const before = listing(at.folder)
    await expect(wait(abortedWhen(begun))).rejects.toBe(REASON)
    const pid = readFileSync(beside('pid'), 'utf8').trim()
    await until('it is gone', () => !existsSync(`/proc/${pid}`))
    await expect.poll(() => listing(at.folder)).toEqual(before)
  })

  test('is not started after the abort', async () => {
    await expect(edge.assertValid(AbortSignal.abort(REASON))).rejects.toBe(REASON)
    expect(begun()).toBe(false)
  })

  test('does not keep the next test from its answer', async () => {
    await expect(edge.assertValid(abortedWhen(begun))).rejects.toBe(REASON)
    await at.edge.assertValid()
  })
})

describe('a preparation that has a new base file to write', () => {
  const base = () => join(at.folder, 'drawbridge.conf')
  let wanted: string
  beforeEach(() => {
    wanted = readFileSync(base(), 'utf8')
    writeFileSync(base(), `${wanted}# of an older version\n`)
  })
  afterEach(() => at.edge.prepare())

  test('does not write it when it is aborted before', async () => {
    const binary = beside('half-hanging-nginx')
    writeFileSync(
      binary,
      `#!/bin/sh\n[ "$1" = -t ] && touch ${beside('asked')} && exec sleep 600\nexec ${at.binary} "$@"\n`,
    )
    chmodSync(binary, 0o755)
    const signal = abortedWhen(() => existsSync(beside('asked')))
    await expect(localEdge({ ...at, binary }).prepare(signal)).rejects.toBe(REASON)
    expect(readFileSync(base(), 'utf8')).toBe(`${wanted}# of an older version\n`)
  })

  test('leaves it when it is aborted while nginx may load it', { timeout: SHORTER_THAN_A_RELOAD_MS }, async () => {
    process.kill(at.pid, 'SIGSTOP')
    const isWritten = () => withoutNumber(readFileSync(base(), 'utf8')) === withoutNumber(wanted)
    await expect(at.edge.prepare(abortedWhen(isWritten))).rejects.toBe(REASON)
    process.kill(at.pid, 'SIGCONT')
    expect(isWritten()).toBe(true)
  })
})

describe('a reload', () => {
  test('of an nginx that is stopped ends with the abort', async () => {
    process.kill(at.pid, 'SIGSTOP')
    const controller = new AbortController()
    const reloading = at.reload(controller.signal)
    setTimeout(() => controller.abort(REASON), 50)
    await expect(reloading).rejects.toBe(REASON)
    process.kill(at.pid, 'SIGCONT')
    await at.reload()
  })

  test('is not begun after the abort', async () => {
    await until('nginx is idle', () => isIdle(at.pid))
    const before = servingWorkers(at.pid)
    await expect(at.reload(AbortSignal.abort(REASON))).rejects.toBe(REASON)
    await stays(() => expect(servingWorkers(at.pid)).toEqual(before))
  })
})

describe('an edge that takes connections and says nothing', () => {
  const QUESTION = { host: 'shop.lab.test', path: '/', tls: false }

  test.each<[string, (edge: Edge, signal: AbortSignal, settings: EdgeSettings) => Promise<unknown>]>([
    ['a question', (edge, signal) => edge.ask(QUESTION, signal)],
    ['a question over TLS', (edge, signal) => edge.ask({ ...QUESTION, tls: true }, signal)],
    ['a question to its other addresses', (edge, signal) => edge.foreignListeners(QUESTION, signal)],
    ['a handshake', (edge, signal) => edge.handshake(QUESTION.host, signal)],
    ['the last question of a reload', (_, signal, settings) => reloadNginx(settings, signal)],
  ])('%s ends with the abort, and its connection is closed', async (_, ask) => {
    // No limit of time comes: only the abort can end the wait.
    const clock = { ...systemClock, after: () => ({ cancel: () => undefined }) }
    await using silent = await listenSilently()
    const settings = { ...at, address: '127.0.0.1', listen: ['127.0.0.1', '127.0.0.2'], ports: silent.ports, clock }
    const controller = new AbortController()
    silent.connected.then(() => controller.abort(REASON))
    await expect(ask(localEdge(settings), controller.signal, settings)).rejects.toBe(REASON)
    await expect.poll(silent.open).toBe(0)
  })
})

test('a signal that does not abort changes nothing', async () => {
  const { signal } = new AbortController()
  await at.edge.prepare(signal)
  await at.place(SITE, { signal })
  await at.reload(signal)
  const question = { host: SITE.host, path: '/', tls: false }
  expect(await at.edge.ask(question, signal)).toMatchObject({ kind: 'answer', httpStatus: 502 })
  expect(await at.edge.foreignListeners(question, signal)).toEqual([])
  expect(await at.edge.handshake(SITE.host, signal)).toEqual({ kind: 'refused' })
  writeFileSync(join(at.folder, 'broken.conf'), 'broken')
  await expect(at.edge.assertValid(signal)).rejects.toBeInstanceOf(EdgeFault)
  rmSync(join(at.folder, 'broken.conf'))
})

/** On all addresses of the loopback. */
async function listenSilently() {
  const sockets = new Set<Socket>()
  const { promise: connected, resolve } = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.on('data', () => resolve())
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ports: { http: port, https: port },
    connected,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
