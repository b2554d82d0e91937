import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceConfig } from '../../../lab/service-config.ts'
import { statePaths } from '../../../lab/state.ts'
import { digestOf } from '../../../src/nginx/config/render-entry.ts'
import { shardFile } from '../../../src/nginx/config/shards.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { startLoad } from '../../support/backends/load.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { expected, granted, invariants, planned, planOf, run, runWith, world } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { until } from '../../support/until.ts'

// Every case needs two starts of the service and a whole run, on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

let lab: TestLab
let count = 0
let configure: ((config: ServiceConfig) => ServiceConfig) | undefined

beforeAll(async () => {
  lab = await borrowLab('mortal')
})
afterAll(() => lab?.stop())

/** `npm test` kills one update by http-01; `npm run campaign -- crash-recovery` tries everything. */
const inCampaign = (name: string, work: () => Promise<void>): void => {
  if (process.env.CAMPAIGN) test(name, work)
}

/** Kills the service at a crash point of a run. Resolves when the next process, which dies at `next`, has started. */
async function dieAt(
  point: string,
  planId: string,
  before: () => void = () => undefined,
  next?: string,
): Promise<void> {
  const action = point.startsWith('remove ') ? 'remove' : 'apply'
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: point })
  await lab.restartService(configure)
  const capability = await granted(lab, planId, action)
  lab.setNextServiceEnvironment(next === undefined ? {} : { DRAWBRIDGE_CRASH_AT: next })
  const death = lab.serviceRestarted()
  before()
  const answer = await runWith(lab, capability, planId, action).catch(() => undefined)
  if (answer) throw new Error(`${point} was not reached: ${answer.status} ${answer.text}`)
  await death
}

const newPlan = (overrides: Record<string, unknown> = {}) => {
  count += 1
  return planned(lab, { subdomain: `back${count}`, ...overrides })
}

/** The service may die once more meanwhile, and start late on a busy machine. */
const settled = (planId: string, state: string) =>
  until(
    `the plan is ${state}`,
    () =>
      planOf(lab, planId).then(
        (plan) => plan.state === state,
        () => false,
      ),
    80_000,
  )

inCampaign('recovery removes the challenge of a crashed run and continues its order', async () => {
  // Counts accepted orders, not requests: Pebble refuses some nonces, and the client repeats the request.
  const orders = () =>
    readFileSync(join(statePaths(lab.state).pebble, 'pebble.log'), 'utf8').split('Added order "').length - 1
  const bare = await world(lab)
  const { planId } = await newPlan({ tls: true })
  await dieAt('apply certificate challenge-set', planId)
  await settled(planId, 'rolled_back')
  await invariants(lab)
  expect(await world(lab)).toEqual(bare)
  expect(orders()).toBe(1)
  const [order] = rowsOf<{ url: string }>(lab, 'select url from orders')
  expect(order?.url).toMatch(/^https:/)
  expected(await run(lab, planId), 200)
  expect(orders()).toBe(1)
  expect(rowsOf(lab, 'select url from orders')).toEqual([])
  expected(await run(lab, planId, 'remove'), 200)
  await invariants(lab)
})

/** Kills the service while the authority checks an update that turns TLS on. The former exposure must be as it was. */
async function dieWhileUpdateIsChecked(): Promise<void> {
  const former = await newPlan()
  expected(await run(lab, former.planId), 200)
  const before = await world(lab)
  const [subdomain] = former.host.split('.')
  const { planId } = await planned(lab, { subdomain, tls: true, replaces: former.planId })
  const load = startLoad(lab.description.edges.primary, former.host, '/healthz', { perSecond: 50 })
  await dieAt('update certificate challenge-set', planId)
  await settled(planId, 'rolled_back')
  const { served, failures } = await load.stop()
  expect([failures, served > 0]).toEqual([[], true])
  await invariants(lab)
  expect(await world(lab)).toEqual(before)
  expect((await planOf(lab, former.planId)).state).toBe('applied')
  expected(await run(lab, planId), 200)
  expect((await planOf(lab, former.planId)).state).toBe('replaced')
  expected(await run(lab, planId, 'remove'), 200)
  await invariants(lab)
}

inCampaign('recovery removes the challenge of a crashed update, and the former exposure stays', dieWhileUpdateIsChecked)

const allOf = <T>(ways: readonly T[]): readonly T[] => (process.env.CAMPAIGN ? ways : [])

