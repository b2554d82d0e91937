import { expect, test } from 'vitest'
import { benchScale } from '../../../bench/scale.ts'
import { SHORT } from '../../../bench/sizes.ts'

/** Seeded hosts are as good as applied ones: the service finds each of them RUNNING before anything is measured. */
test.runIf(process.env.CAMPAIGN)('a benchmark measures an apply and a remove beside seeded hosts', async () => {
  const rows = await benchScale({ ...SHORT, scale: { hosts: [], own: 3, rounds: 1 } })
  const figures = Object.fromEntries(rows.map(({ measure, values }) => [measure.split(': ')[1], values]))
  for (const measure of ['one apply', 'one remove', 'memory of the service', 'disk per host, one edge'])
    expect(figures[measure]).toEqual([expect.toSatisfy((value: number) => value > 0)])
})
