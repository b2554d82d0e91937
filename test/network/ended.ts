import { expect } from 'vitest'
import { hasEntry } from '../support/lab/entry-file.ts'
import { type CalledService, planOf } from '../support/lab/exposure.ts'
import type { TestNetwork } from '../support/network/network.ts'
import { until } from '../support/until.ts'

const ENDS = ['applied', 'rolled_back']
const ENDED_MS = 60_000

/** Waits until the apply of a plan has ended, whoever ends it, and checks that nothing is half there. */
export async function endOfApply(
  network: TestNetwork,
  asked: CalledService,
  { planId, host }: { readonly planId: string; readonly host: string },
): Promise<string> {
  let state = ''
  const hasEnded = async () => {
    state = (await planOf(asked, planId).catch(() => ({ state: 'unknown' }))).state
    return ENDS.includes(state)
  }
  await until(`the apply of ${host} has ended`, hasEnded, ENDED_MS)
  const isApplied = state === 'applied'
  expect({ host, state, entry: hasEntry(network.description.edges['23'], host) }).toMatchObject({ entry: isApplied })
  expect(await network.addresses('10', '23', host)).toEqual(isApplied ? ['192.168.45.23'] : [])
  return state
}
