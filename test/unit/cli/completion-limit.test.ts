import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { isCompleted, offered } from '../../../src/cli/completion/offered.ts'
import { urlOnThisMachine } from '../../../src/cli/service/service-address.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { freshFolder } from '../../support/fresh.ts'
import { listening } from '../../support/listening.ts'

const folder = freshFolder()

/** The limits that were asked for; each is over as soon as the test says so. */
function heldLimits() {
  const limits: { readonly ms: number; readonly end: () => void }[] = []
  const spied = vi.spyOn(systemClock, 'timeout').mockImplementation((ms) => {
    const held = new AbortController()
    limits.push({ ms, end: () => held.abort(new DOMException('The time is over.', 'TimeoutError')) })
    return held.signal
  })
  onTestFinished(() => void spied.mockRestore())
  return limits
}

async function started(server: Server | ReturnType<typeof createTcpServer>) {
  const { port, [Symbol.asyncDispose]: close, sockets } = await listening(server)
  onTestFinished(close)
  return { url: `http://127.0.0.1:${port}`, sockets }
}

test.each(['hosts', 'plans', 'servers', 'hosts-and-plans'] as const)(
  'nobody waits longer than a second for %s of a service that accepts and never answers',
  async (what) => {
    const limits = heldLimits()
    const { url, sockets } = await started(createTcpServer((socket) => void socket.resume()))
    const names = offered(what, '', url)
    await expect.poll(() => sockets.size).toBe(what === 'hosts-and-plans' ? 2 : 1)
    expect(limits.map(({ ms }) => ms)).toEqual([1_000])
    limits[0]?.end()
    expect(await names).toEqual([])
    await expect.poll(() => sockets.size).toBe(0)
  },
)

test('an answer that begins and does not end is not waited for either', async () => {
  const limits = heldLimits()
  const { url, sockets } = await started(createServer((_, response) => void response.write('{"hosts":[')))
  const names = offered('hosts', '', url)
  await expect.poll(() => sockets.size).toBe(1)
  limits[0]?.end()
  expect(await names).toEqual([])
})

test('a service of this machine that was just started is waited for no longer than the signal says', async () => {
  const config = folder('drawbridge.yaml')
  const port = await freePort()
  writeFileSync(config, `listen: { address: 127.0.0.1, port: ${port} }\n`)
  const over = new AbortController()
  const isRunning = () => {
    over.abort()
    return true
  }
  const url = await urlOnThisMachine({ DRAWBRIDGE_CONFIG: config }, { isRunning, signal: over.signal })
  expect(url).toBe(`http://127.0.0.1:${port}`)
})

test('a resolver that does not answer is asked once', async () => {
  vi.stubEnv('RES_OPTIONS', undefined)
  vi.stubEnv('DRAWBRIDGE_URL', 'ftp://nowhere')
  onTestFinished(() => void vi.unstubAllEnvs())
  await isCompleted(['hosts'])
  expect(process.env.RES_OPTIONS).toBe('timeout:1 attempts:1')
})
