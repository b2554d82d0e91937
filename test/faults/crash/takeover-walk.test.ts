import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { STEADY_PEBBLE } from '../../support/acme/pebble-again.ts'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { serves } from '../../support/edge/edge-folder.ts'
import { handshake } from '../../support/edge/tls-visitor.ts'
import type { Answer } from '../../support/http/call.ts'
import { type InstanceLab, type RunningInstance, startInstanceLab } from '../../support/instances/instances.ts'
import { stays, until } from '../../support/until.ts'

/**
 * Two instances on one database. One is stopped (SIGSTOP) at a point of a run until the other one has ended the run; then it
 * continues. Nothing that it does then may reach nginx, DNS or the authority. `npm run campaign -- takeover-walk` stops at
 * every point of apply, remove, update and renew.
 */
const TAKE_OVER_SECONDS = 3
const AT_ONCE = 4
const ACTIONS = ['apply', 'remove', 'update', 'renew'] as const
type Action = (typeof ACTIONS)[number]

const actionOf = (point: string): Action => point.split(' ')[0] as Action
const goesBack = (point: string): boolean => / (?:before|after)-und/.test(point)
/** With http-01 only, or only where an edge shows another certificate than it was just given. */
const isElsewhere = (point: string): boolean => / proxy-tls |^renew verify (?:before|after)-und/.test(point)
const ALL = CRASH_POINTS.filter(
  (point) => ACTIONS.some((action) => point.startsWith(`${action} `)) && !isElsewhere(point),
)
/** Directly before effects that a visitor would see: of DNS, which has no fence, and of nginx. */
const SOME = ['apply dns after-intent', 'update proxy before-swap']
const POINTS = process.env.CAMPAIGN ? ALL : SOME

let lab: InstanceLab
let living: Instance
let backend: WebBackend
/** The subdomains whose health path answers 500 through an edge, so that their runs go back. */
const sick = new Set<string>()
let count = 0

beforeAll(async () => {
  Object.assign(process.env, STEADY_PEBBLE)
  lab = await startInstanceLab().finally(() => {
    for (const name of Object.keys(STEADY_PEBBLE)) delete process.env[name]
  })
  backend = await startWebBackend(lab.lab, ({ headers }, response) => {
    response
      .writeHead(sick.has((headers['x-forwarded-host'] ?? '').toString().split('.')[0] ?? '') ? 500 : 200)
      .end('ok')
  })
  living = await startInstance('living', 24)
})
afterAll(async () => {
  await lab?.stop()
  await backend?.[Symbol.asyncDispose]()
})

interface Instance extends RunningInstance {
  run(action: string, planId: string): Promise<Answer>
}

/** Each instance issues into its own folder. All of them read all folders. */
const issuedBy = (name: string) => join(lab.folder, name, 'certificates')
const SLOTS = Array.from({ length: AT_ONCE }, (_, slot) => `slot${slot}`)

async function startInstance(name: string, last: number, environment: Record<string, string> = {}): Promise<Instance> {
  const others = ['living', ...SLOTS].filter((other) => other !== name).map(issuedBy)
  const instance = await lab.start(name, last, {
    environment,
    settings: {
      certificates: [statePaths(lab.lab.state).certificates, ...others],
      instances: { takeOverSeconds: TAKE_OVER_SECONDS },
      renewal: { checkEverySeconds: 3_600 },
    },
  })
  return {
    ...instance,
    run: async (action, planId) => {
      const { capability } = (await instance.post('/api/internal/token', { planId, action })).body
      return instance.post(`/api/deploy/${action}`, { planId }, { 'x-deploy-capability': capability })
    },
  }
}

async function plannedFor(subdomain: string, more: object = {}): Promise<string> {
  const request = { zone: 'lab.test', subdomain, server: '25', port: backend.port, health: '/healthz', tls: false }
  const { status, body, text } = await living.post('/api/deploy/plan', { ...request, ...more })
  if (status !== 201) throw new Error(`no plan for ${subdomain}: ${text}`)
  return body.planId
}

/** Brings the host to where a run of the action can begin. Gives the plan of that run. */
async function subjectOf(point: string, subdomain: string): Promise<string> {
  const action = actionOf(point)
  const tls = action === 'renew' || point.includes(' certificate ')
  if (action === 'apply') return plannedFor(subdomain, { tls })
  const former = await plannedFor(subdomain, { tls: action === 'renew' })
  const { status, text } = await living.run('apply', former)
  if (status !== 200) throw new Error(`${subdomain} was not applied: ${text}`)
  return action === 'update' ? plannedFor(subdomain, { tls, replaces: former }) : former
}

const isStopped = (pid: number): boolean => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

