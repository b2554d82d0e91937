import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { doctorParts } from '../../src/compose/machine/doctor.ts'
import { doctor } from '../../src/operate/doctor/command.ts'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { configurationFault } from '../support/edge/edge-folder.ts'
import { visit } from '../support/edge/visitor.ts'
import { entryFile } from '../support/lab/entry-file.ts'
import { applied, invariants, planned, planOf, removed, run, world } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'
import { command } from '../support/programs/command.ts'

/** Somebody else changes or breaks the nginx of the Primary. */
let lab: TestLab
let foreignFile: string
beforeAll(async () => {
  lab = await borrowLab()
  foreignFile = join(lab.description.edges.primary.folder, 'zz-somebody-else.conf')
})
afterAll(() => lab?.stop())
afterEach(() => rmSync(foreignFile, { force: true }))

const BROKEN = 'server { this is no directive of nginx;\n'
const foreign = (text: string) => writeFileSync(foreignFile, text)
const primary = () => lab.description.edges.primary

/** `npm run campaign -- nginx` tries both. */
const TLS = process.env.CAMPAIGN ? [false, true] : [true]

test.each(TLS)('an apply changes nothing when the configuration is already broken (tls: %s)', async (tls) => {
  const neighbour = await applied(lab, { subdomain: 'neighbour' })
  const { planId } = await planned(lab, { subdomain: 'early', tls })
  foreign(BROKEN)
  const before = await world(lab)
  const answer = await run(lab, planId)
  expect([answer.status, answer.body.code]).toEqual([409, 'proxy_config_broken'])
  expect(answer.text).not.toContain('this is no directive')
  await expectPutBack(lab, planId, before, { foreignFault: true })
  expect((await visit(primary(), { host: neighbour.host })).status).toBe(200)
  const removal = await run(lab, neighbour.planId, 'remove')
  expect([removal.status, removal.body.code]).toEqual([409, 'proxy_config_broken'])
  expect(await world(lab)).toEqual(before)
  expect((await planOf(lab, neighbour.planId)).state).toBe('applied')
  rmSync(foreignFile)
  await expectApplicable(lab, planId)
  await removed(lab, neighbour.planId)
})

/** A file that is valid only while the host's line is not in the generation that nginx loads. */
const rightUntilOursStands = (host: string) =>
  `server { listen ${primary().address}:${primary().http}; server_name zz.test; include ${entryFile(primary(), host)}*; }\n`

test('when the configuration breaks between test and reload, nginx keeps the old one and ours is removed', async () => {
  const neighbour = await applied(lab, { subdomain: 'neighbour' })
  const { planId } = await planned(lab, { subdomain: 'between' })
  foreign(rightUntilOursStands('between.lab.test'))
  expect(await configurationFault(primary())).toBe('')
  const before = await world(lab)
  const answer = await run(lab, planId)
  expectFailure(answer, 502, 'apply_failed', 'proxy')
  await expectPutBack(lab, planId, before)
  expect((await visit(primary(), { host: neighbour.host })).status).toBe(200)
  rmSync(foreignFile)
  await expectApplicable(lab, planId)
  await removed(lab, neighbour.planId)
})

test.runIf(process.env.CAMPAIGN)('a port of another program fails the reload although nginx -t passes', async () => {
  // The monitor also finds the server block and checks it.
  const taken = createServer((visitor) => visitor.destroy()).listen(0, primary().address)
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const { planId } = await planned(lab, { subdomain: 'taken' })
  foreign(`server { listen ${primary().address}:${port}; server_name zz.test; }\n`)
  expect(await configurationFault(primary())).toBe('')
  const before = await world(lab)
  const answer = await run(lab, planId)
  expectFailure(answer, 502, 'apply_failed', 'proxy')
  await expectPutBack(lab, planId, before)
  rmSync(foreignFile)
  taken.close()
  await once(taken, 'close')
  await expectApplicable(lab, planId)
})

test('an apply without a running nginx leaves nothing behind', async () => {
  const { planId } = await planned(lab, { subdomain: 'alone' })
  const before = await world(lab)
  const hidden = `${primary().pidFile}.hidden`
  renameSync(primary().pidFile, hidden)
  const answer = await run(lab, planId).finally(() => renameSync(hidden, primary().pidFile))
  expectFailure(answer, 502, 'apply_failed', 'proxy')
  await expectPutBack(lab, planId, before)
  await expectApplicable(lab, planId)
})

test('when the undo meets a broken configuration, the name is removed, the host is blocked, and others still work', async () => {
  const neighbour = await applied(lab, { subdomain: 'neighbour' })
  let isBreaking = true
  await using backend = await startWebBackend(lab, (_request, response) => {
    if (isBreaking) foreign(BROKEN)
    response.writeHead(500).end()
  })
  const { planId } = await planned(lab, { subdomain: 'stuck', port: backend.port })
  const answer = await run(lab, planId)
  // The monitor still checks the blocked host.
  isBreaking = false
  expect([answer.status, answer.body.code]).toEqual([500, 'rollback_blocked'])
  expect(answer.body.rollback.at(-1)).toMatchObject({ name: 'proxy', status: 'undo_failed' })
  expect((await planOf(lab, planId)).state).toBe('blocked')
  expect((await visit(primary(), { host: neighbour.host })).status).toBe(200)
  rmSync(foreignFile)
  await invariants(lab)
  await removed(lab, neighbour.planId)
  await invariants(lab)
  const resolved = await command(['resolve', planId, '--config', join(lab.state, 'drawbridge.yaml')])
  expect([resolved.code, (await planOf(lab, planId)).state]).toEqual([0, 'rolled_back'])
})

test.runIf(process.env.CAMPAIGN)(
  'TLS is refused while nginx logs at debug level, and readyz, doctor and the log say why',
  async () => {
    const plain = await planned(lab, { subdomain: 'no-key' })
    const secret = await planned(lab, { subdomain: 'key', tls: true })
    const shouts = () => readFileSync(join(lab.state, 'service.log'), 'utf8').split('edge_logs_keys').length - 1
    const ready = async () => (await lab.call({ path: '/readyz' })).body
    const findings = async () =>
      JSON.stringify((await doctor(join(lab.state, 'drawbridge.yaml'), false, doctorParts)).body)
    expect(await ready()).toEqual({ status: 'ok' })
    foreign('error_log logs/debug.log debug;\n')
    const [before, backups] = [await world(lab), readdirSync(join(lab.state, 'service', 'backups'))]
    const answer = await run(lab, secret.planId)
    expect([answer.status, answer.body.code]).toEqual([409, 'proxy_config_broken'])
    expect(answer.body.detail).toContain(`${foreignFile}, line 1`)
    await expectPutBack(lab, secret.planId, before)
    expect(readdirSync(join(lab.state, 'service', 'backups'))).toEqual(backups)
    await expect.poll(ready).toEqual({
      status: 'degraded',
      warnings: [expect.stringMatching(/^nginx on 23 logs at debug level\. .*private keys/)],
    })
    expect(await findings()).toContain('Set error_log to notice or less there')
    expect(shouts()).toBe(1)
    await expectApplicable(lab, plain.planId)
    rmSync(foreignFile)
    await expect.poll(async () => (await ready()).status).toBe('ok')
    expect(shouts()).toBe(1)
    expect(await findings()).not.toContain('Set error_log')
    await expectApplicable(lab, secret.planId)
  },
)
