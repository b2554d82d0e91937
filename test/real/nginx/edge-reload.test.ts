import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, get, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { isIdle, servingWorkers } from '../../../src/nginx/process/nginx-workers.ts'
import { reloadNginx } from '../../../src/nginx/process/reload.ts'
import { takes } from '../../support/delay.ts'
import { type More, PLAN_ID, startTestEdge, type TestEdge, whenAt } from '../../support/edge/edge.ts'
import { until } from '../../support/until.ts'

const ROUNDS = process.env.CAMPAIGN ? 10 : 4

let at: TestEdge
let backend: Server
let target: string
beforeAll(async () => {
  at = await startTestEdge()
  backend = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  target = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
  await at.place({ host: 'neighbour.lab.test', planId: PLAN_ID, target })
})
afterAll(async () => {
  backend?.close()
  backend?.closeAllConnections()
  await at?.stop()
})
afterEach(async () => {
  rmSync(foreign(), { force: true })
  expect(at.leftOvers()).toEqual([])
  expect(await statusOf('neighbour.lab.test')).toBe(200)
})

const isAtRest = () => until('nginx is at rest', () => isIdle(at.pid), 10_000)
const foreign = () => join(at.folder, 'foreign.conf')
const statusOf = async (host: string) => {
  const answer = await at.edge.ask({ host, path: '/', tls: false })
  return answer.kind === 'answer' ? answer.httpStatus : answer.reason
}
const place = (host: string, more: More = {}) => at.place({ host, planId: PLAN_ID, target }, more)

describe('a reload', () => {
  test('is done when the former workers are gone and new ones answer', async () => {
    const former = servingWorkers(at.pid)
    expect(former.length).toBeGreaterThan(0)
    await at.reload()
    const now = servingWorkers(at.pid)
    expect(now.length).toBeGreaterThan(0)
    expect(now.filter((pid) => former.includes(pid))).toEqual([])
  })

  test("is refused by somebody else's file that broke between test and reload; the former generation goes on", async () => {
    const [former, generation] = [servingWorkers(at.pid), at.generation()]
    const placed = place(
      'late.lab.test',
      whenAt('swapped', () => writeFileSync(foreign(), 'secret_canary on;\n')),
    )
    await expect(placed).rejects.toMatchObject({
      kind: 'not_reloaded',
      message: expect.stringContaining(`a directive is unknown (${foreign()}, line 1)`),
    })
    await expect(placed).rejects.not.toThrow('canary')
    expect(servingWorkers(at.pid)).toEqual(former)
    expect(at.generation()).toBe(generation)
    expect(await statusOf('late.lab.test')).toBe('unknown_host')
    rmSync(foreign())
    await at.reload()
    expect(await statusOf('late.lab.test')).toBe('unknown_host')
    await place('late.lab.test')
    expect(await statusOf('late.lab.test')).toBe(200)
  })

  test('is refused when an address to listen on is taken, though nginx finds nothing wrong', async () => {
    const squatter = createTcpServer().listen(0, at.address)
    await once(squatter, 'listening')
    const { port } = squatter.address() as AddressInfo
    writeFileSync(foreign(), `server { listen ${at.address}:${port}; }\n`)
    await at.edge.assertValid()
    await expect(at.reload()).rejects.toMatchObject({
      kind: 'not_reloaded',
      message: expect.stringContaining('another program uses an address and port'),
    })
    squatter.close()
    rmSync(foreign())
    await at.reload()
  })

  const MOMENTS = process.env.CAMPAIGN
    ? [
        { state: 'rest', delays: [0, 1, 2, 4, 8, 16] },
        { state: 'work', delays: [0, 4, 16, 64, 90, 100, 110] },
      ]
    : [
        { state: 'rest', delays: [0, 2, 8] },
        { state: 'work', delays: [0, 16, 90, 110] },
      ]
  test.each(MOMENTS)(
    'is not proven by the replacement of a worker that died, with nginx at $state',
    async ({ state, delays }) => {
      for (const ms of delays) {
        if (state === 'rest') await isAtRest()
        else await at.reload()
        writeFileSync(foreign(), 'no_such_directive on;\n')
        const reload = at.reload()
        reload.catch(() => undefined)
        await takes(ms)
        for (const pid of servingWorkers(at.pid)) process.kill(pid, 'SIGKILL')
        await expect(reload, `after ${ms} ms`).rejects.toMatchObject({ message: expect.stringContaining(foreign()) })
        rmSync(foreign())
      }
      await at.reload()
    },
  )

  test("is not proven by somebody else's, which may have read what stood before", async () => {
    const lengthy = Array.from({ length: 5_000 }, (_, i) => `~^(a|b)${i}(c+|d+)$ 1;`)
    writeFileSync(foreign(), `map $host $lengthy { ${lengthy.join('\n')} }\n`)
    for (const ms of process.env.CAMPAIGN ? [5, 10, 20, 30, 40] : [5, 20]) {
      await isAtRest()
      const beforeSwap = () => {
        process.kill(at.pid, 'SIGHUP')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      }
      await place(`after-${ms}.lab.test`, whenAt('before-swap', beforeSwap))
      expect(await statusOf(`after-${ms}.lab.test`)).toBe(200)
    }
  })

  test('lets the former workers go as soon as others serve, and nginx replaces none of those', async () => {
    const { config, errorLog, pid } = at
    const told = readFileSync(config, 'utf8')
    writeFileSync(config, told.replace('worker_processes 1;', 'worker_processes 4;'))
    const logEnd = readFileSync(errorLog).length
    await at.reload()
    for (let round = 0; round < ROUNDS; round += 1) {
      await isAtRest()
      const former = servingWorkers(pid)
      expect(former).toHaveLength(4)
      await at.reload()
      const first = servingWorkers(pid)
      await isAtRest()
      const now = servingWorkers(pid)
      expect(now).toHaveLength(4)
      expect(now.filter((worker) => former.includes(worker))).toEqual([])
      expect(first.filter((worker) => !now.includes(worker))).toEqual([])
    }
    const log = readFileSync(errorLog).toString('utf8', logEnd)
    expect(log).toContain(`signal 3 (SIGQUIT) received from ${process.pid}`)
    expect(log).not.toContain('[alert]')
    writeFileSync(config, told)
    await at.reload()
  })

  test('without an nginx, or with a stranger under its number, signals nobody', async () => {
    const pidFile = join(at.folder, '..', 'other.pid')
    const stranded = { ...at, pidFile }
    for (const pid of ['', '0', '-1', String(process.pid), '99999999']) {
      writeFileSync(pidFile, pid)
      await expect(reloadNginx(stranded)).rejects.toMatchObject({ kind: 'not_reloaded' })
    }
    rmSync(pidFile)
    await expect(reloadNginx(stranded)).rejects.toMatchObject({ kind: 'not_reloaded' })
  })

  test('that no answer follows is not proven', async () => {
    const elsewhere = { ...at, ports: { ...at.ports, http: 9 } }
    await expect(reloadNginx(elsewhere)).rejects.toMatchObject({
      kind: 'not_reloaded',
      message: expect.stringContaining('do not answer'),
    })
  })
})