/** What can be seen of a host from outside. */
async function seen(host: string): Promise<unknown> {
  const edges = Object.values(lab.lab.description.edges)
  const names = [host, `_drawbridge.${host}`]
  const answers = await dnsReader(lab.lab.description.dns.primary).ask([
    { name: host, type: 'A' },
    { name: `_drawbridge.${host}`, type: 'TXT' },
  ])
  const ca = readFileSync(lab.lab.description.acme.ca, 'utf8')
  return {
    names: names.map((name, i) => [name, answers[i]?.kind === 'answer' ? answers[i].rcode : answers[i]?.kind]),
    entries: edges.map((edge) => {
      const { entry, parts } = new PresentGeneration(edge.folder).find(host) ?? {}
      return { entry, parts: [...(parts ?? [])] }
    }),
    served: await Promise.all(edges.map((edge) => serves(edge, host))),
    shown: await Promise.all(
      edges.map((edge) =>
        handshake(edge, host, ca).then(
          ({ serial }) => serial,
          () => null,
        ),
      ),
    ),
  }
}

/** Name and service are both there exactly when the store says so. */
async function assertAgrees(host: string): Promise<void> {
  const exposure = await lab.store.findExposure(host)
  const found = (await seen(host)) as { names: [string, string][]; served: boolean[] }
  const isThere = exposure !== undefined
  expect(exposure?.state ?? 'applied').toBe('applied')
  expect(exposure?.runId).toBeUndefined()
  expect(found.names.map(([, rcode]) => rcode)).toEqual(isThere ? ['NOERROR', 'NOERROR'] : ['NXDOMAIN', 'NXDOMAIN'])
  expect(found.served).toEqual([isThere, isThere])
}

/** Reloads of the Primary fail while its pid file is empty. */
function hinderReloads(): () => void {
  const { pidFile } = lab.lab.description.edges.primary
  const pid = readFileSync(pidFile)
  writeFileSync(pidFile, '')
  return () => writeFileSync(pidFile, pid)
}

interface Case {
  readonly point: string
  readonly subdomain: string
  readonly host: string
  readonly planId: string
  readonly paused: Instance
}

/** An instance that will stop at the point, and a plan whose run leads there. */
async function prepared(point: string, slot: number): Promise<Case> {
  count += 1
  const subdomain = `w${count}`
  const planId = await subjectOf(point, subdomain)
  const paused = await startInstance(`slot${slot}`, 30 + slot, { DRAWBRIDGE_STOP_AT: point })
  return { point, subdomain, host: `${subdomain}.lab.test`, planId, paused }
}

/** Runs up to the point, lets the other instance end the run, continues, and looks for anything that has changed since. */
async function stopAt({ point, subdomain, host, planId, paused }: Case): Promise<void> {
  const action = actionOf(point)
  let heal: () => void = () => undefined
  if (goesBack(point) && (action === 'apply' || action === 'update')) sick.add(subdomain)
  else if (goesBack(point)) heal = hinderReloads()
  const { pid } = paused.daemon
  const answer = paused.run(action === 'update' ? 'apply' : action, planId).catch((error: unknown) => error)
  await until(`an instance has stopped at ${point}`, () => isStopped(pid), 60_000).finally(heal)
  const isOver = async () => !(await lab.store.unfinishedRuns()).some((run) => run.host === host)
  await until(`the run of ${point} was ended by the other instance`, isOver)
  sick.delete(subdomain)
  const before = await seen(host)
  const logged = paused.log().length
  process.kill(pid, 'SIGCONT')
  const told = await answer
  // Whoever has ended the run itself may say so.
  if (!point.endsWith('after-finish')) expect(told).not.toMatchObject({ status: 200 })
  await stays(async () => expect(await seen(host)).toEqual(before))
  expect(paused.log().slice(logged)).not.toMatch(/"progress":"(?!failed|challenge_left)/)
  await assertAgrees(host)
}

/** The next instance to start looks after every host: nothing may be left for it. */
async function cleanUp({ host, paused }: Case): Promise<void> {
  await paused.daemon.stop()
  const exposure = await lab.store.findExposure(host)
  if (exposure) await living.run('remove', exposure.planId)
}

/** Instances of one wave start before the first of them stops, because a new instance takes up what it finds unfinished. */
async function wave(points: readonly string[], failed: string[]): Promise<void> {
  const note = (point: string) => (error: unknown) => void failed.push(`${point}: ${(error as Error).message}`)
  const cases: Case[] = []
  for (const [slot, point] of points.entries())
    await prepared(point, slot).then((ready) => cases.push(ready), note(point))
  await Promise.all(cases.map((each) => stopAt(each).catch(note(each.point))))
  await Promise.all(cases.map(cleanUp))
}

/** Points that hinder every reload are walked one after the other. */
const isAlone = (point: string): boolean => goesBack(point) && ['remove', 'renew'].includes(actionOf(point))

test('an instance that was stopped at any point past its lease changes nothing when it continues', {
  timeout: 3_600_000,
}, async () => {
  const failed: string[] = []
  const together = POINTS.filter((point) => !isAlone(point))
  for (let i = 0; i < together.length; i += AT_ONCE) await wave(together.slice(i, i + AT_ONCE), failed)
  for (const point of POINTS.filter(isAlone)) await wave([point], failed)
  expect(failed).toEqual([])
  expect(count).toBe(POINTS.length)
})
