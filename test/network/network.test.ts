import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../lab/program.ts'
import { TestNetwork } from '../support/network/network.ts'
import { cables } from './cables.ts'
import { callers } from './callers.ts'
import { cutConnections } from './connections.ts'
import { crashes } from './crashes.ts'
import { rights } from './rights.ts'
import { supervision } from './supervision.ts'

/** One network for all of these tests, because it takes seconds to build. */
const suite = isRoot() ? describe : describe.skip

suite(isRoot() ? 'the network' : 'the network (skipped: only root may make namespaces)', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start()
  }, 180_000)
  afterAll(() => network?.stop(), 60_000)

  callers(() => network)
  rights(() => network)
  if (process.env.CAMPAIGN) {
    cables(() => network)
    cutConnections(() => network)
    crashes(() => network)
    supervision(() => network)
  }

  test('leaves no process and no namespace when it is asked to end', async () => {
    const { machines } = network.description
    const pids = Object.values(machines).flatMap((machine) => Object.values(machine.pids))
    expect(pids.length).toBeGreaterThan(0)
    expect(await network.stop()).toBe(0)
    expect(pids.filter(isAlive)).toEqual([])
    expect(network.namespaces()).toEqual([])
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
