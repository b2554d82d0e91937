import { describe, expect, test } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import { ERRORS } from '../../../src/model/errors.ts'
import type { Plan, Run, RunEvent } from '../../../web/api/plans.ts'
import type { Policy } from '../../../web/api/policy.ts'
import { nextStep } from '../../../web/parts/next-step.ts'
import { cliCommand, curlCommands, nextAction } from '../../../web/plan/commands.ts'
import { deedsOf } from '../../../web/plan/contrasts.ts'
import { allowedActs, deedsOfAct, shortHash } from '../../../web/repair/acts.ts'
import { endOfRun } from '../../../web/run/end-of-run.ts'
import { formToPlanAgain } from '../../../web/run/plan-again.ts'
import { mayBeApplied } from '../../../web/run/rights.ts'
import { expectedSteps, runView } from '../../../web/run/steps.ts'
import { screenAt } from '../../../web/shell/location.ts'

describe('a run', () => {
  const event = (at: number, name: RunEvent['name'], step: string, more = {}): RunEvent => ({
    id: `run.${at}`,
    name,
    step,
    at: new Date(at).toISOString(),
    ...more,
  })
  const plan: Pick<Plan, 'steps'> = { steps: ['check', 'backup', 'proxy', 'dns', 'certificate', 'proxy-tls', 'verify'] }

  test('has an end of its own, also when nobody saw it running', () => {
    const run: Run = { action: 'repair', state: 'succeeded', startedAt: '', finishedAt: '12:00', events: [] }
    const ended = endOfRun({ state: 'applied', runs: [run] }, false)
    expect(endOfRun({ state: 'applied', runs: [run] }, true)).toBeUndefined()
    expect(endOfRun({ state: 'applied', runs: [run, { ...run, finishedAt: '12:01' }] }, false)).not.toBe(ended)
    expect(endOfRun({ state: 'applied', runs: [run] }, false)).toBe(ended)
    // Callers outside see no runs.
    expect(endOfRun({ state: 'applied' }, false)).not.toBe(endOfRun({ state: 'planned' }, false))
  })

  test('shows finished, running and future steps', () => {
    const events = [
      event(0, 'started', 'run'),
      event(1, 'started', 'check'),
      event(5, 'done', 'check'),
      event(6, 'started', 'backup'),
    ]
    const { steps, ended } = runView(events, expectedSteps('apply', plan), 106)
    expect(steps.map(({ name, status, ms }) => [name, status, ms])).toEqual([
      ['check', 'done', 4],
      ['backup', 'running', 100],
      ['proxy', 'waiting', undefined],
      ['dns', 'waiting', undefined],
      ['certificate', 'waiting', undefined],
      ['proxy-tls', 'waiting', undefined],
      ['verify', 'waiting', undefined],
    ])
    expect(expectedSteps('remove', plan)).toEqual(['backup', 'dns', 'proxy'])
    expect(expectedSteps('accept', plan)).toEqual(['backup', 'proxy', 'dns'])
    expect(expectedSteps('repair', plan)).toEqual([])
    expect(ended).toBeUndefined()
  })

  test('that fails shows its undo, and no future steps', () => {
    const events = [
      event(1, 'started', 'check'),
      event(2, 'done', 'check'),
      event(3, 'started', 'proxy'),
      event(4, 'failed', 'proxy', { detail: 'No.' }),
      event(5, 'undoing', 'proxy'),
      event(7, 'undone', 'proxy'),
      event(9, 'end', 'run', { state: 'rolled_back' }),
    ]
    const view = runView(events, expectedSteps('apply', plan), 0)
    expect(view.steps.map(({ name, status, detail }) => [name, status, detail])).toEqual([
      ['check', 'done', undefined],
      ['proxy', 'failed', 'No.'],
    ])
    expect(view.undos).toEqual([{ name: 'proxy', status: 'undone', ms: 2, detail: undefined }])
    expect([view.ended, view.ms, view.hasFailed]).toEqual(['rolled_back', 8, true])
  })
})

