import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceConfig } from '../../lab/service-config.ts'
import { statePaths } from '../../lab/state.ts'
import { CRASH_POINTS } from '../../src/runs/engine/crash-points.ts'
import { startWebBackend, type WebBackend } from '../support/backends/web-backend.ts'
import { watchName } from '../support/dns/name-watch.ts'
import { makeCertificate } from '../support/edge/openssl.ts'
import {
  type CrashCase,
  isOfHttpChallenge,
  isOfIssuing,
  isOfRenewal,
  isOnTheWayBack,
  someOf,
  usualPoints,
  walk,
} from '../support/lab/crash-walk.ts'
import { expected, granted, invariants, planned, planOf, run, runWith, world } from '../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { until } from '../support/until.ts'

/** All points take minutes; `npm run campaign -- crash` tests them. */
const chosen = (points: string[]): string[] => (process.env.CAMPAIGN ? points : someOf(points))
const UNDER_WAY = ['applying', 'removing']

// Every case needs two starts of the service and a whole run, on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

let lab: TestLab
let backend: WebBackend
/** Whether the backend answers requests through an edge with 500. */
let isSick = false
let bare: readonly unknown[]
let plan: { planId: string; host: string; state: string } | undefined
let count = 0
/** The crash point of the current process. */
let armed: string | undefined
let configure: ((config: ServiceConfig) => ServiceConfig) | undefined

beforeAll(async () => {
  lab = await startTestLab({ deathsAllowed: Number.POSITIVE_INFINITY })
  backend = await startWebBackend(lab, (_request, response) => response.writeHead(isSick ? 500 : 200).end())
  const { certificates } = statePaths(lab.state)
  await makeCertificate({
    certificate: join(certificates, 'wildcard.pem'),
    key: join(certificates, 'wildcard.key'),
    names: ['DNS:*.lab.test'],
  })
  bare = await world(lab)
})

afterAll(async () => {
  await backend?.[Symbol.asyncDispose]()
  await lab?.stop()
})

test('every crash point belongs to a walk, and the short walk covers every step and every moment', () => {
  expect(
    [
      ...usualPoints(),
      ...CRASH_POINTS.filter((point) => isOfHttpChallenge(point) || isOfIssuing(point) || isOfRenewal(point)),
    ].toSorted(),
  ).toEqual([...CRASH_POINTS].toSorted())
  const parts = (points: readonly string[]) => ({
    steps: [...new Set(points.map((point) => point.split(' ').slice(0, 2).join(' ')))].toSorted(),
    moments: [...new Set(points.map((point) => point.split(' ')[2]))].toSorted(),
  })
  expect(parts(someOf(usualPoints()))).toEqual(parts(usualPoints()))
})

describe('after a crash at each point, recovery finishes the run', () => {
  const cases = walk(chosen(usualPoints()))
  test.each(cases.map((crash, i) => [crash.point, crash, cases[i + 1]] as const))('%s', async (_point, crash, next) => {
    await dieAt(crash, next)
  })
})

describe('after a crash at each point with http-01 challenges', () => {
  beforeAll(() => {
    armed = undefined
    configure = (config) => ({ ...config, acme: { ...(config.acme as object), challenge: 'http-01' } })
  })
  const cases = walk(chosen(CRASH_POINTS.filter(isOfHttpChallenge)))
  test.each(cases.map((crash) => [crash.point, crash] as const))('%s', async (_point, crash) => {
    await dieAt(crash, undefined)
  })
})

/** Kills the service at the point and checks all invariants when the next process, which dies at `next`, is ready. */
async function dieAt(crash: CrashCase, next: CrashCase | undefined): Promise<void> {
  await arm(crash.point)
  const { planId, host } = await bringTo(crash.action === 'apply' ? ['planned', 'rolled_back'] : ['applied'])
  const before = await world(lab)
  const watch = watchName(lab, host)
  const armNext = next && !isOnTheWayBack(crash, next.point) ? next.point : undefined
  const capability = await hindered(crash, () => crashDuring(crash, planId, armNext))
  await until('no run is under way', async () => !UNDER_WAY.includes((await planOf(lab, planId)).state), 60_000)
  await watch.end()
  const { state } = await planOf(lab, planId)
  plan = { planId, host, state }
  expect(state).toBe(crash.end)
  await invariants(lab)
  if (state === 'rolled_back') expect(await world(lab)).toEqual(bare)
  if (state === 'removed') expect(await world(lab)).toEqual(bare)
  if (state === 'applied' && crash.action === 'remove') expect(await world(lab)).toEqual(before)
  const again = await runWith(lab, capability, planId, crash.action)
  expect([again.status, again.body.code]).toEqual([403, 'capability_used'])
}

async function arm(point: string): Promise<void> {
  if (armed === point) return
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: point })
  await lab.restartService(configure)
  armed = point
}

/** Reuses the plan of the last case where possible, because a plan must work after a crash. */
async function bringTo(states: readonly string[]): Promise<{ planId: string; host: string }> {
  if (plan && states.includes(plan.state)) return plan
  if (plan?.state === 'applied') {
    expected(await run(lab, plan.planId, 'remove'), 200)
    plan = undefined
  }
  if (plan?.state !== 'rolled_back') {
    count += 1
    const { planId, host } = await planned(lab, { subdomain: `crash${count}`, port: backend.port, tls: true })
    plan = { planId, host, state: 'planned' }
  }
  if (states.includes(plan.state)) return plan
  expected(await run(lab, plan.planId), 200)
  plan = { ...plan, state: 'applied' }
  return plan
}

/** Makes the run fail when the point is on the way back: with an unhealthy backend, or with an nginx that cannot be reloaded. */
async function hindered<T>({ action, backward }: CrashCase, work: () => Promise<T>): Promise<T> {
  if (!backward) return work()
  const { pidFile } = lab.description.edges.primary
  const pid = readFileSync(pidFile)
  if (action === 'remove') writeFileSync(pidFile, '')
  isSick = action === 'apply'
  try {
    return await work()
  } finally {
    isSick = false
    writeFileSync(pidFile, pid)
  }
}

/** Resolves with the spent capability when the next process answers. */
async function crashDuring(
  { point, action }: CrashCase,
  planId: string,
  nextPoint: string | undefined,
): Promise<string> {
  const capability = await granted(lab, planId, action)
  lab.setNextServiceEnvironment(nextPoint === undefined ? {} : { DRAWBRIDGE_CRASH_AT: nextPoint })
  const death = lab.serviceRestarted()
  const answer = await runWith(lab, capability, planId, action).catch(() => undefined)
  if (answer) throw new Error(`${point} was not reached: ${answer.status} ${answer.text}`)
  await death
  armed = nextPoint
  return capability
}
