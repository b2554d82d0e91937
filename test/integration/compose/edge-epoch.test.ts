import { expect, test } from 'vitest'
import { highestEdgeEpoch } from '../../../src/compose/machine/edge-epoch.ts'
import type { Config } from '../../../src/config/config.ts'
import { DESCRIPTION, startLyingAgent } from '../../support/edge/lying-agent.ts'

const epochTold = async (epoch: number): Promise<number> => {
  await using agent = await startLyingAgent({ describe: { answer: { ...DESCRIPTION, epoch } } })
  return await highestEdgeEpoch({ edges: {}, agents: { 23: { socket: agent.socket } } } as unknown as Config)
}

// Row 38 of the threats. The copy of a store begins an epoch above this one, and no edge takes a lower one ever after.
test.each([Number.MAX_SAFE_INTEGER, Date.now() + 3 * 86_400_000])(
  'the epoch %d of one lying agent ends no changes of others',
  async (epoch) => {
    await expect(epochTold(epoch)).rejects.toThrow(
      /^Edge 23 tells an epoch that is \d+ days ahead of the clock of this machine .* nothing was copied/,
    )
  },
)

test('an epoch that a clock can have is believed', async () => {
  const epoch = Date.now() + 3_600_000
  expect(await epochTold(epoch)).toBe(epoch)
})
