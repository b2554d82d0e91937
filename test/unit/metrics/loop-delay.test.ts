import { expect, onTestFinished, test } from 'vitest'
import { LoopDelay } from '../../../src/metrics/loop-delay.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import type { OperationSources } from '../../../src/metrics/operation-gauges.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { until } from '../../support/until.ts'

const BLOCKED_MS = 300

function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** The first sample is taken some time after the start, and the delay is known with the sample after the block. */
async function blockedUntilSeen(delay: LoopDelay): Promise<void> {
  await until('the delay is seen', () => {
    block(BLOCKED_MS)
    return delay.quantile(1) > BLOCKED_MS / 2 / 1000
  })
}

test('a blocked event loop shows in the highest quantile, however often it is read', async () => {
  const delay = new LoopDelay(systemClock)
  delay.start()
  onTestFinished(() => delay.stop())
  await blockedUntilSeen(delay)
  const first = delay.quantile(0.999)
  expect(delay.quantile(0.999)).toBeGreaterThanOrEqual(first)
})

test('the delay is forgotten after two windows', async () => {
  const delay = new LoopDelay(systemClock)
  delay.start(200)
  onTestFinished(() => delay.stop())
  await blockedUntilSeen(delay)
  await expect.poll(() => delay.quantile(1)).toBeLessThan(BLOCKED_MS / 2 / 1000)
})

const AT_REST: OperationSources = {
  version: '1.2.3',
  runs: async () => ({ unfinishedSince: [], blocked: 0 }),
  edges: async () => [],
  failingRenewals: async () => 0,
  authorityPausedUntil: async () => 0,
  clockOffsets: () => new Map(),
  freeBytes: async () => ({}),
  pingStore: async () => undefined,
  lastBackupAt: async () => undefined,
  clock: systemClock,
}

const instances = { storeAnswers: true, unconfirmedMs: undefined, alive: [], duties: [] }
const metricsAtRest = () =>
  new Metrics({
    ...{ hosts: () => [], queues: {}, edges: () => [], instances: async () => instances },
    ...{ findRun: async () => undefined, operation: AT_REST, clock: systemClock },
  })

test('the metrics have three quantiles', async () => {
  const text = await metricsAtRest().text()
  const quantiles = [...text.matchAll(/^drawbridge_event_loop_delay_seconds\{quantile="([\d.]+)"\} [\d.e-]+$/gm)]
  expect(quantiles.map(([, quantile]) => quantile)).toEqual(['0.5', '0.99', '0.999'])
})

test('the usual metrics of a process are there, and measure', async () => {
  const text = await metricsAtRest().text()
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_heap_size_used_bytes'])
    expect(Number(new RegExp(`^${name} ([\\d.e+]+)$`, 'm').exec(text)?.[1]), name).toBeGreaterThan(0)
})
