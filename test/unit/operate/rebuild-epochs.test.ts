import { expect, test } from 'vitest'
import { type FoundEntry, lookAtWorld, type RebuildParts } from '../../../src/operate/keep/rebuild.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const entry = (host: string, epoch: number): FoundEntry => ({
  ...{ host, edge: '23', record: undefined, certificate: undefined, epoch },
})
const parts = (entries: readonly FoundEntry[]) =>
  ({ entries: async () => ({ entries, silent: [] }), now: () => NOW }) as unknown as RebuildParts

// Row 38 of the threats: the newest epoch decides which hosts are this installation's own.
test('an epoch of the far future leaves its own host and no other', async () => {
  const world = parts([entry('a.lab.test', Number.MAX_SAFE_INTEGER), entry('b.lab.test', 5)])
  const { left } = await lookAtWorld(world, { otherEpochs: false, remembered: new Map() })
  expect(left).toMatchObject([
    { host: 'a.lab.test', reason: expect.stringContaining('ahead of the clock of this machine') },
    // This one was looked at.
    { host: 'b.lab.test', reason: expect.stringContaining('was edited, or another version wrote it') },
  ])
})
