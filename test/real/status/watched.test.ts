import { afterAll, beforeAll, describe } from 'vitest'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { badges } from './watched/badges.ts'
import { causes } from './watched/causes.ts'
import { lists } from './watched/lists.ts'

/** What is told of hosts that are checked every second, on one lab: `lists` needs it empty, and `causes` takes it apart. */
let lab: TestLab
beforeAll(async () => {
  // `drawbridge status --watch` calls from outside.
  lab = await startTestLab({
    configure: (config) => ({ ...config, monitor: { everySeconds: 1 }, status: { showUnmanaged: 'public' } }),
  })
})
afterAll(() => lab?.stop())

describe('lists', () => lists(() => lab))
describe('badges', () => badges(() => lab))
describe('causes', () => causes(() => lab))
