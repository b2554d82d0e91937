import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import { applied, invariants, removed, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import { startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { whileStopped } from '../../support/lab/while-stopped.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 180_000 })

/** The edges belong to agents, which keep the fences of the store that is lost. */
let lab: TestLab
afterEach(() => lab?.stop())

const drawbridge = async (...args: string[]): Promise<string> => {
  const ended = await command([...args, '--config', statePaths(lab.state).config])
  expect(ended).toMatchObject({ code: 0 })
  return ended.stdout
}

const afterLoss = (...command: string[]): Promise<string> =>
  whileStopped(lab, () => {
    rmSync(statePaths(lab.state).service, { recursive: true })
    return drawbridge(...command)
  })

/** What was exposed before can be removed, and something new can be exposed. */
async function isManagedAgain(planId: string): Promise<void> {
  await until('the agents are in step', async () => (await lab.call({ path: '/readyz' })).status === 200)
  expect(await run(lab, planId, 'remove')).toMatchObject({ status: 200 })
  await removed(lab, (await applied(lab, { subdomain: 'later' })).planId)
  // A pair that only edges had goes with the next look, when no host uses it.
  await housekeeping(lab, 'converge')
  await invariants(lab)
}

test('a backup is restored behind agents over TLS, which take the changes of the new epoch', async () => {
  ;({ lab } = await startWithAgents({}, { tls: true }))
  await until('the agent is reached', async () => (await lab.call({ path: '/readyz' })).status === 200)
  const { planId } = await applied(lab, { subdomain: 'kept', tls: true })
  const file = join(lab.state, 'kept.backup')
  await drawbridge('backup', file, '--unencrypted')
  await removed(lab, (await applied(lab, { subdomain: 'after-the-backup' })).planId)
  expect(await afterLoss('restore', file)).toContain('The store begins epoch')
  await isManagedAgain(planId)
})

test('a lost store is rebuilt from what agents serve', async () => {
  ;({ lab } = await startWithAgents())
  const { planId } = await applied(lab, { subdomain: 'found', tls: true })
  expect(await afterLoss('rebuild', '--from-world', '--yes')).toContain('1 host is in the store')
  // Row 38 of the threats: the key stays on the edges. An agent that is asked for one could answer with any.
  expect(existsSync(join(statePaths(lab.state).service, 'certificates'))).toBe(false)
  await isManagedAgain(planId)
})
