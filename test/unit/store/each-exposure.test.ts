import { expect, test } from 'vitest'
import { type Exposure, eachExposure } from '../../../src/store/ports/exposures.ts'

const stored = Array.from({ length: 1_203 }, (_, i) => exposureOf(`h${String(i).padStart(5, '0')}.lab.test`))

test.each([0, 1, 499, 500, 501, 1_000, 1_203])(
  'every one of %i exposures is met once, in their order',
  async (count) => {
    const all = stored.slice(0, count)
    const pages: number[] = []
    const store = {
      listExposures: async ({ after, limit }: { after: string; limit: number }) => {
        const page = all.filter(({ host }) => host > after).slice(0, limit)
        pages.push(page.length)
        return page
      },
    }
    const met = await Array.fromAsync(eachExposure(store))
    expect(met).toStrictEqual(all)
    expect(Math.max(...pages)).toBeLessThanOrEqual(500)
  },
)

function exposureOf(host: string): Exposure {
  return { host, planId: 'plan_x', state: 'applied', fence: 1, since: 0 }
}
