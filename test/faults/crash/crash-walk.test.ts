import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceConfig } from '../../../lab/service-config.ts'
import { statePaths } from '../../../lab/state.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { startLoad } from '../../support/backends/load.ts'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { watchName } from '../../support/dns/name-watch.ts'
import { visit } from '../../support/edge/visitor.ts'
import {
  type CrashCase,
  isOfHttpChallenge,
  isOfIssuing,
  isOfRenewal,
  isOnTheWayBack,
  partsOf,
  someOf,
  usualPoints,
  walk,
} from '../../support/faults/crash-walk.ts'
import { expected, granted, invariants, planned, planOf, run, runWith, world } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { installWildcard } from '../../support/lab/wildcard.ts'
import { until } from '../../support/until.ts'

const UNDER_WAY = ['applying', 'removing']

/** A plan and the number of its backend. */
interface Exposed {
  readonly planId: string
  readonly host: string
  readonly state: string
  readonly backend: number
}

// Every case needs two starts of the service and a whole run, on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

let lab: TestLab
/** An update moves the host from the backend that serves it to the other one. */
let backends: readonly [WebBackend, WebBackend]
/** The backend that answers the health path with 500 through an edge. It serves visitors all the same. */
let sick: number | undefined
let bare: readonly unknown[]
let takeWildcardAway: () => void
let plan: Exposed | undefined
/** A plan that replaces `plan`, whose update was rolled back. */
let successor: (Exposed & { replaces: string }) | undefined
let count = 0
/** The crash point of the current process. */
let armed: string | undefined
let configure: ((config: ServiceConfig) => ServiceConfig) | undefined

beforeAll(async () => {
  lab = await borrowLab('mortal')
  const started = (number: number) =>
    startWebBackend(lab, ({ url }, response) => {
      response.writeHead(sick === number && url === '/healthz' ? 500 : 200).end(`backend ${number}`)
    })
  backends = [await started(0), await started(1)]
  takeWildcardAway = await installWildcard(lab)
  bare = await world(lab)
})

afterAll(async () => {
  takeWildcardAway?.()
  await lab?.stop()
  for (const backend of backends ?? []) await backend[Symbol.asyncDispose]()
})

test('every crash point belongs to a walk, and the short walk covers every step, and every action both ways', () => {
  expect(
    [
      ...usualPoints(),
      ...CRASH_POINTS.filter((point) => isOfHttpChallenge(point) || isOfIssuing(point) || isOfRenewal(point)),
    ].toSorted(),
  ).toEqual([...CRASH_POINTS].toSorted())
  const parts = (points: readonly string[]) => new Set(points.flatMap(partsOf))
  expect(parts(someOf(usualPoints()))).toEqual(parts(usualPoints()))
})

describe('after a crash at each point, recovery finishes the run', () => {
  // All points take minutes; `npm run campaign -- crash` tests them.
  const cases = walk(process.env.CAMPAIGN ? usualPoints() : someOf(usualPoints()))
  test.each(cases.map((crash, i) => [crash.point, crash, cases[i + 1]] as const))('%s', async (_point, crash, next) => {
    await dieAt(crash, next)
  })
})

describe.runIf(process.env.CAMPAIGN)('after a crash at each point with http-01 challenges', () => {
  beforeAll(async () => {
    if (plan?.state === 'applied') expected(await run(lab, plan.planId, 'remove'), 200)
    // Only a plan that orders a certificate has the step proxy-tls, so nothing installed may cover the host.
    takeWildcardAway()
    plan = undefined
    armed = undefined
    configure = (config) => ({ ...config, acme: { ...(config.acme as object), challenge: 'http-01' } })
  })
  test.each(walk(CRASH_POINTS.filter(isOfHttpChallenge)).map((crash) => [crash.point, crash] as const))(
    '%s',
    (_point, crash) => dieAt(crash, undefined),
  )
})

/** Kills the service at the point and checks all invariants when the next process, which dies at `next`, is ready. */
async function dieAt(crash: CrashCase, next: CrashCase | undefined): Promise<void> {
  await arm(crash.point)
  if (crash.action === 'update') return dieInUpdate(crash, next)
  const subject = await bringTo(crash.action === 'apply' ? ['planned', 'rolled_back'] : ['applied'])
  const before = await world(lab)
  const state = await crashAndRecover(crash, next, subject)
  plan = { ...subject, state }
  expect(state).toBe(crash.end)
  await invariants(lab)
  if (state === 'rolled_back') expect(await world(lab)).toEqual(bare)
  if (state === 'removed') expect(await world(lab)).toEqual(bare)
  if (state === 'applied' && crash.action === 'remove') expect(await world(lab)).toEqual(before)
}

