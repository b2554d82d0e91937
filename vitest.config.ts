import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** By how long files take, longest first: one that begins last would be waited for alone. */
const ORDER = [
  'test/faults/crash/',
  'test/network/',
  'test/packaging/',
  'test/browser/',
  'test/faults/',
  'test/world/',
  'test/contract/',
  'test/real/',
  'test/security/',
  'test/integration/edge/edge-crash',
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

/** These start no service and change nothing of their process, so that one process can run many files. */
const PARTS = [
  'test/architecture.test.ts',
  'test/unit/**/*.test.ts',
  'test/integration/**/*.test.ts',
  'test/browser/logic/**/*.test.ts',
]
const ALL = ['test/**/*.test.ts']
/** They need a process in which no thread or variable of another file is left. */
const ALONE = ['test/security/secrets/child-environment.test.ts', 'test/integration/runtime/given-clock.test.ts']
/** These are no test but for a campaign. */
const CAMPAIGNS = process.env.CAMPAIGN
  ? []
  : [
      'test/browser/pictures.test.ts',
      'test/faults/crash/{crash-repair,takeover-walk}.test.ts',
      'test/faults/instances/{database-lost,two-instances}.test.ts',
      'test/faults/{certificate-authority,disk,dns,foreign-store,former-store,interleaving}.test.ts',
      'test/faults/{refused-removal,secondary-outage}.test.ts',
      'test/packaging/machines/*.test.ts',
      'test/real/nginx/edge-layout.test.ts',
      'test/real/keep/{backup-restore,behind-agents,rebuild}.test.ts',
      'test/real/status/monitor-instances.test.ts',
      'test/security/capabilities/certificate-budget.test.ts',
    ]

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'parts', include: PARTS, exclude: ALONE } },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ALL,
          exclude: [...PARTS, ...ALONE, ...CAMPAIGNS],
          setupFiles: ['test/support/lab/after-each.ts'],
        },
      },
    ],
    // A limit ends what hangs. It says nothing about speed, and a busy machine can be five times as slow.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // What comes soon comes late on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // A worker runs many files in one process: it loads the code once, and its files share labs.
    isolate: false,
    // One more than cores: with two more, each file took so much longer that the whole did too.
    maxWorkers: availableParallelism() + 1,
    maxConcurrency: 3,
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
  },
})
