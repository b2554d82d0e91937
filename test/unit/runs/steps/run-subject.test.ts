import { expect, test } from 'vitest'
import type { Run, RunAction, RunGuard, RunTask } from '../../../../src/model/run.ts'
import type { StepParts } from '../../../../src/runs/steps/context.ts'
import { stepsFor } from '../../../../src/runs/steps/steps.ts'
import { subjectOf } from '../../../../src/runs/steps/subject.ts'
import { samplePlan } from '../../../contract/samples.ts'
import { FakeEdge } from '../../../support/edge/fake-edge.ts'

const plan = samplePlan()
const GUARD = { fences: [], signal: new AbortController().signal } as unknown as RunGuard

/** An installation whose zone has no DNS key any more. */
const parts = {
  primary: new FakeEdge('23').edge,
  secondary: new FakeEdge('73').edge,
  providerFor: () => undefined,
  challenge: 'http-01',
  certificateNames: (_zone: string, host: string) => [host],
  store: {
    findExposure: async () => ({ host: plan.host, planId: plan.planId, receipt: { records: [] } }),
    findPlan: async () => plan,
    exposuresOf: async () => [{ host: 'first.lab.test', planId: 'plan_1', receipt: { records: [] } }],
  },
} as unknown as StepParts

const carried = (action: RunAction, task: RunTask = {}) => {
  const run = { runId: 'run_1', planId: plan.planId, host: plan.host, action } as Run
  return { plan, run, leases: [], task }
}

test.each<[RunAction, string]>([
  ...(['apply', 'update', 'remove', 'repair', 'accept'] as const).map((action): [RunAction, string] => [
    action,
    'host',
  ]),
  ['renew', 'certificate'],
  ['converge', 'edge'],
])('the subject of %s is a %s', async (action, kind) => {
  const subject = await subjectOf(parts, carried(action))
  expect([subject.kind, 'plan' in subject]).toEqual([kind, kind === 'host'])
})

test('a run of a host needs the DNS key of its zone', () =>
  expect(stepsFor(parts, carried('apply'), GUARD)).rejects.toMatchObject({ code: 'unavailable' }))

test('a converge needs no DNS key', async () => {
  const steps = await stepsFor(parts, carried('converge', { edge: '73' }), GUARD)
  expect(steps.map(({ name }) => name)).toEqual(['proxy'])
})

test('a renewal whose challenge is answered by the edge needs no DNS key', async () => {
  const steps = await stepsFor(parts, carried('renew'), GUARD)
  expect(steps.map(({ name }) => name)).toEqual(['backup', 'certificate', 'proxy', 'verify'])
})
