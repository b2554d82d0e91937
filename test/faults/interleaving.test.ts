import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { tlsHandshake } from '../../src/edge/visit/handshake.ts'
import type { AuditEntry } from '../../src/model/audit.ts'
import type { Receipt } from '../../src/model/receipt.ts'
import { systemClock } from '../../src/primitives/clock.ts'
import { STEADY_PEBBLE } from '../support/acme/pebble-again.ts'
import { startWebBackend, type WebBackend } from '../support/backends/web-backend.ts'
import { takes } from '../support/delay.ts'
import { visit } from '../support/edge/visitor.ts'
import { fc, SEED } from '../support/fast-check.ts'
import { type Deed, type Holder, type Standing, trueOrder } from '../support/faults/sequence.ts'
import type { Answer } from '../support/http/call.ts'
import { applied, granted, invariants, planned, planOf, removed } from '../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { rowsOf, withStore } from '../support/lab/lab-store.ts'
import { until } from '../support/until.ts'

/**
 * Everything that ends or changes an exposure, asked for at the same time with random delays, on a whole lab with TLS.
 * `npm run campaign -- interleaving` plays 200 rounds. SEED repeats the rounds of a failure.
 */
const ROUNDS = process.env.CAMPAIGN ? 200 : 3
vi.setConfig({ testTimeout: ROUNDS * 60_000 })

const SUBDOMAIN = 'contended'
const HOST = `${SUBDOMAIN}.lab.test`

let lab: TestLab
let backends: Record<Holder, WebBackend>
beforeAll(async () => {
  Object.assign(process.env, STEADY_PEBBLE)
  lab = await startTestLab().finally(() => {
    for (const name of Object.keys(STEADY_PEBBLE)) delete process.env[name]
  })
  const on = (server: string) => lab.description.backends.find((backend) => backend.server === server)?.address
  backends = {
    former: await startWebBackend(lab, (_request, response) => response.end('former'), on('25')),
    next: await startWebBackend(lab, (_request, response) => response.end('next'), on('253')),
  }
})
afterAll(async () => {
  for (const backend of Object.values(backends ?? {})) await backend[Symbol.asyncDispose]()
  await lab?.stop()
})

const delay = fc.oneof(fc.constant(0), fc.nat(100), fc.nat(1_000))

/** One round. `dueIn` and `base` count from its beginning, delays from `base`, in milliseconds. */
const round = fc.record({
  dueIn: fc.integer({ min: -2_000, max: 1_000 }),
  // The service looks for expired exposures every two seconds.
  base: fc.oneof(fc.constant(0), fc.nat(2_000)),
  delays: fc.record({ extend: delay, renew: delay, update: delay, remove: delay }),
  extendSeconds: fc.constantFrom(300, 86_400),
  updateSeconds: fc.constantFrom(undefined, 300, 600),
  extends: fc.constantFrom<Holder>('former', 'former', 'next'),
  renews: fc.constantFrom<Holder>('former', 'former', 'next'),
  removes: fc.constantFrom<Holder>('former', 'former', 'next'),
})
type Round = typeof round extends fc.Arbitrary<infer T> ? T : never
type Plans = Readonly<Record<Holder, string>>

test('extend, expire, renew, update and remove of one host at once: every answer is true afterwards', async () => {
  const seen = new Set<string>()
  for (const [i, given] of fc.sample(round, { seed: SEED, numRuns: ROUNDS }).entries()) {
    const told = await play(given).catch((error: unknown) => {
      throw new Error(`SEED=${SEED}, round ${i + 1}: ${JSON.stringify(given)}`, { cause: error })
    })
    for (const { action, answer } of told) seen.add(`${action} ${answer}`)
  }
  const all = ['extend ok', 'renew ok', 'update ok', 'remove ok', 'expire ok', 'update plan_busy', 'remove plan_busy']
  if (process.env.CAMPAIGN) expect([...seen]).toEqual(expect.arrayContaining(all))
})

interface Story {
  readonly plans: Plans
  readonly before: Standing
  readonly after: Standing
  readonly answered: readonly Answered[]
  /** What was answered, and what the service did by itself. */
  readonly deeds: readonly Deed[]
  /** The audit of this round. */
  readonly lines: readonly AuditEntry[]
  /** When the newest certificate that was served before or was answered begins. */
  readonly certificateSince: number
}