/** The same for an update. Until the verdict the former exposure must stay as it was, and visitors must never get an error. */
async function dieInUpdate(crash: CrashCase, next: CrashCase | undefined): Promise<void> {
  const former = await bringTo(['applied'])
  const subject = await successorOf(former)
  const before = await world(lab)
  const { primary, secondary } = lab.description.edges
  const load = startLoad(primary, former.host, '/', { tls: true, perSecond: 50 })
  const state = await crashAndRecover(crash, next, subject)
  const { served, failures } = await load.stop()
  const isReplaced = state === 'applied'
  plan = isReplaced ? { ...subject, state } : former
  successor = isReplaced ? undefined : { ...subject, state, replaces: former.planId }
  expect(state).toBe(crash.end)
  expect([failures, served > 0]).toEqual([[], true])
  expect((await planOf(lab, former.planId)).state).toBe(isReplaced ? 'replaced' : 'applied')
  await invariants(lab)
  if (!isReplaced) expect(await world(lab)).toEqual(before)
  const ca = readFileSync(join(statePaths(lab.state).certificates, 'wildcard.pem'))
  for (const edge of [primary, secondary])
    expect((await visit(edge, { host: plan.host, ca })).text).toBe(`backend ${plan.backend}`)
}

/** Resolves with the state of the plan when its run has ended. */
async function crashAndRecover(
  crash: CrashCase,
  next: CrashCase | undefined,
  subject: Exposed,
): Promise<Exposed['state']> {
  const { planId, host } = subject
  const watch = watchName(lab, host)
  const armNext = next && !isOnTheWayBack(crash, next.point) ? next.point : undefined
  const capability = await hindered(crash, subject, () => crashDuring(crash, planId, armNext))
  await until('no run is under way', async () => !UNDER_WAY.includes((await planOf(lab, planId)).state))
  await watch.end()
  const again = await runWith(lab, capability, planId, callOf(crash))
  expect([again.status, again.body.code]).toEqual([403, 'capability_used'])
  return (await planOf(lab, planId)).state
}

/** The call that begins the run: the apply of a plan that replaces another one is an update. */
const callOf = ({ action }: CrashCase): 'apply' | 'remove' => (action === 'remove' ? 'remove' : 'apply')

async function arm(point: string): Promise<void> {
  if (armed === point) return
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: point })
  await lab.restartService(configure)
  armed = point
}

/** Reuses the plan of the last case where possible, because a plan must work after a crash. */
async function bringTo(states: readonly string[]): Promise<Exposed> {
  if (plan && states.includes(plan.state)) return plan
  if (plan?.state === 'applied') {
    expected(await run(lab, plan.planId, 'remove'), 200)
    plan = undefined
  }
  if (plan?.state !== 'rolled_back') {
    count += 1
    const { planId, host } = await planned(lab, { subdomain: `crash${count}`, port: backends[0].port, tls: true })
    plan = { planId, host, state: 'planned', backend: 0 }
  }
  if (states.includes(plan.state)) return plan
  expected(await run(lab, plan.planId), 200)
  plan = { ...plan, state: 'applied' }
  return plan
}

/** A plan that moves the host to the other backend: the one of the last case where possible. */
async function successorOf(former: Exposed): Promise<Exposed> {
  if (successor?.replaces === former.planId) return successor
  const backend = former.backend === 0 ? 1 : 0
  const [subdomain] = former.host.split('.')
  const { port } = backends[backend]
  const { planId, host } = await planned(lab, { subdomain, port, tls: true, replaces: former.planId })
  return { planId, host, state: 'planned', backend }
}

/** Makes the run fail when the point is on the way back: with an unhealthy backend, or with an nginx that cannot be reloaded. */
async function hindered<T>({ action, backward }: CrashCase, subject: Exposed, work: () => Promise<T>): Promise<T> {
  if (!backward) return work()
  const { pidFile } = lab.description.edges.primary
  const pid = readFileSync(pidFile)
  if (action === 'remove') writeFileSync(pidFile, '')
  else sick = subject.backend
  try {
    return await work()
  } finally {
    sick = undefined
    writeFileSync(pidFile, pid)
  }
}

/** Resolves with the spent capability when the next process answers. */
async function crashDuring(crash: CrashCase, planId: string, nextPoint: string | undefined): Promise<string> {
  const { point } = crash
  const action = callOf(crash)
  const capability = await granted(lab, planId, action)
  lab.setNextServiceEnvironment(nextPoint === undefined ? {} : { DRAWBRIDGE_CRASH_AT: nextPoint })
  const death = lab.serviceRestarted()
  const answer = await runWith(lab, capability, planId, action).catch(() => undefined)
  if (answer) throw new Error(`${point} was not reached: ${answer.status} ${answer.text}`)
  await death
  armed = nextPoint
  return capability
}
