import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { certificateEntryFile, entryFile } from '../../support/lab/entry-file.ts'
import { applied, invariants, planned, planOf, planRequest, removed, run, world } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'

/** Links where a file will be written, and paths where a name is asked for: nothing outside our folders is ever touched. */
let lab: TestLab
let target: string
const CANARY = 'nobody may write here\n'
beforeAll(async () => {
  lab = await borrowLab()
  target = join(lab.state, 'target')
})
afterAll(() => lab?.stop())
afterEach(() => invariants(lab))

const edgeFolder = () => lab.description.edges.primary.folder

describe.each([
  ['a file that is there', () => writeFileSync(target, CANARY)],
  ['a file that would be made', () => rmSync(target, { force: true })],
])('a link to %s', (_what, prepare) => {
  test.each([
    ['of its lines', entryFile, false],
    ['of its certificate', certificateEntryFile, true],
  ])('at the file %s stays what it is, and nothing is written through it', async (_file, fileOf, tls) => {
    prepare()
    const link = fileOf(lab.description.edges.primary, 'planted.lab.test')
    const { planId } = await planned(lab, { subdomain: 'planted', tls })
    symlinkSync(target, link)
    const before = await world(lab)
    const answer = await run(lab, planId)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    if (existsSync(target)) expect(readFileSync(target, 'utf8')).toBe(CANARY)
    expect(await world(lab)).toEqual(before)
    expect((await planOf(lab, planId)).state).toBe('rolled_back')
    rmSync(link)
  })
})

test('a link in place of the folder for drafts: nothing is written behind it', async () => {
  const staging = join(edgeFolder(), '.staging')
  const elsewhere = join(lab.state, 'elsewhere')
  mkdirSync(elsewhere)
  const { planId } = await planned(lab, { subdomain: 'staged' })
  rmSync(staging, { recursive: true })
  symlinkSync(elsewhere, staging)
  const written: (string | null)[] = []
  const watcher = watch(elsewhere, (_event, name) => written.push(name))
  const answer = await run(lab, planId)
  watcher.close()
  rmSync(staging)
  mkdirSync(staging, { mode: 0o700 })
  expect(written).toEqual([])
  expect([answer.status, answer.body.code]).toEqual([502, 'apply_failed'])
  expect((await planOf(lab, planId)).state).toBe('rolled_back')
})

test('subdomains that are paths or shell text are refused by their grammar, and no folder changes', async () => {
  const before = await world(lab)
  const hostile = [
    '../evil',
    '..%2fevil',
    'a/b',
    'a%2Fb',
    '.',
    '..',
    '$(id)',
    '`id`',
    ';id',
    'a b',
    '|id',
    "'",
    'a\\b',
    '-rf /',
  ]
  const codes: Record<string, unknown> = {}
  for (const subdomain of hostile) {
    const { status, body } = await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, { subdomain }) })
    codes[subdomain] = `${status} ${body.code}`
  }
  expect(codes).toEqual(Object.fromEntries(hostile.map((subdomain) => [subdomain, '400 invalid_request'])))
  expect(await world(lab)).toEqual(before)
})

test('a host in the plan id is not found, wherever it points', async () => {
  for (const planId of ['../../etc/passwd', 'plan_../../x', `plan_${'0'.repeat(25)}/`]) {
    const answer = await lab.call({
      path: '/api/deploy/apply',
      body: { planId },
      headers: { 'x-deploy-capability': 'x'.repeat(43) },
    })
    expect([answer.status, answer.body.code]).toEqual([404, 'plan_not_found'])
  }
  await removed(lab, (await applied(lab, { subdomain: 'honest' })).planId)
})
