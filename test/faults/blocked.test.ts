import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { updateZone } from '../support/dns/lab-dns.ts'
import { zoneRecords } from '../support/dns/zone-transfer.ts'
import { editEntry, entryFile, hasEntry } from '../support/lab/entry-file.ts'
import { applied, invariants, planned, planOf, removed, run } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'

/** Somebody edits our file while an apply fails. The edit is never overwritten, so the undo fails and the plan is blocked. */
let lab: TestLab
let planId: string
let file: string
const EDIT = ' # somebody was here'
beforeAll(async () => {
  lab = await borrowLab('mortal')
  file = entryFile(lab.description.edges.primary, 'edited.lab.test')
})
afterAll(async () => {
  // The host is not ours any more: whoever has it takes it away.
  updateZone(lab, 'update delete edited.lab.test A')
  rmSync(released(), { force: true })
  await lab?.stop()
})

test('a failed undo is reported with every step and every undo', async () => {
  let isEdited = false
  await using backend = await startWebBackend(lab, (_request, response) => {
    if (!isEdited) editEntry(file, 'edited.lab.test', EDIT)
    isEdited = true
    response.writeHead(500).end()
  })
  planId = (await planned(lab, { subdomain: 'edited', port: backend.port })).planId
  const answer = await run(lab, planId)
  expect([answer.status, answer.body.code]).toEqual([500, 'rollback_blocked'])
  expect(answer.body.steps.at(-1)).toMatchObject({ name: 'verify', status: 'failed' })
  expect(answer.body.rollback.map(({ name, status }: Record<string, string>) => `${name} ${status}`)).toEqual([
    'verify undone',
    'dns undone',
    'proxy undo_failed',
  ])
  expect(answer.body.nextAction).toContain('drawbridge resolve')
  expect(readFileSync(file, 'utf8')).toContain(EDIT)
})

test('the plan is blocked, its name is removed, and the audit reports it', async () => {
  const plan = await planOf(lab, planId)
  expect(plan).toMatchObject({ state: 'blocked', lastRun: { state: 'blocked' } })
  expect((await zoneRecords(lab)).filter(({ name }) => name.endsWith('edited.lab.test'))).toEqual([])
  await invariants(lab)
})

test.each(['apply', 'remove'] as const)('%s is refused while the plan is blocked', async (action) => {
  const answer = await run(lab, planId, action)
  expect([answer.status, answer.body.code]).toEqual([409, 'plan_busy'])
  expect(answer.body.nextAction).toContain('drawbridge resolve')
})

test('another plan for the blocked host is refused', async () => {
  const answer = await lab.call({
    path: '/api/deploy/plan',
    body: { zone: 'lab.test', subdomain: 'edited', server: '25', port: 3000, health: '/healthz', tls: false },
  })
  expect(answer.status).toBe(409)
  expect(['dns_name_taken', 'plan_busy']).toContain(answer.body.code)
})

test.runIf(process.env.CAMPAIGN)('other hosts still work, and a restart does not unblock the plan', async () => {
  const other = await applied(lab, { subdomain: 'other' })
  await removed(lab, other.planId)
  await lab.killService()
  expect((await planOf(lab, planId)).state).toBe('blocked')
  expect(readFileSync(file, 'utf8')).toContain(EDIT)
  await removed(lab, (await applied(lab, { subdomain: 'other' })).planId)
  await invariants(lab)
})

const released = () => join(`${lab.description.edges.primary.folder}-released`, 'edited.lab.test.conf')
const resolve = (...options: string[]) =>
  promisify(execFile)('bin/drawbridge', ['resolve', planId, '--config', join(lab.state, 'drawbridge.yaml'), ...options])

test('resolve lists what is left and does not overwrite the edit', async () => {
  expect((await resolve('--show')).stdout).toContain('Left: proxy')
  await expect(resolve()).rejects.toThrow('still blocked at proxy')
  expect(readFileSync(file, 'utf8')).toContain(EDIT)
  expect((await planOf(lab, planId)).state).toBe('blocked')
})

test('after the edit is reverted, resolve undoes everything and the host is free again', async () => {
  writeFileSync(file, readFileSync(file, 'utf8').replace(EDIT, ''))
  expect((await resolve()).stdout).toContain('The rollback of edited.lab.test is finished')
  expect(existsSync(file)).toBe(false)
  expect((await planOf(lab, planId)).state).toBe('rolled_back')
  await removed(lab, (await applied(lab, { subdomain: 'edited' })).planId)
  await invariants(lab)
})

test('a change in place that is blocked freezes the host under both plans, and resolve --accept leaves it as it stands', async () => {
  const former = (await applied(lab, { subdomain: 'edited' })).planId
  let isEdited = false
  await using backend = await startWebBackend(lab, ({ headers }, response) => {
    const isThroughEdge = headers['x-forwarded-host'] !== undefined
    if (isThroughEdge && !isEdited) editEntry(file, 'edited.lab.test', EDIT)
    isEdited ||= isThroughEdge
    response.writeHead(isThroughEdge ? 500 : 200).end()
  })
  planId = (await planned(lab, { subdomain: 'edited', port: backend.port, replaces: former })).planId
  expect(await run(lab, planId)).toMatchObject({ status: 500, body: { code: 'rollback_blocked' } })
  for (const [plan, action] of [
    [former, 'remove'],
    [former, 'repair'],
    [former, 'accept'],
    [planId, 'apply'],
  ] as const) {
    const answer = await run(lab, plan, action)
    expect([plan, action, answer.body.code]).toEqual([plan, action, 'plan_busy'])
    expect(answer.body.nextAction).toContain(`drawbridge resolve ${planId}`)
  }
  const { stdout } = await resolve('--accept')
  expect(stdout).toContain('edited.lab.test stays as it is and is not managed any more.')
  expect(readFileSync(released(), 'utf8')).toContain(`:${backend.port};`)
  expect(hasEntry(lab.description.edges.primary, 'edited.lab.test')).toBe(false)
  expect([(await planOf(lab, planId)).state, (await planOf(lab, former)).state]).toEqual(['released', 'released'])
  await expect(resolve()).rejects.toThrow('is not blocked')
  const names = (await zoneRecords(lab)).map(({ name }) => name)
  expect(names).toContain('edited.lab.test')
  expect(names).not.toContain('_drawbridge.edited.lab.test')
})
