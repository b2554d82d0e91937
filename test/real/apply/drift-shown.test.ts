import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, expected, planned } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'

/** What was changed outside Drawbridge is shown part by part, on a whole lab. */
let lab: TestLab
let planId: string
const HOST = 'drifts.lab.test'
beforeAll(async () => {
  lab = await borrowLab()
  planId = (await applied(lab, { subdomain: 'drifts' })).planId
})
afterAll(() => lab?.stop())

const drift = async () => {
  const { body } = await lab.call({ path: `/api/deploy/plans/${planId}/drift` })
  return (body.differences as { part: string; found: string; overwrite: boolean }[]).map(
    ({ part, found, overwrite }) => `${part} ${found}${overwrite ? ' overwrite' : ''}`,
  )
}
const entry = () => entryFile(lab.description.edges.primary, HOST)
const MARK = `_drawbridge.${HOST}`

test('an exposure as it was applied has no difference, and diff says so', async () => {
  expect(await drift()).toEqual([])
  const { code, stdout } = await diff(HOST)
  expect([code, stdout]).toEqual([0, `${HOST}: no difference.\n`])
})

test.each([
  ['an edited entry', () => editEntry(entry(), HOST), ['entry edited overwrite']],
  ['a deleted entry', () => rmSync(entry()), ['entry missing']],
  ['a link in its place', () => linkAway(), ['entry a-link overwrite']],
])('%s is named, and gone when it is put back', async (_what, damage, differences) => {
  const before = readFileSync(entry())
  damage()
  expect(await drift()).toEqual(differences)
  expect((await diff(HOST)).code).toBe(1)
  rmSync(entry(), { force: true })
  writeFileSync(entry(), before)
  expect(await drift()).toEqual([])
})

test('a line of nobody is drift of the edge and of no host, and doctor tells how it goes', async () => {
  const diffs = () => command(['diff', '--all', '--url', lab.description.inside])
  expect((await diffs()).code).toBe(0)
  appendFileSync(entry(), '# of nobody\n')
  expect(await drift()).toEqual([])
  await housekeeping(lab, 'converge')
  const [file = ''] = /current\/.*/.exec(entry()) ?? []
  expect((await lab.call({ path: '/api/hosts' })).body.edges).toMatchObject([
    { stray: [{ file, lines: 1 }] },
    { stray: [] },
  ])
  expect((await lab.call({ path: '/api/hosts', from: 'public' })).text).not.toContain(file)
  const { code, stdout } = await diffs()
  expect([code, stdout]).toEqual([1, expect.stringContaining(`${HOST}: no difference.\n`)])
  expect(stdout).toContain(`Edge 23, lines of no host:\n  ${file}: 1\n`)
  const told = await command(['doctor', '--config', join(lab.state, 'drawbridge.yaml')])
  const [, removal = ''] = /run: (sed -i '\d+d' \S+) && /.exec(told.stdout.replaceAll(/\s+/g, ' ')) ?? []
  execFileSync('sh', ['-c', removal])
  await housekeeping(lab, 'converge')
  expect((await diffs()).code).toBe(0)
})

test('changed and deleted records and the owner mark are named with what was found', async () => {
  const { changes } = (await lab.call({ path: `/api/deploy/plans/${planId}` })).body
  const mark = changes.find(({ type }: { type?: string }) => type === 'TXT').value
  const { address } = lab.description.edges.primary
  updateZone(lab, `update delete ${HOST} A`, `update add ${HOST} 60 A 192.0.2.77`)
  expect(await drift()).toEqual(['record 192.0.2.77 overwrite'])
  updateZone(lab, `update delete ${HOST} A`, `update delete ${MARK} TXT`)
  expect(await drift()).toEqual(['record missing', 'mark missing'])
  updateZone(lab, `update add ${HOST} 60 A ${address}`, `update add ${MARK} 60 TXT "${mark}"`)
  expect(await drift()).toEqual([])
})

test('only callers inside, and only applied plans', async () => {
  const outside = await lab.call({ path: `/api/deploy/plans/${planId}/drift`, from: 'public' })
  expect(outside.body.code).toBe('internal_network_required')
  const other = await planned(lab, { subdomain: 'not-applied' })
  const refusal = await lab.call({ path: `/api/deploy/plans/${other.planId}/drift` })
  expect([refusal.status, refusal.body.code]).toEqual([409, 'plan_not_applied'])
  expect(expected(await lab.call({ path: `/api/deploy/plans/${planId}/drift` }), 200).planId).toBe(planId)
})

const diff = (host: string) => command(['diff', host, '--url', lab.description.inside])

function linkAway(): void {
  rmSync(entry())
  symlinkSync('/dev/null', entry())
}
