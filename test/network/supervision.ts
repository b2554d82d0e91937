import { readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runNetworkProgram, type TestNetwork } from '../support/network/network.ts'
import { until } from '../support/until.ts'

export function supervision(network: () => TestNetwork): void {
  describe('the parts', () => {
    test('have the users and the machines that the page tells', async () => {
      const { machines } = network().description
      for (const { namespace, pids } of Object.values(machines))
        for (const pid of Object.values(pids)) expect(namespaceOf(pid)).toBe(namespaceOf(namespace))
      const parts = Object.fromEntries(
        Object.entries(machines).map(([id, { pids }]) => [id, Object.keys(pids).toSorted()]),
      )
      expect(parts).toEqual({
        '23': ['edge', 'named', 'nginx', 'postgres', 'service'],
        '73': ['edge', 'named', 'nginx'],
        '25': ['backend', 'service'],
        '253': ['backend'],
        '10': [],
        ca: ['pebble'],
        public: [],
      })
      for (const machine of ['23', '73'] as const)
        for (const part of ['nginx', 'edge']) expect(userOf(network().pidOf(machine, part))).toBe('0')
      for (const machine of ['23', '25'] as const) expect(userOf(network().pidOf(machine, 'service'))).toBe('8045')
    })

    test('nginx stays dead until it is asked for, and a signal to its master is enough', async () => {
      const killed = network().killPart('73', 'nginx')
      await until('it is out of the description', () => network().pidOf('73', 'nginx') === undefined)
      await network().startPart('73', 'nginx')
      expect(network().pidOf('73', 'nginx')).not.toBe(killed)
      await expect(network().startPart('73', 'nginx')).rejects.toThrow('nginx on 73 already runs')
      await expect(network().startPart('73', 'postgres')).rejects.toThrow('73 has no part postgres')
    })

    test.each([
      ['23', 'edge'],
      ['73', 'edge'],
      ['25', 'service'],
      ['23', 'service'],
    ] as const)('%s: a part %s that dies is started again on the same state', async (machine, part) => {
      await network().replaced(machine, part, network().killPart(machine, part))
      await expect(network().startPart(machine, part)).rejects.toThrow(`${part} on ${machine} already runs`)
    })

    test.runIf(process.env.CAMPAIGN)('a service stays stopped when it was asked to stop', async () => {
      await network().isReady('23')
      await network().stopPart('23', 'service')
      expect(network().pidOf('23', 'service')).toBeUndefined()
      await network().startPart('23', 'service')
      await network().isReady('23')
    })

    test('a database that was killed comes back when it is asked for, and the service goes on', async () => {
      network().signalPart('23', 'postgres', 'SIGQUIT')
      await until('it is out of the description', () => network().pidOf('23', 'postgres') === undefined)
      await network().startPart('23', 'postgres')
      await network().isReady('23')
    })
  })

  test('a second network beside it is refused with one sentence, and the first one stays', async () => {
    const second = runNetworkProgram({ state: `${network().state}-second`, prefix: network().prefix })
    // Not at its exit: what it printed may be read after that.
    const [code] = await new Promise<[number | null]>((resolve) =>
      second.process.once('close', (code) => resolve([code])),
    )
    expect(code).not.toBe(0)
    expect(second.printed()).toContain(`A network already runs on this machine (pid ${network().program.process.pid}).`)
    await network().isReady('23')
  })
}

const userOf = (pid: number | undefined): string | undefined =>
  /^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]

/** The number of a network namespace, by a process in it or by its path. */
const namespaceOf = (place: number | string): number =>
  statSync(typeof place === 'number' ? `/proc/${place}/ns/net` : place).ino
