import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { parse, stringify } from 'yaml'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { command } from '../../support/programs/command.ts'
import { badges } from './watched/badges.ts'
import { causes } from './watched/causes.ts'
import { lists } from './watched/lists.ts'

/** What is told of hosts that are checked, on one lab: `lists` needs it empty, and `causes` takes it apart. */
let lab: TestLab
// `drawbridge status --watch` calls from outside.
const STATUS = { showUnmanaged: 'public' }
beforeAll(async () => {
  lab = await startTestLab({ configure: (config) => ({ ...config, status: STATUS }) })
})
afterAll(() => lab?.stop())

/** Lets the service read the configuration with this `status`. */
async function changed(status: object): Promise<void> {
  const file = join(lab.state, 'drawbridge.yaml')
  writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), status }))
  expect((await command(['reload', '--config', file])).stdout).toBe('In force now: status.\n')
}

describe('lists', () => lists(() => lab))
describe('badges', () => badges(() => lab, changed))
describe('causes', () =>
  causes(
    () => lab,
    () => changed(STATUS),
  ))
