import { expect, test } from 'vitest'
import { driftLines, readDrifts } from '../../../src/cli/views/drift.ts'
import type { DrawbridgeClient } from '../../../src/client/client.ts'
import { screenOn } from '../../../src/terminal/screen.ts'

const service = (network: string, hosts: readonly object[]) =>
  ({ policy: async () => ({ caller: { network } }), allHosts: async () => ({ hosts }) }) as unknown as DrawbridgeClient

test('a caller outside, who sees no plan, is told so and not that nothing differs', async () => {
  for (const hosts of [[], [{ host: 'hello.lab.test', managed: true }]])
    await expect(readDrifts(service('public', hosts), undefined, true)).rejects.toThrow(/in the internal network\.$/)
})

test('where nothing is exposed, one sentence says so', async () => {
  const drifts = await readDrifts(service('internal', [{ host: 'own.lab.test', managed: false }]), undefined, true)
  expect(driftLines(drifts, screenOn(process.stdout, {}), 0)).toEqual([
    'No host is exposed, so there is nothing to compare.',
  ])
})
