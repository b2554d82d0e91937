import { expect, test } from 'vitest'
import { highestEdgeEpoch } from '../../../src/compose/machine/edge-epoch.ts'
import type { Config } from '../../../src/config/config.ts'
import { DESCRIPTION, startLyingAgent } from '../../support/edge/lying-agent.ts'

const configured = (agents: Record<string, { socket: string }>) => ({ edges: {}, agents }) as unknown as Config

const epochTold = async (epoch: number): Promise<number> => {
  await using agent = await startLyingAgent({ describe: { answer: { ...DESCRIPTION, epoch } } })
  const config = configured({ 23: { socket: agent.socket } })
  return (await highestEdgeEpoch(config, config)).highest
}

// Row 38 of the threats. The copy of a store begins an epoch above this one, and no edge takes a lower one ever after.
test.each([Number.MAX_SAFE_INTEGER, Date.now() + 3 * 86_400_000])(
  'the epoch %d of one lying agent ends no changes of others',
  async (epoch) => {
    await expect(epochTold(epoch)).rejects.toThrow(
      /^Edge 23 tells an epoch that is \d+ days ahead of the clock of this machine /,
    )
  },
)

test('an epoch that a clock can have is believed', async () => {
  const epoch = Date.now() + 3_600_000
  expect(await epochTold(epoch)).toBe(epoch)
})

test('an agent that only the new configuration has may start after the copy; one of the former must answer', async () => {
  const away = configured({ 73: { socket: '/nowhere/edge.sock' } })
  expect(await highestEdgeEpoch(configured({}), away)).toEqual({
    highest: 0,
    unknown: [{ server: '73', reason: expect.stringMatching(/^\S.*\.$/) }],
  })
  await expect(highestEdgeEpoch(away, configured({}))).rejects.toThrow('Its epoch must be known, so nothing was copied')
})