describe('a plan that adopts a hand-written site', () => {
  const planId = 'plan_x'
  const plain = { planId, state: 'planned', request: {} } as Plan
  const adoption = { ...plain, request: { adopt: { site: 'x', text: 'y' } } } as Plan
  const may = (...rights: string[]) => ({ caller: { network: 'internal', may: rights } }) as unknown as Policy

  test('is begun with a capability for adopt, and any other one with one for apply', async () => {
    const sent: unknown[] = []
    const clientFor = (plan: Plan) =>
      createClient('http://drawbridge.test', {
        fetch: async (input) => {
          const request = new Request(input)
          const { pathname } = new URL(request.url)
          if (request.method === 'GET') return Response.json(plan)
          sent.push([pathname, await request.json(), request.headers.get('prefer')])
          return Response.json({ capability: 'cap_1', header: 'x-deploy-capability' })
        },
      })
    await clientFor(adoption).beginRun(planId, 'apply')
    await clientFor(plain).beginRun(planId, 'apply')
    await clientFor(adoption).beginRun(planId, 'remove')
    const begun = (path: string) => [path, { planId }, 'respond-async']
    const token = (action: string) => ['/api/internal/token', { planId, action }, null]
    expect(sent).toEqual([
      token('adopt'),
      begun('/api/deploy/apply'),
      token('apply'),
      begun('/api/deploy/apply'),
      token('remove'),
      begun('/api/deploy/remove'),
    ])
  })

  test('is applied only by callers who may adopt', () => {
    expect(mayBeApplied(adoption, may('apply'))).toBe(false)
    expect(mayBeApplied(adoption, may('adopt'))).toBe(true)
    expect(mayBeApplied(plain, may('adopt'))).toBe(false)
    expect(mayBeApplied(plain, may('apply'))).toBe(true)
    expect(mayBeApplied({ ...plain, state: 'applied' }, may('apply'))).toBe(false)
  })

  test('says in its dialog what is taken over, and promises no record that is there already', () => {
    const changes = [
      { kind: 'proxy', action: 'adopt', serverName: 'a.test', target: 'http://192.0.2.1:80' },
      { kind: 'dns', action: 'keep', name: 'a.test', type: 'A', ttl: 60, value: '192.0.2.2' },
    ] as unknown as Plan['changes']
    const told = deedsOf({ host: 'a.test', changes }, 'apply').join(' ')
    expect(told).toMatch(
      /^The hand-written site of a\.test .* http:\/\/192\.0\.2\.1:80\. The record A 192\.0\.2\.2 of a\.test stays\./,
    )
  })

  test('has commands to paste that get a capability for adopt', () => {
    const policy = { capability: { header: 'x-deploy-capability' } } as Policy
    const text = curlCommands(adoption, 'apply', 'http://here', policy)
    expect(text).toContain(`-d '{"planId":"plan_x","action":"adopt"}'`)
    expect(text).toContain('http://here/api/deploy/apply')
    expect(curlCommands(plain, 'apply', 'http://here', policy)).not.toContain('"action"')
  })
})

describe('what can be done about a host that is not as it was applied', () => {
  const may = (...rights: string[]) => ({ caller: { network: 'internal', may: rights } }) as unknown as Policy
  const edited = { part: 'entry', field: 'hosts/a.conf', expected: 'x', found: 'y', overwrite: true } as const
  const gone = { part: 'record', field: 'a.test A', expected: 'x', found: 'missing', overwrite: false } as const

  test('is offered only to callers who may do it', () => {
    const acts = ['repair', 'overwrite', 'accept', 'renew'] as const
    expect(allowedActs(acts, may('read', 'repair'))).toEqual(['repair', 'overwrite'])
    expect(allowedActs(acts, may('read', 'accept', 'renew'))).toEqual(['accept', 'renew'])
    expect(allowedActs(acts, may('read', 'plan'))).toEqual([])
  })

  test('is told before it is done', () => {
    const told = (act: Parameters<typeof deedsOfAct>[0]) => deedsOfAct(act, 'a.test', [edited, gone]).join(' ')
    expect(told('repair')).toMatch(/^a\.test A is written again.*put back\.$/)
    expect(told('repair')).not.toContain('hosts/a.conf')
    expect(told('overwrite')).toMatch(/^hosts\/a\.conf is overwritten\..*lost\. a\.test A is written again/)
    expect(told('overwrite')).toMatch(/only the lines of this host/)
    const onBoth = deedsOfAct('overwrite', 'a.test', [edited, { ...edited, server: '73' }])
    expect(onBoth[1]).toMatch(/^hosts\/a\.conf on edge 73 is overwritten\./)
    expect(told('accept')).toMatch(/stays on the air.*owner mark.*nobody renews/)
    expect(told('renew')).toMatch(/order budget.*without a gap/)
  })

  test('shows enough of a hash', () => {
    expect(shortHash(`sha256:${'a'.repeat(64)}`)).toBe('sha256:aaaaaaaaaaaa…')
    expect(shortHash('192.0.2.1')).toBe('192.0.2.1')
  })
})