async function play(given: Round): Promise<readonly Deed[]> {
  const story = await act(given)
  await judge(story).catch((error: unknown) => {
    const { lines: _, answered, ...rest } = story
    const answers = answered.map(({ answer }) => answer.text)
    throw new Error(JSON.stringify({ ...rest, answers }, null, 1), { cause: error })
  })
  const { plans, after, deeds } = story
  if (after.holder) await removed(lab, plans[after.holder])
  return deeds
}

async function act(given: Round): Promise<Story> {
  const plans = await bothPlans(given)
  const requests = await prepared(given, plans)
  const former = receiptNow()?.certificate?.notBefore ?? 0
  const head = await withStore(lab, async (store) => (await store.auditHead())?.seq ?? 0)
  const begun = Date.now()
  const end = begun + given.dueIn
  await withStore(lab, (store) => store.setExposureExpiry(HOST, plans.former, end))
  const answered = await Promise.all(requests.map((send) => send()))
  await until('nothing is under way or due', () => isSettled())
  const lines = await withStore(lab, (store) => store.readAudit(head, 1_000))
  const renewed = answered.find(({ deed }) => deed.action === 'renew' && deed.answer === 'ok')?.answer.body
  return {
    plans,
    before: { holder: 'former', end },
    after: standingNow(plans),
    answered,
    deeds: [...answered.map(({ deed }) => deed), ...lines.filter(isExpiry).map((line) => expiry(line, plans, begun))],
    lines,
    certificateSince: Math.max(former, Date.parse(renewed?.certificate.notBefore ?? 0)),
  }
}

async function judge({ plans, before, after, answered, deeds, lines, certificateSince }: Story): Promise<void> {
  expect(trueOrder(deeds, before, after), 'an order in which all answers are true').toBeDefined()
  for (const { answer } of answered) expect(answer.body.detail ?? '').not.toMatch(/^The plan is applied;/)
  // A stale update is refused in its first step, so its run is audited as well.
  const [turnedBack, told] = [lines.filter(isTurnedBack), lines.filter((line) => !isTurnedBack(line))]
  expect(new Set(turnedBack.map(({ action }) => action)).difference(new Set(['update']))).toEqual(new Set())
  expect(told.map(lineOf).toSorted()).toEqual(deeds.map((deed) => expectedLine(deed, plans)).toSorted())
  await expectStates(deeds, plans, after)
  await expectReads(plans, after)
  await (after.holder ? expectServed(after.holder, certificateSince) : expectGone())
  await invariants(lab)
}

const isTurnedBack = ({ outcome }: AuditEntry): boolean => outcome === 'rolled_back'
const isExpiry = ({ action, outcome }: AuditEntry): boolean => action === 'expire' && outcome === 'ok'
const expiry = ({ at, planId }: AuditEntry, plans: Plans, begun: number): Deed => ({
  ...{ action: 'expire', answer: 'ok', sentAt: begun, answeredAt: at },
  of: planId === plans.next ? 'next' : 'former',
})

/** The former plan is applied, the next one is planned. */
async function bothPlans({ updateSeconds }: Round): Promise<Plans> {
  const common = { subdomain: SUBDOMAIN, tls: true }
  const former = await applied(lab, { ...common, port: backends.former.port, expiresIn: 300 })
  const next = await planned(lab, {
    ...{ ...common, server: '253', port: backends.next.port, replaces: former.planId },
    ...(updateSeconds && { expiresIn: updateSeconds }),
  })
  return { former: former.planId, next: next.planId }
}

interface Answered {
  readonly deed: Deed
  readonly answer: Answer
}

/** The four requests, each with its capability and its delay. */
async function prepared(given: Round, plans: Plans): Promise<(() => Promise<Answered>)[]> {
  const { extendSeconds, updateSeconds } = given
  const deeds = [
    { action: 'extend', path: 'extend', right: 'apply', of: given.extends, seconds: extendSeconds },
    { action: 'renew', path: 'renew', right: 'renew', of: given.renews, seconds: undefined },
    { action: 'update', path: 'apply', right: 'apply', of: 'next', seconds: updateSeconds },
    { action: 'remove', path: 'remove', right: 'remove', of: given.removes, seconds: undefined },
  ] as const
  const capabilities = await Promise.all(deeds.map(({ of, right }) => granted(lab, plans[of], right)))
  return deeds.map(({ action, path, of, seconds }, i) => async () => {
    await takes(given.base + given.delays[action])
    const sentAt = Date.now()
    const answer = await lab.call({
      path: `/api/deploy/${path}`,
      body: { planId: plans[of], ...(action === 'extend' && { expiresIn: seconds }) },
      headers: { 'x-deploy-capability': capabilities[i] ?? '' },
    })
    const asked = {
      action,
      of,
      answer: answer.status === 200 ? 'ok' : answer.body.code,
      sentAt,
      answeredAt: Date.now(),
    }
    return { deed: { ...asked, end: endIn(answer, seconds, sentAt) }, answer }
  })
}

