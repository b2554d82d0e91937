import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { entryFile } from '../support/lab/entry-file.ts'
import { invariants } from '../support/lab/exposure.ts'
import { drawbridge } from '../support/programs/drawbridge.ts'
import { demonstration } from './demo/demonstration.ts'
import { keyboard } from './expose/keyboard.ts'
import { nothingLost } from './expose/nothing-lost.ts'
import { story } from './expose/story.ts'
import { tenTasks } from './expose/ten-tasks.ts'
import { weight } from './expose/weight.ts'
import { outside } from './repair/outside.ts'
import { refusals } from './repair/refusals.ts'
import { accepting, repairs } from './repair/repairs.ts'
import { screens } from './screens/screens.ts'
import { oneSite, test } from './site/page-test.ts'
import { access } from './status/access.ts'
import { acts } from './status/acts.ts'
import { connection } from './status/connection.ts'
import { crowd } from './status/crowd.ts'
import { liveDiagnosis } from './status/live-diagnosis.ts'

oneSite()

weight()

/**
 * The page in a real Chromium. Each test has its own hosts and its own browser contexts, and the longest begin first. `npm test`
 * plays the main ways; `npm run campaign -- browser/page` plays all.
 */
describe.concurrent('the page', () => {
  story()
  outside()
  connection()
  liveDiagnosis()
  acts()
  if (!process.env.CAMPAIGN) return
  demonstration()
  screens()
  keyboard()
  repairs()
  nothingLost()
  access()
  refusals()
  crowd()
})

test.runIf(process.env.CAMPAIGN)(
  'store, zone and edges are whole when all runs have ended',
  async ({ demo: _demo, lab }) => {
    const host = 'legacy.lab.test'
    const file = entryFile(lab.description.edges.primary, host)
    writeFileSync(file, readFileSync(file, 'utf8').replace(' # changed by hand', ''))
    const { planId } = (await lab.call({ path: `/api/health?host=${host}` })).body
    const resolved = await drawbridge(['resolve', planId, '--config', join(lab.state, 'drawbridge.yaml')])
    expect(resolved.code).toBe(0)
    await invariants(lab)
  },
)

if (process.env.CAMPAIGN) {
  accepting()
  tenTasks()
}