describe('a plan that is over is made again', () => {
  const host = 'a.test'
  const form = (state: Plan['state'], request: object, planId?: string | null) => {
    const rows =
      planId === null
        ? []
        : [
            { host: 'b.test', planId: 'plan_b' },
            { host, ...(planId && { planId }) },
          ]
    return formToPlanAgain({ host, state, request } as Plan, { rows, isWhole: true } as never)
  }
  const plain = { to: '/plan', form: 'plan' }
  const change = (planId: string) => ({ to: `/plans/${planId}/change`, form: `change ${planId}` })

  test('in the plain form if it was for a free name', () => {
    expect(form('expired', {})).toEqual(plain)
    expect(form('rolled_back', {})).toEqual(plain)
  })

  test('in the form of the change, for the plan that holds the host now', () => {
    for (const state of ['expired', 'rolled_back'] as const) {
      expect(form(state, { replaces: 'plan_1' }, 'plan_1')).toEqual(change('plan_1'))
      expect(form(state, { replaces: 'plan_1' }, 'plan_2')).toEqual(change('plan_2'))
      // Callers outside see no plan in a row.
      expect(form(state, { replaces: 'plan_1' })).toEqual(change('plan_1'))
      expect(form(state, { replaces: 'plan_1' }, null)).toEqual(plain)
    }
    const request = { replaces: 'plan_1' }
    for (const list of [undefined, { rows: [], isWhole: false }])
      expect(formToPlanAgain({ host, state: 'expired', request } as unknown as Plan, list)).toEqual(change('plan_1'))
  })

  test('by the command on the page of the host if it adopts a site', () => {
    const adopt = { site: 'x', text: 'y' }
    expect(form('expired', { adopt })).toEqual({ to: '/hosts/a.test/details' })
    expect(form('rolled_back', { adopt })).toEqual({ to: '/hosts/a.test/details' })
  })

  test('in the plain form if its host was removed, however it came', () => {
    for (const request of [{}, { replaces: 'plan_1' }, { adopt: { site: 'x', text: 'y' } }])
      expect(form('removed', request)).toEqual(plain)
  })
})

test('no next step on the page is an HTTP call', () => {
  const told = Object.entries(ERRORS).map(([code, { nextAction }]) => nextStep({ code, nextAction }))
  expect(told.filter((sentence) => /\b(?:GET|POST) \//.test(sentence))).toEqual([])
  expect(nextStep({ code: 'a_newer_code', nextAction: 'Do this.' })).toBe('Do this.')
})

test('commands to paste get their own capability', () => {
  const policy = { capability: { header: 'x-deploy-capability' } } as Policy
  const plan = { planId: 'plan_x', request: {} } as Plan
  const text = curlCommands(plan, 'remove', 'http://here', policy)
  expect(text).toContain(`-d '{"planId":"plan_x","action":"remove"}'`)
  expect(text).toContain('x-deploy-capability: $RIGHT')
  expect(cliCommand('plan_x', nextAction({ state: 'applied' }), 'http://here')).toBe(
    'drawbridge remove plan_x --url http://here',
  )
  expect(nextAction({ state: 'planned' })).toBe('apply')
})

test.each([
  ['/', { name: 'status' }],
  ['/hosts/Hello.lab.test', { name: 'status', host: 'hello.lab.test' }],
  ['/plans', { name: 'plans' }],
  ['/plans/plan_1', { name: 'one-plan', planId: 'plan_1' }],
  ['/plans/plan_1/change', { name: 'change', planId: 'plan_1' }],
  ['/plan', { name: 'plan' }],
  ['/help', { name: 'help' }],
  ['/help/more', { name: 'not-found' }],
  ['/plans/a/b', { name: 'not-found' }],
  ['/other', { name: 'not-found' }],
])('%s is a screen', (path, screen) => {
  expect(screenAt(path)).toEqual(screen)
})
