import { expect, test } from 'vitest'
import type { Change } from '../../../src/model/exposure.ts'
import {
  RUN_ACTIONS,
  STEPS_OF,
  STEPS_TO_ACCEPT,
  STEPS_TO_CONVERGE,
  STEPS_TO_REMOVE,
  STEPS_TO_RENEW,
} from '../../../src/model/run.ts'
import { stepsToApply, stepsToRepair, stepsToUpdate } from '../../../src/plan/steps.ts'

const issue: Change = { kind: 'certificate', action: 'issue', names: ['hello.lab.test'], directory: 'https://ca.test' }
const reuse: Change = { kind: 'certificate', action: 'reuse', names: ['*.lab.test'] }

test.each([
  ['without TLS', false, [], 'dns-01', 'check backup proxy dns verify'],
  ['without TLS, with http-01', false, [], 'http-01', 'check backup proxy dns verify'],
  ['an order with dns-01', true, [issue], 'dns-01', 'check backup certificate proxy dns verify'],
  ['an order with http-01', true, [issue], 'http-01', 'check backup proxy dns certificate proxy-tls verify'],
  ['an installed certificate', true, [reuse], 'dns-01', 'check backup certificate proxy dns verify'],
  ['an installed certificate, with http-01', true, [reuse], 'http-01', 'check backup certificate proxy dns verify'],
] as const)('the steps of an apply, in order: %s', (_name, tls, changes, challenge, steps) =>
  expect(stepsToApply(tls, changes, challenge).join(' ')).toBe(steps),
)

test('an update leaves DNS alone', () => {
  expect(stepsToUpdate(true)).toEqual(['check', 'backup', 'certificate', 'proxy', 'verify'])
  expect(stepsToUpdate(false)).toEqual(['check', 'backup', 'proxy', 'verify'])
})

test('a repair has the steps of an apply without its checks, and orders only what is gone', () => {
  expect(stepsToRepair(false, false, 'dns-01').join(' ')).toBe('backup proxy dns verify')
  expect(stepsToRepair(true, false, 'http-01').join(' ')).toBe('backup certificate proxy dns verify')
  expect(stepsToRepair(true, true, 'http-01').join(' ')).toBe('backup proxy dns certificate proxy-tls verify')
})

test('a removal removes the name before the entry', () => expect(STEPS_TO_REMOVE).toEqual(['backup', 'dns', 'proxy']))

test('each action has exactly the steps that its plans can name', () => {
  const named = {
    apply: [...stepsToApply(true, [issue], 'http-01'), ...stepsToApply(true, [issue], 'dns-01')],
    update: stepsToUpdate(true),
    remove: STEPS_TO_REMOVE,
    repair: [...stepsToRepair(true, true, 'http-01'), ...stepsToRepair(false, false, 'dns-01')],
    accept: STEPS_TO_ACCEPT,
    STEPS_TO_CONVERGE,
    renew: STEPS_TO_RENEW,
    converge: STEPS_TO_CONVERGE,
  }
  for (const action of RUN_ACTIONS) expect([...new Set(named[action])].sort()).toEqual([...STEPS_OF[action]].sort())
})
