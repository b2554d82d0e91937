import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { examineListener } from '../../../src/operate/doctor/ports.ts'

const isOurs = async (owners: readonly number[]) => owners.includes(process.pid)

/** A server of this process, as an nginx of ours. */
async function ours(port: number, host: string) {
  const server = createServer().listen({ port, host, ipv6Only: true })
  await once(server, 'listening')
  return server
}

/** A program of somebody else. */
async function theirs(port: number, host: string) {
  const script = `require('net').createServer().listen(${port}, '${host}', () => console.log('ready'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

test.each(['0.0.0.0', '127.0.0.1'])(
  'a port is not ours because ours has the same port of IPv6 only (%s)',
  async (host) => {
    const port = await freePort('0.0.0.0')
    const own = await ours(port, '::')
    const other = await theirs(port, host)
    try {
      expect(await examineListener({ subject: 'edge 23', address: '127.0.0.1', port, isOurs })).toMatchObject({
        status: 'fault',
        sentence: expect.stringContaining(`(pid ${other.pid})`),
      })
      expect(await examineListener({ subject: 'edge 23', address: '::1', port, isOurs })).toMatchObject({
        status: 'ok',
      })
    } finally {
      other.kill()
      own.close()
      await Promise.all([once(other, 'exit'), once(own, 'close')])
    }
  },
)

test('a port of one address belongs to the program there, and that of the others to ours', async () => {
  const port = await freePort('0.0.0.0')
  const [own, other] = [await ours(port, '127.0.0.2'), await theirs(port, '127.0.0.1')]
  const statusAt = async (address: string) =>
    (await examineListener({ subject: 'edge 23', address, port, isOurs })).status
  try {
    expect([await statusAt('127.0.0.1'), await statusAt('127.0.0.2')]).toEqual(['fault', 'ok'])
    // Whoever wants all addresses meets both.
    expect(await statusAt('0.0.0.0')).toBe('fault')
  } finally {
    other.kill()
    own.close()
    await Promise.all([once(other, 'exit'), once(own, 'close')])
  }
})
