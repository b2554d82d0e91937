import { expect, test } from 'vitest'
import { COSTS, type CostPoint, type Costs, costModels, hostsOfOne } from '../../../bench/cost-model.ts'
import { scalePage } from '../../../bench/scale-page.ts'

/** Every cost is 10 and grows by 1 for every 1,000 hosts, unless `special` says otherwise. */
const pointAt = (hosts: number, special: Partial<Costs> = {}): CostPoint => ({
  hosts,
  costs: {
    ...(Object.fromEntries(Object.keys(COSTS).map((key) => [key, 10 + hosts / 1_000])) as unknown as Costs),
    ...special,
  },
})
const SIZES = [100, 1_000, 10_000, 30_000]
const costOf = (points: readonly CostPoint[], name: string) => costModels(points).find((model) => model.name === name)

test('the largest size is a prediction and does not bend the model', () => {
  const points = [...SIZES.slice(0, -1).map((hosts) => pointAt(hosts)), pointAt(30_000, { serviceMb: 400 })]
  const model = costOf(points, COSTS.serviceMb.name)
  expect(model?.measured.at(-1)).toEqual({ hosts: 30_000, value: 400, model: expect.closeTo(40, 6) })
})

test('the limit that is reached first decides how many hosts one installation bears', () => {
  const models = costModels(SIZES.map((hosts) => pointAt(hosts)))
  // The monitor may take 80 %: (80 - 10) * 1,000.
  expect(hostsOfOne(models)).toBe(70_000)
})

test('a cost that does not grow has no limit', () => {
  const points = SIZES.map((hosts) => pointAt(hosts, { monitorPercent: 5 }))
  const flat = costOf(points, COSTS.monitorPercent.name)
  expect(flat?.mostHosts).toBe(Number.POSITIVE_INFINITY)
})

test('the page tells sizes, what breaks first, and the installations for a million hosts', () => {
  const page = scalePage(costModels(SIZES.map((hosts) => pointAt(hosts))), ['2 CPUs'], new Date('2026-01-02'))
  expect(page).toContain('Measured on 2026-01-02')
  expect(page).toContain('| cost | fixed | per 1,000 hosts | 100 hosts | 1,000 hosts | 10,000 hosts | 30,000 hosts |')
  expect(page).toContain(
    '| memory of the service | 10.0 MB | 1.00 MB | 10.1 MB | 11.0 MB | 20.0 MB | 40.0 MB (40.0 MB) |',
  )
  expect(page).toContain('about 70,000 hosts')
  expect(page).toContain('| 1,000,000 | 15 |')
  expect(page.split('\n').filter((line) => line.length > 160)).toEqual([])
})
