import { afterAll, beforeAll, expect, test } from 'vitest'
import { applied, planned, removed, run, world } from '../support/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/put-back.ts'
import { startWebBackend } from '../support/web-backend.ts'

let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab()
})
afterAll(() => lab?.stop())

test('a backend that died since the plan was made: nothing is begun', async () => {
  const before = await world(lab)
  const backend = await startWebBackend(lab, (_request, response) => response.end('through'))
  const { planId } = await planned(lab, { subdomain: 'dead', port: backend.port })
  await backend[Symbol.asyncDispose]()
  const answer = await run(lab, planId)
  expectFailure(answer, 422, 'backend_unhealthy', 'check')
  expect(answer.body.checks).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'health', status: 'failed' })]),
  )
  await expectPutBack(lab, planId, before)
})

test.each([false, true])(
  'a backend that is healthy only when asked directly (tls: %s): everything is put back',
  async (tls) => {
    const before = await world(lab)
    let isSick = true
    await using backend = await startWebBackend(lab, (_request, response) =>
      response.writeHead(isSick ? 500 : 200).end('through'),
    )
    const { planId } = await planned(lab, { subdomain: 'sick', port: backend.port, tls })
    const answer = await run(lab, planId)
    expectFailure(answer, 502, 'apply_failed', 'verify')
    expect(answer.body.detail).toContain('HTTP 500')
    expect(answer.body.rollback.map(({ name, status }: Record<string, string>) => `${name} ${status}`)).toEqual(
      ['verify', 'dns', 'proxy', ...(tls ? ['certificate'] : []), 'backup', 'check'].map((name) => `${name} undone`),
    )
    expect(backend.throughEdge()).toBeGreaterThan(0)
    await expectPutBack(lab, planId, before)
    isSick = false
    await expectApplicable(lab, planId)
    expect(await world(lab)).toEqual(before)
  },
)

test('a backend that never answers through the edge is given up, and neighbours stay', async () => {
  const neighbour = await applied(lab, { subdomain: 'neighbour' })
  const before = await world(lab)
  await using backend = await startWebBackend(lab, () => undefined)
  const { planId } = await planned(lab, { subdomain: 'silent', port: backend.port })
  expectFailure(await run(lab, planId), 502, 'apply_failed', 'verify')
  await expectPutBack(lab, planId, before)
  await removed(lab, neighbour.planId)
})
