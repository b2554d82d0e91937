import { expect } from 'vitest'
import type { Answer } from '../http/call.ts'
import { invariants, planOf, removed, run, world } from './exposure.ts'
import type { Allowances } from './invariants.ts'
import type { TestLab } from './lab.ts'

/** A run that failed in a step tells which, and every undo. */
export function expectFailure({ status, body }: Answer, expectedStatus: number, code: string, step: string): void {
  expect({ status, code: body.code }).toEqual({ status: expectedStatus, code })
  expect(body.steps.at(-1)).toMatchObject({ name: step, status: 'failed', detail: expect.any(String) })
  expect(body.steps.slice(0, -1).map((done: { status: string }) => done.status)).not.toContain('failed')
  expect(body.nextAction).not.toBe('')
}

/** After a failed apply the world is what it was, to the byte, and the books say so. */
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

/** Once the reason is gone, the same plan is applied with a new capability, and removed. */
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
