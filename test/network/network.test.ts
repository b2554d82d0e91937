import { afterAll, beforeAll, describe } from 'vitest'
import { isRoot } from '../../lab/program.ts'
import { startTestNetwork, type TestNetwork } from '../support/network/network.ts'
import { callers } from './callers.ts'

/** One network for all of these tests: it takes seconds to build. */
const suite = isRoot() ? describe : describe.skip

suite(isRoot() ? 'in the network' : 'in the network (skipped: only root may make namespaces)', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await startTestNetwork()
  }, 180_000)
  afterAll(() => network?.stop(), 60_000)

  callers(() => network)
})
