import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** By how long files take, longest first: one that begins last would be waited for alone. */
const ORDER = [
  'test/faults/crash/',
  'test/network/',
  'test/browser/',
  'test/faults/',
  'test/model/',
  'test/real/certificates/renewal-soak',
  'test/contract/',
  'test/real/',
  'test/security/',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = ORDER.findIndex((beginning) => moduleId.includes(beginning))
      return place < 0 ? ORDER.length : place
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What comes soon comes late on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    // Labs wait more than they work: three at a time keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
})
