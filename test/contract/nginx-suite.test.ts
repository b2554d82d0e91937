import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Edge } from '../../src/edge/contract/edge.ts'
import { EDGE_NAME } from '../../src/edge/contract/visit.ts'
import { type Nginx, systemNginx } from '../../src/nginx/process/nginx.ts'
import { placeSite, startTestEdge, type TestPair } from '../support/edge/edge.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { until } from '../support/until.ts'

import { Authority, makePairs } from '../world/authority.ts'
import { EdgeMachine } from '../world/edge-machine.ts'
import { Process } from '../world/process.ts'
import { Timeline } from '../world/timeline.ts'

/** What nginx does for an edge. The nginx of the simulated world does the same, so that its histories prove something. */
interface Bench {
  readonly nginx: Nginx
  readonly edge: Edge
  readonly config: string
  /** Where a backend answers with 200, and where one answers with 502. */
  readonly well: string
  readonly ill: string
  readonly pair: TestPair
  /** Lets time pass, where it is simulated. */
  run<T>(work: Promise<T>): Promise<T>
  /** The file of the backends. */
  backends(): string
  halt(): Promise<void>
  stop(): Promise<void>
}

const SECURED = 'secured.lab.test'

async function startSimulated(): Promise<Bench> {
  const folder = tempFolder()
  const timeline = new Timeline(Date.now())
  const machine = new EdgeMachine(timeline, folder.path, '23')
  const { nginx, config } = machine
  const pairs = await makePairs(folder.path, [SECURED])
  const authority = new Authority(timeline, pairs)
  nginx.shown = (id, host) => authority.handshake(id, host)
  const [well, ill] = ['http://192.0.2.25:3000', 'http://192.0.2.25:3001']
  nginx.statuses.set(ill, 502)
  const [first] = pairs
  if (!first) throw new Error('The authority has no certificate.')
  return {
    ...{ nginx, config, well, ill, edge: machine.edgeOf(new Process('suite', timeline)) },
    pair: { ...first, fingerprint: first.certificate.fingerprint },
    run: (work) => timeline.untilSettled(work),
    backends: () => machine.present.whereIs(PLAIN).file,
    halt: async () => void Object.assign(nginx, { isUp: false }),
    stop: async () => folder[Symbol.dispose](),
  }
}

async function startReal(): Promise<Bench> {
  const started = await startTestEdge()
  const backend = createServer((_request, response) => response.writeHead(200).end()).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  const { port } = backend.address() as AddressInfo
  const failing = createServer((_request, response) => response.writeHead(502).end()).listen(0, '127.0.0.1')
  await once(failing, 'listening')
  const { edge, config } = started
  return {
    ...{ nginx: systemNginx(started), edge, config },
    well: `http://127.0.0.1:${port}`,
    ill: `http://127.0.0.1:${(failing.address() as AddressInfo).port}`,
    pair: await started.certificate(SECURED),
    run: (work) => work,
    backends: () => started.fileOf('backends', PLAIN),
    async halt() {
      process.kill(started.pid, 'SIGTERM')
      await until('nginx has ended', async () => !systemNginx(started).isRunning())
    },
    async stop() {
      for (const server of [backend, failing]) server.close()
      await started.stop()
    },
  }
}

const PLAIN = 'plain.lab.test'
const BROKEN = '\nno_such_directive;\n'
const PROOF = 'a1'.repeat(32)
const PLAN = `plan_${'0'.repeat(26)}`

describe.each([
  ['the simulated nginx', startSimulated],
  ['nginx', startReal],
])('%s', (_name, start) => {
  let bench: Bench
  const ask = (host: string, more: { tls?: boolean; proof?: string } = {}) =>
    bench.run(bench.nginx.ask({ host, path: '/', tls: false, ...more }))
  const put = (host: string, target: string, certificate?: TestPair) =>
    bench.run(placeSite(bench.edge, { host, target, planId: PLAN, proof: PROOF, ...(certificate && { certificate }) }))
  /** Somebody writes into a file, until the test has ended. */
  async function whileWritten(file: string, write: (text: string) => string, work: () => Promise<void>): Promise<void> {
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, write(before))
    await work().finally(() => writeFileSync(file, before))
  }

  beforeAll(async () => {
    bench = await start()
    await bench.run(bench.edge.prepare())
    await put(PLAIN, bench.well)
  }, 60_000)
  afterAll(() => bench?.stop())

  test('serves what was loaded, and knows its own entry by the proof', async () => {
    expect(bench.nginx.isRunning()).toBe(true)
    expect(await bench.run(bench.nginx.answers())).toBe(true)
    expect(await ask(PLAIN, { proof: PROOF })).toMatchObject({ kind: 'answer', httpStatus: 200, entry: 'ours' })
    expect(await ask(PLAIN, { proof: 'b2'.repeat(32) })).toMatchObject({ kind: 'answer', entry: 'other' })
    for (const host of ['nobody.lab.test', EDGE_NAME])
      expect(await ask(host)).toMatchObject({ kind: 'no_answer', reason: 'unknown_host' })
  })

  test('passes on what the backend answers', async () => {
    await put(PLAIN, bench.ill)
    expect(await ask(PLAIN)).toMatchObject({ kind: 'answer', httpStatus: 502 })
    await put(PLAIN, bench.well)
    expect(await ask(PLAIN)).toMatchObject({ kind: 'answer', httpStatus: 200 })
  })

  test('shows the certificate of a host, and sends its visitors there', async () => {
    expect(await bench.run(bench.nginx.handshake(PLAIN))).toEqual({ kind: 'refused' })
    await put(SECURED, bench.well, bench.pair)
    const { fingerprint } = bench.pair
    expect(await bench.run(bench.nginx.handshake(SECURED))).toMatchObject({ kind: 'certificate', fingerprint })
    expect(await ask(SECURED)).toMatchObject({ kind: 'answer', httpStatus: 308 })
    expect(await ask(SECURED, { tls: true })).toMatchObject({ httpStatus: 200, certificate: { fingerprint } })
  })

  test('refuses a broken configuration in its test, and at a load goes on with the former one', async () => {
    const { nginx, config } = bench
    expect(await bench.run(nginx.test(config))).toBeUndefined()
    await whileWritten(
      config,
      (text) => `${text}${BROKEN}`,
      async () => {
        expect(await bench.run(nginx.test(config))).toBeDefined()
        await expect(bench.run(nginx.reload())).rejects.toMatchObject({ kind: 'not_reloaded' })
        expect(nginx.isRunning()).toBe(true)
        expect(await ask(PLAIN)).toMatchObject({ kind: 'answer', httpStatus: 200 })
      },
    )
    await bench.run(nginx.reload())
  })

  test('serves what somebody wrote only after a load', async () => {
    const file = bench.backends()
    await whileWritten(
      file,
      (text) => text.replace(bench.well, bench.ill),
      async () => {
        expect(await ask(PLAIN)).toMatchObject({ httpStatus: 200 })
        await bench.run(bench.nginx.reload())
        expect(await ask(PLAIN)).toMatchObject({ httpStatus: 502 })
      },
    )
    await bench.run(bench.nginx.reload())
  })

  test('that has ended answers nobody and loads nothing', async () => {
    await bench.halt()
    expect(bench.nginx.isRunning()).toBe(false)
    expect(await bench.run(bench.nginx.answers())).toBe(false)
    expect(await ask(PLAIN)).toMatchObject({ kind: 'no_answer', reason: 'refused' })
    await expect(bench.run(bench.nginx.reload())).rejects.toThrow()
  })
})
