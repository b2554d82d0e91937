import { expect, test } from 'vitest'
import { OwnedElsewhere } from '../../../src/edge/contract/fault.ts'
import { EdgePreparation } from '../../../src/runs/edge-preparation.ts'
import { createLog } from '../../../src/runtime/log.ts'

/** Two edges that fail with what `faults` has for them, and a clock. */
function prepared() {
  const faults = new Map<string, string | Error>()
  const tried: string[] = []
  const clock = { now: 0 }
  const edges = ['23', '73'].map((server) => ({
    server,
    prepare: async () => {
      tried.push(`${server} ${clock.now}`)
      const fault = faults.get(server)
      if (fault !== undefined) throw typeof fault === 'string' ? new Error(fault) : fault
    },
  }))
  const log = createLog('silent', [])
  const parts = { edges, primary: '23', log, clock: { monotonic: () => clock.now } }
  return { faults, tried, clock, preparation: new EdgePreparation(parts) }
}

test('tries an edge again after longer and longer pauses, until it is prepared', async () => {
  const { faults, tried, clock, preparation } = prepared()
  faults.set('23', 'nginx has no place in /etc/nginx/secret.conf.')
  await preparation.begin()
  expect(preparation.refusal).toBe('nginx has no place in /etc/nginx/secret.conf.')
  expect(preparation.warnings).toEqual([
    expect.stringMatching(/^Edge 23 is not ready, so this installation can only plan\./),
  ])
  expect(preparation.warnings.join()).not.toContain('/')
  for (clock.now = 0; clock.now < 3_600_000; clock.now += 1_000) await preparation.retry()
  const times = tried.filter((one) => one.startsWith('23 ')).map((one) => Number(one.slice(3)))
  expect(times.slice(0, 6)).toEqual([0, 5_000, 15_000, 35_000, 75_000, 155_000])
  expect(times.slice(-2)).toEqual([times.at(-2), (times.at(-2) ?? 0) + 300_000])
  expect(tried.filter((one) => one.startsWith('73 '))).toEqual(['73 0'])
  faults.clear()
  clock.now += 300_000
  await preparation.retry()
  expect([preparation.refusal, preparation.warnings]).toEqual([undefined, []])
  const { length } = tried
  clock.now += 3_600_000
  await preparation.retry()
  expect(tried).toHaveLength(length)
})

test('tries an edge that another process owns at every look: that one may be ending', async () => {
  const { faults, tried, clock, preparation } = prepared()
  faults.set('23', new OwnedElsewhere('Edge 23 belongs to process 7.'))
  await preparation.begin()
  expect(preparation.refusal).toBe('Edge 23 belongs to process 7.')
  for (clock.now = 2_000; clock.now <= 600_000; clock.now += 2_000) await preparation.retry()
  expect(tried.filter((one) => one.startsWith('23 '))).toHaveLength(301)
  faults.clear()
  await preparation.retry()
  expect(preparation.refusal).toBe(undefined)
})

test('a Secondary that is not ready stops no apply', async () => {
  const { faults, preparation } = prepared()
  faults.set('73', 'It is away.')
  await preparation.begin()
  expect([preparation.refusal, preparation.warnings]).toEqual([undefined, []])
})