describe('a neighbour under load', () => {
  test('sees no failed request while hosts come and go', async () => {
    const load = startLoad('neighbour.lab.test')
    for (let round = 0; round < ROUNDS; round++) {
      await at.place({ host: 'comes.lab.test', planId: PLAN_ID, target })
      expect(await statusOf('comes.lab.test')).toBe(200)
      await at.remove('comes.lab.test')
      expect(await statusOf('comes.lab.test')).toBe('unknown_host')
    }
    const { good, failures } = await load.stop()
    expect(failures).toEqual([])
    expect(good).toBeGreaterThan(100)
  })
})

describe('questions', () => {
  test.each([
    ['refused', ''],
    ['not_http', 'SSH-2.0-x\r\n'],
  ])('%s', async (reason, speech) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined).end(speech)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    if (reason === 'refused') server.close()
    const edge = localEdge({ ...at, address: '127.0.0.1', ports: { http: port, https: port } })
    expect(await edge.ask({ host: 'x.lab.test', path: '/', tls: false })).toEqual({ kind: 'no_answer', reason })
    if (reason === 'not_http') {
      const answer = await edge.ask({ host: 'x.lab.test', path: '/', tls: true })
      expect(answer).toEqual({ kind: 'no_answer', reason: 'handshake_refused' })
    }
    server.close()
  })
})

/** Visitors with kept-alive and with fresh connections, until it is stopped. */
function startLoad(host: string) {
  const failures: string[] = []
  let good = 0
  let isWanted = true
  const kept = [1, 2].map(() => new Agent({ keepAlive: true }))
  const visitors = [...kept, false as const, false as const].map(async (agent) => {
    while (isWanted) {
      const outcome = await visit(host, agent)
      if (outcome === 'here') good += 1
      else failures.push(outcome)
    }
  })
  return {
    async stop() {
      isWanted = false
      await Promise.all(visitors)
      for (const agent of kept) agent.destroy()
      return { good, failures }
    },
  }
}

/**
 * What a browser does, too: a connection that was kept and that the server closes at the moment of the next request is
 * no failure (RFC 9112, 9.3.1); the request is sent once more on a fresh one.
 */
function visit(host: string, agent: Agent | false): Promise<string> {
  return new Promise((resolve) => {
    const asking = get(
      { host: at.address, port: at.ports.http, headers: { host }, agent, timeout: 5_000 },
      (response) => {
        let text = ''
        response.on('data', (part) => {
          text += part
        })
        response.once('end', () => resolve(response.statusCode === 200 ? text : `HTTP ${response.statusCode}`))
        response.once('error', (error) => resolve(error.message))
      },
    )
    asking.once('timeout', () => asking.destroy(new Error('timeout')))
    asking.once('error', (error) => (asking.reusedSocket ? resolve(visit(host, false)) : resolve(error.message)))
  })
}
