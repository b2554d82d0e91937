import { expect, test } from 'vitest'
import { Problem } from '../../../../src/model/errors.ts'
import { CONSOLE_ACTOR, type Run, SERVICE_ACTOR } from '../../../../src/model/run.ts'
import { auditActionOf, type Ended, eventOf, factsOf } from '../../../../src/runs/engine/ending.ts'
import type { SagaOutcome } from '../../../../src/runs/engine/saga.ts'
import { StepFault } from '../../../../src/runs/engine/step.ts'
import { NOW, samplePlan, sampleRun } from '../../../contract/samples.ts'

const SUCCEEDED: SagaOutcome = { kind: 'succeeded', steps: [] }
type Failure = 'rolled_back' | 'blocked'
const failed = (kind: Failure, fault: unknown): SagaOutcome => ({ kind, steps: [], rollback: [], fault })
const ended = (outcome: SagaOutcome, run = sampleRun(), plan = samplePlan()): Ended => ({
  ...{ plan, run, outcome, task: {}, afters: {}, members: [], recovered: false, at: NOW },
})
const told = (...given: Parameters<typeof ended>) => eventOf(ended(...given))

test('a run that succeeded is told as what it did', () => {
  expect(told(SUCCEEDED)).toMatchObject({
    ...{ at: NOW, type: 'exposure.applied', host: 'shop.lab.test', planId: samplePlan().planId },
    facts: { server: '25', port: 3000, tls: true, expiresAt: null, actor: '127.0.45.10' },
  })
  expect(told(SUCCEEDED, sampleRun({ action: 'remove' }))?.type).toBe('exposure.removed')
  expect(told(SUCCEEDED, sampleRun({ action: 'remove', actor: SERVICE_ACTOR }))?.type).toBe('exposure.expired')
  const brief = samplePlan({ request: { ...samplePlan().request, expiresIn: 300 } })
  expect(told(SUCCEEDED, sampleRun(), brief)?.facts.expiresAt).toBe(new Date(NOW + 300_000).toISOString())
})

test('a run that failed is told with its code, its reason and what the plan is now', () => {
  expect(told(failed('rolled_back', new StepFault('nginx did not serve the host.')))).toMatchObject({
    type: 'exposure.rolled_back',
    facts: { action: 'apply', state: 'rolled_back', code: 'apply_failed', reason: 'nginx did not serve the host.' },
  })
  const stale = failed('rolled_back', new Problem('plan_stale', 'The name is taken now.'))
  expect(told(stale, sampleRun({ action: 'remove' }))?.facts).toMatchObject({ state: 'applied', code: 'plan_stale' })
  const facts = { state: 'blocked', code: 'rollback_blocked' }
  expect(told(failed('blocked', new Error('a file has gone')))).toMatchObject({ type: 'exposure.blocked', facts })
})

test('the audit has names for an expiry, a resolve, an adopt and a release', () => {
  const action = (run: Run, more: Partial<Ended> = {}) => auditActionOf({ ...ended(SUCCEEDED, run), ...more })
  expect(action(sampleRun())).toBe('apply')
  expect(action(sampleRun({ action: 'remove' }))).toBe('remove')
  expect(action(sampleRun({ action: 'remove', actor: SERVICE_ACTOR }))).toBe('expire')
  expect(action(sampleRun({ action: 'remove', actor: CONSOLE_ACTOR }))).toBe('resolve')
  expect(action(sampleRun({ action: 'accept' }))).toBe('accept')
  expect(action(sampleRun({ action: 'accept' }), { task: { intact: true } })).toBe('release')
  const plan = samplePlan()
  const adopt = { site: `sha256:${'0'.repeat(64)}`, text: `sha256:${'0'.repeat(64)}` }
  expect(action(sampleRun(), { plan: { ...plan, request: { ...plan.request, adopt } } })).toBe('adopt')
})

test('the audit tells by what right a run went', () => {
  const outside = sampleRun({ actor: '203.0.113.9', network: 'public', right: 'admin_token' })
  expect(factsOf(ended(SUCCEEDED, outside))).toEqual({ right: 'admin_token' })
  expect(factsOf({ ...ended(SUCCEEDED, outside), recovered: true })).toEqual({ right: 'admin_token', recovered: true })
})