/** The end that was answered, or the earliest one that a refused request asked for. */
function endIn({ status, body }: Answer, seconds: number | undefined, sentAt: number): number | null {
  if (status === 200 && body.expiresAt !== undefined) return Date.parse(body.expiresAt)
  if (seconds === undefined) return null
  return (status === 200 ? Date.parse(body.appliedAt) : sentAt) + seconds * 1_000
}

interface ExposureRow {
  readonly plan_id: string
  readonly state: string
  readonly expires_at: number | null
  readonly receipt: string | null
}

const exposureNow = () => rowsOf<ExposureRow>(lab, `select * from exposures where host = '${HOST}'`)[0]
const receiptNow = (): Receipt | undefined => JSON.parse(exposureNow()?.receipt ?? 'null') ?? undefined

function isSettled(): boolean {
  const unfinished = rowsOf(lab, "select run_id from runs where state = 'running'")
  const { state = 'applied', expires_at = null } = exposureNow() ?? {}
  return unfinished.length === 0 && state === 'applied' && (expires_at === null || expires_at > Date.now())
}

function standingNow(plans: Plans): Standing {
  const exposure = exposureNow()
  if (!exposure) return { holder: undefined, end: null }
  return { holder: exposure.plan_id === plans.next ? 'next' : 'former', end: exposure.expires_at }
}

const lineOf = ({ action, outcome, code, planId }: AuditEntry) => `${action} ${code ?? outcome} ${planId}`

/** Refusals are audited under the name of their route. */
const expectedLine = ({ action, answer, of }: Deed, plans: Plans) =>
  `${action === 'update' && answer !== 'ok' ? 'apply' : action} ${answer} ${plans[of]}`

async function expectStates(deeds: readonly Deed[], plans: Plans, { holder }: Standing): Promise<void> {
  const isUpdated = deeds.some(({ action, answer }) => action === 'update' && answer === 'ok')
  const last = holder ? 'applied' : 'removed'
  const [former, next] = await Promise.all([planOf(lab, plans.former), planOf(lab, plans.next)])
  expect(former.state).toBe(isUpdated ? 'replaced' : last)
  expect(isUpdated ? [last] : ['planned', 'rolled_back']).toContain(next.state)
}

async function expectReads(plans: Plans, { holder, end }: Standing): Promise<void> {
  const { status, body } = await lab.call({ path: `/api/health?host=${HOST}` })
  const expiresAt = end === null ? null : new Date(end).toISOString()
  if (holder) expect([status, body.planId, body.expiresAt]).toEqual([200, plans[holder], expiresAt])
  else expect([status, body.code]).toEqual([404, 'host_not_found'])
  if (!holder) return
  const drift = await lab.call({ path: `/api/deploy/plans/${plans[holder]}/drift` })
  expect(drift.body.differences).toEqual([])
}

/** Both edges send visitors to the backend of the plan, with the certificate of the receipt, which never gets older. */
async function expectServed(holder: Holder, certificateSince: number): Promise<void> {
  const { edges, acme } = lab.description
  const ca = readFileSync(acme.ca)
  const { fingerprint, notBefore } = receiptNow()?.certificate ?? {}
  expect(notBefore).toBeGreaterThanOrEqual(certificateSince)
  for (const edge of [edges.primary, edges.secondary]) {
    expect((await visit(edge, { host: HOST, path: '/healthz', ca })).text).toBe(holder)
    const shown = await tlsHandshake({ address: edge.address, port: edge.https }, HOST, 5_000, systemClock)
    expect(shown).toMatchObject({ fingerprint })
  }
}

/** The invariants see the zone and the files; here a visitor comes. */
async function expectGone(): Promise<void> {
  for (const edge of Object.values(lab.description.edges))
    expect((await tlsHandshake({ address: edge.address, port: edge.https }, HOST, 5_000, systemClock)).kind).not.toBe(
      'certificate',
    )
}
