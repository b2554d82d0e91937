import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { statePaths } from '../../../lab/state.ts'
import { applied, invariants, removed, run } from '../../support/lab/exposure.ts'
import { startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 180_000 })

/** The edges belong to agents, which keep the fences of the store that is lost. */
async function afterLoss(lab: TestLab, command: readonly string[]): Promise<string> {
  let told = ''
  await lab.restartService((given) => {
    rmSync(statePaths(lab.state).service, { recursive: true })
    told = execFileSync(launcher(), [...command, '--config', statePaths(lab.state).config], { encoding: 'utf8' })
    return given
  })
  return told
}

/** What was exposed before can be removed, and something new can be exposed. */
async function isManagedAgain(lab: TestLab, planId: string): Promise<void> {
  await until('the agents are in step', async () => (await lab.call({ path: '/readyz' })).status === 200, 60_000)
  expect(await run(lab, planId, 'remove')).toMatchObject({ status: 200 })
  await removed(lab, (await applied(lab, { subdomain: 'later' })).planId)
  await invariants(lab)
}

test('a backup is restored behind agents over TLS, which take the changes of the new epoch', async () => {
  const { lab } = await startWithAgents({}, { tls: true })
  try {
    await until('the agent is reached', async () => (await lab.call({ path: '/readyz' })).status === 200, 60_000)
    const { planId } = await applied(lab, { subdomain: 'kept', tls: true })
    const file = join(lab.state, 'kept.backup')
    execFileSync(launcher(), ['backup', file, '--config', statePaths(lab.state).config])
    await removed(lab, (await applied(lab, { subdomain: 'after-the-backup' })).planId)
    expect(await afterLoss(lab, ['restore', file])).toContain('The store begins epoch')
    await isManagedAgain(lab, planId)
  } finally {
    await lab.stop()
  }
})

test('a lost store is rebuilt from what agents serve', async () => {
  const { lab } = await startWithAgents({}, {})
  try {
    const { planId } = await applied(lab, { subdomain: 'found', tls: true })
    expect(await afterLoss(lab, ['rebuild', '--from-world', '--yes'])).toContain('1 host is in the store')
    await isManagedAgain(lab, planId)
  } finally {
    await lab.stop()
  }
})