const KILLED_TWICE_IN_UPDATE = [
  ['update verify after-effect', 'update proxy after-undo', 'rolled_back'],
  ['update proxy swapped', 'update run before-finish', 'rolled_back'],
  ['update verify after-done', 'update run before-finish', 'applied'],
] as const

test.each(allOf(KILLED_TWICE_IN_UPDATE))(
  'an update killed at "%s", and in its recovery at "%s": the new plan is %s',
  async (first, second, end) => {
    const former = await newPlan()
    expected(await run(lab, former.planId), 200)
    const before = await world(lab)
    const [subdomain] = former.host.split('.')
    const { planId } = await planned(lab, { subdomain, server: '253', health: '/', replaces: former.planId })
    await dieAt(first, planId, undefined, second)
    await settled(planId, end)
    await invariants(lab)
    expect((await planOf(lab, former.planId)).state).toBe(end === 'applied' ? 'replaced' : 'applied')
    if (end === 'rolled_back') expect(await world(lab)).toEqual(before)
    expected(await run(lab, end === 'applied' ? planId : former.planId, 'remove'), 200)
    await invariants(lab)
  },
)

const KILLED_TWICE = [
  ['apply verify after-effect', 'apply dns after-undo-intent', 'rolled_back'],
  ['apply dns after-effect', 'apply proxy after-undo', 'rolled_back'],
  ['apply proxy swapped', 'apply run before-finish', 'rolled_back'],
  ['remove dns after-effect', 'remove proxy swapped', 'removed'],
] as const

test.each(allOf(KILLED_TWICE))(
  'killed at "%s", and in its recovery at "%s": the third process finishes the run',
  async (first, second, end) => {
    const { planId } = await newPlan()
    if (end === 'removed') expected(await run(lab, planId), 200)
    await dieAt(first, planId, undefined, second)
    await settled(planId, end)
    await invariants(lab)
  },
)

inCampaign(
  'without DNS the service starts, reports why a run waits, and finishes the run when DNS is back',
  async () => {
    const { planId } = await newPlan()
    const named = lab.description.pids.dnsPrimary
    if (named === undefined) throw new Error('the lab has no DNS server')
    try {
      await dieAt('apply verify before-intent', planId, () => {
        // At this crash point the name is already created; only the next process queries it.
        void untilNamed(planId).then(() => process.kill(named, 'SIGSTOP'))
      })
      const { state } = await planOf(lab, planId)
      expect(state).toBe('applying')
      await until('the plan says what it waits for', async () => isWaiting(await planOf(lab, planId)))
    } finally {
      process.kill(named, 'SIGCONT')
    }
    await settled(planId, 'rolled_back')
    await invariants(lab)
  },
)

inCampaign('a removal without a running nginx removes the name, waits, and finishes when nginx is back', async () => {
  const { pidFile } = lab.description.edges.primary
  const { planId } = await newPlan()
  expected(await run(lab, planId), 200)
  const pid = readFileSync(pidFile)
  try {
    await dieAt('remove dns after-done', planId, () => writeFileSync(pidFile, ''))
    await until('the plan says what it waits for', async () => isWaiting(await planOf(lab, planId)))
    expect((await planOf(lab, planId)).state).toBe('removing')
  } finally {
    writeFileSync(pidFile, pid)
  }
  await settled(planId, 'removed')
  await invariants(lab)
})

inCampaign('a removal does not touch a file that was edited meanwhile, and the exposure stays applied', async () => {
  const { planId, host } = await newPlan()
  expected(await run(lab, planId), 200)
  const isBackedUp = () => isDone(planId, 'remove', 'backup')
  const edited = editOnce(host, isBackedUp, () => dieAt('remove dns after-effect', planId))
  expect(await edited).toContain(EDIT)
  await settled(planId, 'applied')
  takeBackEdit(host)
  await invariants(lab)
  expected(await run(lab, planId, 'remove'), 200)
})

