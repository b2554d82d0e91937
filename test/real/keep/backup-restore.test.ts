import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { statePaths } from '../../../lab/state.ts'
import { visit } from '../../support/edge/visitor.ts'
import { applied, planOf, removed } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A backup that was taken while applies ran is restored on an empty machine: the same hosts are served there. */
let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab()
}, 60_000)
afterAll(() => lab?.stop())

const config = () => statePaths(lab.state).config
const BEFORE = 10

test('the hosts of a backup under load are served on an empty machine, and the audit chain is whole', async () => {
  const tls = await applied(lab, { subdomain: 'secure', tls: true })
  const before: { host: string; planId: string }[] = []
  for (let i = 0; i < BEFORE; i += 1) before.push(await applied(lab, { subdomain: `early-${i}` }))
  await removed(lab, before[0]?.planId ?? '')

  const passphrase = join(lab.state, 'passphrase')
  writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 })
  const file = join(lab.state, 'load.backup')
  const options = ['--passphrase-file', passphrase, '--config', config()]
  const load = Promise.all(Array.from({ length: 8 }, (_, i) => applied(lab, { subdomain: `during-${i}` })))
  await until('an apply runs', () => rowsOf(lab, "select 1 from runs where state = 'running'").length > 0)
  const made = await drawbridge(['backup', file, ...options])
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('It is encrypted.') })
  await load
  await applied(lab, { subdomain: 'too-late' })

  const { primary, secondary } = lab.description.edges
  await lab.restartService((given) => {
    for (const { folder } of [primary, secondary])
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
    rmSync(statePaths(lab.state).service, { recursive: true })
    const told = execFileSync(launcher(), ['restore', file, ...options], { encoding: 'utf8' })
    expect(told).toContain('The store begins epoch')
    return given
  })

  const hosts = rowsOf<{ host: string }>(lab, "select host from exposures where state = 'applied'").map(
    ({ host }) => host,
  )
  for (const { host } of before.slice(1)) expect(hosts).toContain(host)
  expect(hosts).not.toContain(before[0]?.host)
  const isServed = async (edge: typeof primary, host: string) =>
    (await visit(edge, { host }).catch(() => ({ status: 0 }))).status === 200
  const settled = () => rowsOf(lab, "select 1 from exposures where state <> 'applied'").length === 0
  await until('interrupted runs have ended', settled, 60_000)
  for (const edge of [primary, secondary])
    for (const { host } of before.slice(1))
      await until(`${host} is served by edge ${edge.server}`, () => isServed(edge, host), 60_000)
  const ca = readFileSync(lab.description.acme.ca)
  await until(
    'the host with TLS is served',
    async () => (await visit(primary, { host: tls.host, ca }).catch(() => ({ status: 0 }))).status === 200,
    60_000,
  )

  const verified = await drawbridge(['audit', 'verify', '--config', config()])
  expect(verified).toMatchObject({ code: 0 })
  expect((await planOf(lab, before[1]?.planId ?? '')).state).toBe('applied')
  // What was applied after the backup is in the zone, and in no store: a rebuild finds it.
  await removed(lab, before[1]?.planId ?? '')
  await removed(lab, tls.planId)
})

test('a second restore is refused, because the store is not empty', async () => {
  const file = join(lab.state, 'plain.backup')
  expect((await drawbridge(['backup', file, '--config', config()])).stdout).toContain('It is not encrypted')
  await lab.restartService((given) => {
    let told = ''
    try {
      execFileSync(launcher(), ['restore', file, '--config', config()], { encoding: 'utf8', stdio: 'pipe' })
    } catch (error) {
      told = String((error as { stderr: string }).stderr)
    }
    expect(told).toContain('is not empty')
    return given
  })
})

test('beside a running service a restore is refused', async () => {
  const told = await drawbridge(['restore', join(lab.state, 'plain.backup'), '--config', config()])
  expect(told.stderr).toContain('Another Drawbridge service uses the state folder')
})
