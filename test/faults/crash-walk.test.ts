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

/** All points take minutes; `npm run campaign -- crash` walks them. */
const chosen = (points: string[]): string[] => (process.env.CAMPAIGN ? points : someOf(points))
const UNDER_WAY = ['applying', 'removing']

// Every case is two starts of the service and a whole run, and the machine may have other work.
vi.setConfig({ testTimeout: 90_000 })

let lab: TestLab
let backend: WebBackend
/** Whether the backend answers what comes through an edge with 500. */
let isSick = false
let bare: readonly unknown[]
let plan: { planId: string; host: string; state: string } | undefined
let count = 0
/** The point at which the service that runs now will die. */
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

test('every point of the table belongs to a walk, and the short one meets every step and every moment', () => {
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

describe('killed at each point, and started again on what it left', () => {
  const cases = walk(chosen(usualPoints()))
  test.each(cases.map((crash, i) => [crash.point, crash, cases[i + 1]] as const))('%s', async (_point, crash, next) => {
    await dieAt(crash, next)
  })
})

describe('the same with challenges by http-01', () => {
  beforeAll(() => {
    armed = undefined
    configure = (config) => ({ ...config, acme: { ...(config.acme as object), challenge: 'http-01' } })
  })
  const cases = walk(chosen(CRASH_POINTS.filter(isOfHttpChallenge)))
  test.each(cases.map((crash) => [crash.point, crash] as const))('%s', async (_point, crash) => {
    await dieAt(crash, undefined)
  })
})

/** Lets the service die there and checks everything that must be true once its successor is ready, which is to die at `next`. */
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

/** The plan of the last case where it will do: what a crash left must be as good as new. */
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

/** Makes the run fail where the point lies on the way back: by a backend that is sick, or by an nginx that cannot be found to be reloaded. */
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

/** The capability that was spent. Resolves when the successor answers. */
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
