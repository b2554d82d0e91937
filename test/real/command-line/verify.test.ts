import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { zoneRecords } from '../../support/dns/zone-transfer.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, removed } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { change, rowsOf } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'

/** `drawbridge verify` on an installation whose promises are broken by hand, one after the other. No service runs: it would mend some. */
let lab: TestLab
let planId: string
const HOST = 'verified.lab.test'
const GONE = '_drawbridge.verified-gone.lab.test'
let markOfGone = ''

beforeAll(async () => {
  lab = await borrowLab('mortal')
  ;({ planId } = await applied(lab, { subdomain: 'verified', tls: true }))
  const gone = await applied(lab, { subdomain: 'verified-gone' })
  markOfGone = (await zoneRecords(lab)).find(({ name }) => name === GONE)?.value ?? ''
  await removed(lab, gone.planId)
})
afterAll(() => lab?.stop())

async function verified() {
  const { code, stdout } = await command(['verify', '--config', statePaths(lab.state).config, '--json'])
  const { ok, evidence, looked } = JSON.parse(stdout)
  const told = evidence.map(
    ({ promise, verdict, sentence }: Record<string, string>) => `${promise} ${verdict}: ${sentence}`,
  )
  return { code, ok, told: told as string[], looked }
}

test('what holds is told as such, by the running service and without it', async () => {
  const asked = await verified()
  expect(asked).toMatchObject({ code: 0, ok: true, told: [], looked: { hosts: 1, edges: 2 } })
  expect(asked.looked.runs).toBeGreaterThanOrEqual(3)
  expect(asked.looked.auditLines).toBeGreaterThan(0)
  await lab.stopService()
  expect(await verified()).toEqual(asked)
  const { stdout } = await command(['verify', '--config', statePaths(lab.state).config])
  expect(stdout.match(/^holds /gm)).toHaveLength(7)
})

const plans = (state: string) => () => change(lab, `update plans set state = '${state}' where plan_id = ?`, planId)
const exposedAs = (host: string) => () => change(lab, 'update exposures set host = ? where plan_id = ?', host, planId)
const run = (statement: string) => () => change(lab, statement, planId)
const inState = (name: string) => join(statePaths(lab.state).service, name)
const foreign = () => join(lab.description.edges.primary.folder, 'zz-broken.conf')
const address = () => `${HOST} 60 A ${lab.description.edges.primary.address}`
const startedAt = () =>
  rowsOf<{ at: number }>(lab, `select started_at as at from runs where plan_id = '${planId}'`)[0]?.at
let began: number | undefined

/** What is told, how it is broken, and how it is mended. Those of a group hide nothing of each other. */
type Broken = readonly [told: RegExp, breakIt: () => unknown, mend: () => unknown]
const WORLD: readonly Broken[] = [
  [
    /^whole broken: verified\.lab\.test: the record \(.*A\) should be .* and is missing\.$/,
    () => updateZone(lab, `update delete ${HOST} A`),
    () => updateZone(lab, `update add ${address()}`),
  ],
  [/^neighbours broken: Edge 23: /, () => writeFileSync(foreign(), 'nonsense;\n'), () => rmSync(foreign())],
  [
    /^names broken: The owner mark of verified-gone\.lab\.test \(plan_\w+, removed\) stands without an exposure\.$/,
    () => updateZone(lab, `update add ${GONE} 60 TXT ${markOfGone}`),
    () => updateZone(lab, `update delete ${GONE} TXT`),
  ],
  [
    /^once broken: There are 2 runs to apply verified\.lab\.test \(plan_\w+\), and 1 capabilities were spent for them\.$/,
    run(`insert into runs select 'run_twice', plan_id, host, action, state, holder, fence, actor, finished_at,
      finished_at + 1, entries, network, proven_by from runs where plan_id = ?`),
    run(`delete from runs where run_id = 'run_twice' and plan_id = ?`),
  ],
  [
    /^settled broken: The plan plan_\w+ of verified\.lab\.test is applying, and no run/,
    plans('applying'),
    plans('applied'),
  ],
  [
    /^clean broken: The file left\.new of the state folder was never moved to its place\.$/,
    () => {
      writeFileSync(inState('left.new'), '')
      utimesSync(inState('left.new'), 1, 1)
    },
    () => rmSync(inState('left.new')),
  ],
  [
    /^kept broken: /,
    () => change(lab, `update audit_lines set action = action || 'x' where seq = 1`),
    () => change(lab, `update audit_lines set action = substr(action, 1, length(action) - 1) where seq = 1`),
  ],
]
const MOVED: readonly Broken[] = [
  [
    /^names broken: Edge 23 has an entry of verified\.lab\.test, which has no exposure\.$/,
    exposedAs('elsewhere.lab.test'),
    exposedAs(HOST),
  ],
]
const unfinished = (since: number): readonly Broken[] => [
  [
    /^settled broken: The run run_\w+ \(apply verified\.lab\.test\) is unfinished and nobody holds its lease\.$/,
    () => {
      began = startedAt()
      run(`update runs set state = 'running', started_at = ${since} where plan_id = ?`)()
    },
    () => change(lab, `update runs set state = 'succeeded', started_at = ? where plan_id = ?`, began ?? 0, planId),
  ],
]

test.each([
  [
    'a record, the load of nginx, an owner mark, a capability with two runs, a stuck plan, a file that was left, and the audit',
    WORLD,
  ],
  ['an entry without an exposure', MOVED],
  ['a run without an end', unfinished(1)],
  ['a run without an end that began before the clock was set back', unfinished(Date.UTC(2100, 0, 1))],
])('what is broken is told: %s', async (_what, broken) => {
  for (const [, breakIt] of broken) await breakIt()
  const { code, ok, told } = await verified()
  for (const [, , mend] of broken.toReversed()) await mend()
  expect([code, ok]).toEqual([1, false])
  expect(told).toEqual(expect.arrayContaining(broken.map(([sentence]) => expect.stringMatching(sentence))))
})

test('once it is mended, only what somebody else has changed is told, and that breaks no promise', async () => {
  const file = entryFile(lab.description.edges.primary, HOST)
  const before = readFileSync(file)
  editEntry(file, HOST)
  const { code, told } = await verified()
  writeFileSync(file, before)
  expect(code).toBe(0)
  expect(told).toEqual([expect.stringMatching(/^whole noticed: verified\.lab\.test: .* Somebody has changed it\.$/)])
})
