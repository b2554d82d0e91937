import { describe, expect, test } from 'vitest'
import { planOrChange, planWithFormer } from '../../../src/cli/change.ts'
import { nextCommand } from '../../../src/cli/next-action.ts'
import { planLines } from '../../../src/cli/views/plan.ts'
import type { ExposureRequest } from '../../../src/client/bodies.ts'
import { createClient } from '../../../src/client/client.ts'
import { planMaintenance } from '../../../src/client/maintenance.ts'
import { type ProblemBody, Refusal } from '../../../src/client/refusal.ts'
import type { Screen } from '../../../src/terminal/screen.ts'

const FORMER = 'plan_00000000000000000000000001'
const HOST = 'hello.lab.test'
const NOW = Date.parse('2026-01-31T12:00:00Z')
const before = { zone: 'lab.test', subdomain: 'hello', server: '25', port: 3000, health: '/healthz', tls: true }
const after = { ...before, port: 3001 }

const taken = (by: string) => ({
  code: 'dns_name_taken',
  detail: `${HOST} is already exposed.`,
  nextAction: 'Choose another subdomain.',
  retryable: false,
  checks: [{ name: 'dns', status: 'failed', detail: 'It is taken.', by }],
})

interface Situation {
  readonly takenBy?: string
  /** Whether the service tells this caller the plan of a host. */
  readonly isInside?: boolean
  readonly expiresAt?: string | null
  /** The request of the plan that holds the host. */
  readonly now?: object
}

/** The client on a stand-in for a service where an applied plan holds the host. */
function onService({ takenBy = 'exposure', isInside = true, expiresAt = null, now = before }: Situation = {}) {
  const planned: ExposureRequest[] = []
  const answers: Readonly<Record<string, (body: ExposureRequest) => readonly [number, unknown]>> = {
    '/api/deploy/plan': (request) => {
      planned.push(request)
      if (request.replaces === undefined) return [409, taken(takenBy)]
      return [201, { planId: 'plan_new', state: 'planned', host: HOST, request }]
    },
    '/api/health': () => [200, { host: HOST, managed: true, expiresAt, ...(isInside && { planId: FORMER }) }],
    [`/api/deploy/plans/${FORMER}`]: () => [200, { planId: FORMER, state: 'applied', host: HOST, request: now }],
  }
  const api = createClient('http://drawbridge.test', {
    fetch: async (input) => {
      const request = new Request(input)
      const answer = answers[new URL(request.url).pathname]
      if (!answer) throw new Error('no connection')
      const [status, body] = answer(request.method === 'POST' ? ((await request.json()) as ExposureRequest) : before)
      return Response.json(body, { status })
    },
  })
  return { api, planned }
}

describe('up on a host that is exposed here', () => {
  test('plans with replaces, and knows what was before', async () => {
    const { api, planned } = onService({ expiresAt: '2026-01-31T14:00:00Z' })
    const former = { planId: FORMER, request: before, expiresAt: '2026-01-31T14:00:00Z' }
    expect(await planOrChange(api, after)).toMatchObject({ plan: { planId: 'plan_new' }, former })
    expect(planned).toEqual([after, { ...after, replaces: FORMER }])
  })

  test('makes no plan where nothing would change', async () => {
    const { api, planned } = onService()
    expect(await planOrChange(api, before)).toMatchObject({ unchanged: { planId: FORMER } })
    expect(planned).toEqual([before])
    const ending = onService({ expiresAt: '2026-01-31T14:00:00Z' })
    expect(await planOrChange(ending.api, before)).toHaveProperty('plan')
    expect(await planOrChange(onService().api, { ...before, expiresIn: 300 })).toHaveProperty('plan')
  })

  test.each<[string, Situation]>([
    ['somebody else holds the name', { takenBy: 'record' }],
    ['the caller is outside', { isInside: false }],
  ])('is refused as before where %s', async (_, situation) => {
    const { api, planned } = onService(situation)
    await expect(planOrChange(api, after)).rejects.toThrow(Refusal)
    expect(planned).toEqual([after])
  })
})

test('a plan with replaces comes with what was before, any other one without', async () => {
  const { api } = onService()
  expect(await planWithFormer(api, { ...after, replaces: FORMER })).toMatchObject({ former: { expiresAt: null } })
})

test('what to do next about a name that is exposed here is a command', () => {
  expect(nextCommand(taken('exposure') as unknown as ProblemBody)).toContain('drawbridge up HOST')
  expect(nextCommand(taken('record') as unknown as ProblemBody)).toBe('Choose another subdomain.')
})

const nothing = () => undefined
const screen: Screen = {
  ...{ columns: 80, isTerminal: false, paint: (_: unknown, text: string) => text },
  ...{ print: nothing, redraw: nothing, showProgress: nothing },
}

test('the view of a plan shows its steps in order, and before and after', () => {
  const plan = {
    planId: 'plan_new',
    state: 'planned',
    host: HOST,
    url: `https://${HOST}/`,
    checks: [],
    changes: [],
    request: { ...after, expiresIn: 7200 },
    expiresAt: '2026-02-01T12:00:00Z',
  }
  const steps = ['check', 'backup', 'certificate', 'proxy', 'verify']
  const former = { planId: FORMER, request: before, expiresAt: '2026-01-31T13:00:00Z' }
  expect(planLines({ ...plan, steps }, screen, NOW, former).slice(5, -3)).toEqual([
    '',
    `Replaces ${FORMER}`,
    '  server      25 (unchanged)',
    '  port        3000 → 3001',
    '  health      /healthz (unchanged)',
    '  https       yes (unchanged)',
    '  expires     2026-01-31 13:00:00 UTC (in 60m) → 2h after the apply',
    '',
    'Steps: check → backup → certificate → proxy → verify',
  ])
  expect(planLines({ ...plan, steps: [] }, screen, NOW).join()).not.toMatch(/Steps|Replaces/)
})

test('a time limit that is not named stays beside one that is', async () => {
  const now = { ...before, options: { timeouts: { read: 3_600, send: 3_600 }, maxBody: '5m' } }
  const { api, planned } = onService({ now })
  await planOrChange(api, { ...before, options: { timeouts: { connect: 10 } } })
  expect(planned.at(-1)?.options).toEqual({ timeouts: { read: 3_600, send: 3_600, connect: 10 }, maxBody: '5m' })
})

test('maintenance of a site that was adopted does not adopt it again', async () => {
  const { api, planned } = onService({ now: { ...before, adopt: { site: 'a'.repeat(64), text: 'b'.repeat(64) } } })
  await planMaintenance(api, FORMER, {})
  expect(planned).toEqual([{ ...before, replaces: FORMER, options: { maintenance: {} } }])
})
