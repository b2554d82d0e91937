import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { visit } from '../../support/edge/visitor.ts'
import { untilInStep } from '../../support/lab/edge-step.ts'
import { entryFile } from '../../support/lab/entry-file.ts'
import { applied, expected, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

/** What somebody edits on the Secondary is shown as drift, as on the Primary, and overwritten only by a repair that may. */
const HOST = 'edited-there.lab.test'
let lab: TestLab
const expectStatus = async (secondary: string): Promise<void> => {
  await housekeeping(lab, 'check')
  expect((await rowOf()).secondary).toBe(secondary)
}
let planId: string
beforeAll(async () => {
  lab = await borrowLab()
  planId = (await applied(lab, { subdomain: 'edited-there' })).planId
  await untilInStep(lab)
})
afterAll(() => lab?.stop())

const secondary = () => lab.description.edges.secondary
const drift = async () => expected(await lab.call({ path: `/api/deploy/plans/${planId}/drift` }), 200).differences
const list = async (from: 'internal' | 'public') => expected(await lab.call({ path: '/api/hosts', from }), 200)
const rowOf = async (from: 'internal' | 'public' = 'internal') =>
  (await list(from)).hosts.find(({ host }: { host: string }) => host === HOST)

test('a host in step says so to callers inside', async () => {
  await expectStatus('in_step')
  expect((await list('internal')).edges).toEqual([
    { server: '23', inStep: true, hosts: 0, unknown: 0, stray: [], outOfStep: null },
    { server: '73', inStep: true, hosts: 0, unknown: 0, stray: [], outOfStep: null },
  ])
  expect(await rowOf('public')).not.toHaveProperty('secondary')
  expect(await list('public')).not.toHaveProperty('edges')
  expect(await drift()).toEqual([])
}, 90_000)

test('a hand edit on the Secondary is drift of the host, shown everywhere, and a repair that may overwrites it', async () => {
  const file = entryFile(secondary(), HOST)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/http:\/\/\S+;/, 'http://127.0.0.1:9;'))
  expect(await drift()).toEqual([
    expect.objectContaining({
      ...{ part: 'entry', field: 'backend', file, path: file, server: '73', overwrite: true },
      ...{ line: expect.any(Number), since: new Date(Math.floor(statSync(file).mtimeMs)).toISOString() },
      found: 'http://127.0.0.1:9',
    }),
  ])
  const shown = await command(['diff', HOST, '--url', lab.description.inside])
  expect([shown.code, shown.stdout]).toEqual([
    1,
    expect.stringMatching(
      /^ {2}backend: http:\S+ → http:\/\/127\.0\.0\.1:9 \(changed outside Drawbridge\)\n.*:\d+ on edge 73\n {4}written /m,
    ),
  ])
  await expectStatus('differs')
  expect((await rowOf()).badge).toBe('RUNNING')

  const refused = await run(lab, planId, 'repair')
  expect([refused.status, refused.body.code]).toEqual([409, 'changed_elsewhere'])
  expect(refused.body.detail).toContain('on edge 73')
  expect(readFileSync(entryFile(secondary(), HOST), 'utf8')).toContain('127.0.0.1:9;')

  expect((await run(lab, planId, 'repair', {}, { overwrite: true })).status).toBe(200)
  await housekeeping(lab, 'converge')
  await until('the Secondary serves it', async () => (await visit(secondary(), { host: HOST })).status === 200)
  expect(await drift()).toEqual([])
  await expectStatus('in_step')
}, 240_000)