describe('by http-01', () => {
  beforeAll(() => {
    configure = (config) => ({ ...config, acme: { ...(config.acme as object), challenge: 'http-01' } })
    return lab.restartService(configure)
  })
  test('recovery removes the challenge of a crashed update, and the former exposure stays', dieWhileUpdateIsChecked)

  inCampaign(
    'an update turns on TLS for an entry that an earlier version rendered otherwise, or leaves it as it was',
    async () => {
      const former = await newPlan()
      expected(await run(lab, former.planId), 200)
      renderOtherwise(former.host)
      const [subdomain] = former.host.split('.')
      const { planId } = await planned(lab, { subdomain, tls: true, replaces: former.planId })
      await dieAt('update certificate challenge-set', planId)
      await settled(planId, 'rolled_back')
      await invariants(lab)
      expected(await run(lab, planId), 200)
      await invariants(lab)
      expected(await run(lab, planId, 'remove'), 200)
    },
  )

  const hasChallenge = (host: string) => () => existsSync(hostFile(host).replace('/backends/', '/challenges/'))

  const EDITED: readonly (readonly [string, (planId: string) => Promise<unknown>])[] = [
    ['and the service is killed', (planId) => dieAt('apply certificate challenge-set', planId)],
    ['and the run goes on', (planId) => run(lab, planId)],
  ]
  test.each(allOf(EDITED))(
    'a file that was edited while it served a challenge is not changed, and the plan is blocked: %s',
    async (_, apply) => {
      const { planId, host } = await newPlan({ tls: true })
      expect(await editOnce(host, hasChallenge(host), () => apply(planId))).toContain(EDIT)
      await settled(planId, 'blocked')
      expect((await planOf(lab, planId)).lastRun.steps).toContainEqual(
        expect.objectContaining({ name: 'certificate', status: 'undo_failed' }),
      )
      takeBackEdit(host)
      const { code, stderr } = await drawbridge(['resolve', planId, '--config', join(lab.state, 'drawbridge.yaml')])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect((await planOf(lab, planId)).state).toBe('rolled_back')
      await invariants(lab)
    },
  )
})

test.runIf(process.env.CAMPAIGN)('SIGTERM ends the service although a part of it hangs', async () => {
  const hanging = join(lab.state, 'hangs-for-ever.mjs')
  writeFileSync(hanging, 'setInterval(() => undefined, 1000)\n')
  lab.setNextServiceEnvironment({ NODE_OPTIONS: `--import ${hanging}` })
  await lab.restartService()
  const { service } = lab.description.pids
  await lab.killService('SIGTERM')
  expect(lab.description.pids.service).not.toBe(service)
  expect((await lab.call({ path: '/livez' })).status).toBe(200)
})

const EDIT = ' # a note of the administrator'
const hostFile = (host: string) => entryFile(lab.description.edges.primary, host)
const textOf = (host: string) => (existsSync(hostFile(host)) ? readFileSync(hostFile(host), 'utf8') : '')
const takeBackEdit = (host: string) => writeFileSync(hostFile(host), textOf(host).replace(EDIT, ''))

/** Makes the entry of a host on the Primary look as if another version of Drawbridge had rendered it from its record. */
function renderOtherwise(host: string): void {
  const { folder } = lab.description.edges.primary
  const standing = () => new PresentGeneration(folder).find(host)
  const rendered = standing()?.rendered ?? ''
  writeFileSync(hostFile(host), textOf(host).replace(`${host} `, `${host}  `))
  const records = join(folder, 'current', shardFile('entries', host))
  const digest = digestOf(standing()?.parts ?? new Map())
  writeFileSync(records, readFileSync(records, 'utf8').replace(rendered, digest))
  expect(standing()).toMatchObject({ isEdited: false, rendered: digest })
}

/** Edits the file of a host as soon as it exists during `work`. Returns its content afterwards. */
async function editOnce(host: string, may: (text: string) => boolean, work: () => Promise<unknown>): Promise<string> {
  const editing = setInterval(() => {
    const text = textOf(host)
    if (text === '' || !may(text)) return
    clearInterval(editing)
    editEntry(hostFile(host), host, EDIT)
  }, 2)
  try {
    await work()
  } finally {
    clearInterval(editing)
  }
  return textOf(host)
}

interface LastRun {
  readonly lastRun?: { readonly steps: readonly { readonly detail?: string }[] }
}

const isWaiting = ({ lastRun }: LastRun): boolean =>
  lastRun?.steps.some(({ detail }) => detail?.endsWith('Retrying automatically.')) ?? false

const untilNamed = (planId: string) => until('the DNS step is done', () => isDone(planId, 'apply', 'dns'))

const isDone = (planId: string, action: 'apply' | 'remove', step: string): boolean =>
  rowsOf(
    lab,
    `select 1 from journal j join runs r using (run_id)
     where r.plan_id = '${planId}' and r.action = '${action}' and j.step = '${step}' and j.mark = 'done'`,
  ).length > 0
