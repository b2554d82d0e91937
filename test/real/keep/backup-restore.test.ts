import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import { visit } from '../../support/edge/visitor.ts'
import { applied, planOf, removed } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { whileStopped } from '../../support/lab/while-stopped.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A backup that was taken while applies ran is restored on an empty machine: the same hosts are served there. */
let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab()
}, 60_000)
afterAll(() => lab?.stop())

const config = () => statePaths(lab.state).config
const [BEFORE, DURING] = process.env.CAMPAIGN ? [10, 8] : [3, 4]

test('the hosts of a backup under load are served on an empty machine, and the audit chain is whole', async () => {
  const tls = await applied(lab, { subdomain: 'secure', tls: true })
  const before: { host: string; planId: string }[] = []
  for (let i = 0; i < BEFORE; i += 1) before.push(await applied(lab, { subdomain: `early-${i}` }))
  await removed(lab, before[0]?.planId ?? '')

  const passphrase = join(lab.state, 'passphrase')
  writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 })
  const file = join(lab.state, 'load.backup')
  const options = ['--passphrase-file', passphrase, '--config', config()]
  const load = Promise.all(Array.from({ length: DURING }, (_, i) => applied(lab, { subdomain: `during-${i}` })))
  await until('an apply runs', () => rowsOf(lab, "select 1 from runs where state = 'running'").length > 0)
  const made = await command(['backup', file, ...options])
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('It is encrypted.') })
  await load
  await applied(lab, { subdomain: 'too-late' })

  const { primary, secondary } = lab.description.edges
  await whileStopped(lab, async () => {
    for (const { folder } of [primary, secondary])
      for (const name of readdirSync(folder)) {
        // As `rm -rf FOLDER/*` does: the Primary remembers which hosts it had.
        if (folder === secondary.folder || !name.startsWith('.')) rmSync(join(folder, name), { recursive: true })
      }
    rmSync(statePaths(lab.state).service, { recursive: true })
    const { stdout } = await command(['restore', file, ...options])
    expect(stdout).toContain('The store begins epoch')
    expect(rowsOf(lab, 'select name from leases where holder is not null')).toEqual([])
  })

  const hosts = rowsOf<{ host: string }>(lab, "select host from exposures where state = 'applied'").map(
    ({ host }) => host,
  )
  for (const { host } of before.slice(1)) expect(hosts).toContain(host)
  expect(hosts).not.toContain(before[0]?.host)
  const isServed = async (edge: typeof primary, host: string) =>
    (await visit(edge, { host }).catch(() => ({ status: 0 }))).status === 200
  // Runs that were under way during the backup wait for a person.
  const others = rowsOf<{ state: string }>(lab, "select distinct state from exposures where state <> 'applied'")
  expect(others.every(({ state }) => state === 'blocked')).toBe(true)
  for (const edge of [primary, secondary])
    for (const { host } of before.slice(1))
      await until(`${host} is served by edge ${edge.server}`, () => isServed(edge, host))
  const ca = readFileSync(lab.description.acme.ca)
  await until(
    'the host with TLS is served',
    async () => (await visit(primary, { host: tls.host, ca }).catch(() => ({ status: 0 }))).status === 200,
    60_000,
  )

  const verified = await command(['audit', 'verify', '--config', config()])
  expect(verified).toMatchObject({ code: 0 })
  expect((await planOf(lab, before[1]?.planId ?? '')).state).toBe('applied')
  // What was applied after the backup is in the zone, and in no store: a rebuild finds it.
  await removed(lab, before[1]?.planId ?? '')
  await removed(lab, tls.planId)
})

test('a second restore is refused, because the store is not empty', async () => {
  const file = join(lab.state, 'plain.backup')
  expect((await command(['backup', file, '--unencrypted', '--config', config()])).stdout).toContain(
    'It is not encrypted',
  )
  const refused = await whileStopped(lab, () => command(['restore', file, '--config', config()]))
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') })
})

test('beside a running service a restore is refused', async () => {
  const told = await command(['restore', join(lab.state, 'plain.backup'), '--config', config()])
  expect(told.stderr).toContain('Another Drawbridge service uses the state folder')
})
