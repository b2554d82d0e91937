import { expect } from 'vitest'
import type { Answer } from '../http/call.ts'
import { invariants, planOf, removed, run, world } from './exposure.ts'
import type { Allowances } from './invariants.ts'
import type { TestLab } from './lab.ts'

/** Expects a failed run that names the failed step and every undo. */
export function expectFailure({ status, body }: Answer, expectedStatus: number, code: string, step: string): void {
  expect({ status, code: body.code }).toEqual({ status: expectedStatus, code })
  expect(body.steps.at(-1)).toMatchObject({ name: step, status: 'failed', detail: expect.any(String) })
  expect(body.steps.slice(0, -1).map((done: { status: string }) => done.status)).not.toContain('failed')
  expect(body.nextAction).not.toBe('')
}

/** Expects that after a failed apply everything is exactly as before, in the world and in the store. */
export async function expectPutBack(
  lab: TestLab,
  planId: string,
  before: readonly unknown[],
  allowances?: Allowances,
): Promise<void> {
  expect(await world(lab)).toEqual(before)
  expect((await planOf(lab, planId)).state).toBe('rolled_back')
  await invariants(lab, allowances)
}

/** Expects that the same plan can be applied with a new capability, and removed. */
export async function expectApplicable(lab: TestLab, planId: string): Promise<void> {
  const again = await run(lab, planId)
  expect({ status: again.status, state: again.body.state, detail: again.body.detail }).toEqual({
    status: 200,
    state: 'applied',
    detail: undefined,
  })
  await invariants(lab)
  await removed(lab, planId)
  await invariants(lab)
}
