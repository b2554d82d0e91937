import { afterEach, describe, expect, test } from 'vitest'
import type { Answer } from '../../support/http/call.ts'
import { guardedRuns } from '../../support/http/guarded-run.ts'
import { startService, type TestService } from '../../support/http/service.ts'
import { type Site, startSite } from '../../support/http/site.ts'

/** The budgets that the policy tells are the budgets that hold, each by address and on its own. */
let api: TestService | undefined
let site: Site | undefined

afterEach(async () => {
  await api?.stop()
  await site?.stop()
  api = undefined
  site = undefined
})

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

async function times(count: number, request: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let i = 0; i < count; i++) answers.push(await request())
  return answers
}

function expectLimited(answer: Answer | undefined): void {
  expect([answer?.status, answer?.body.code]).toEqual([429, 'rate_limited'])
  const seconds = Number(answer?.headers['retry-after'])
  expect(answer?.body.retryAfter).toBe(seconds)
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
  expect(answer?.body.retryable).toBe(true)
}

describe('the defaults', () => {
  test('30 plans of the public in a minute, and no more', async () => {
    const service = await startService({ sockets: false })
    api = service
    const plan = (from: string) => service.call({ path: '/api/deploy/plan', body: {}, from })
    const { body: policy } = await service.call({ path: '/api/policy' })
    expect(policy.rateLimits).toEqual({
      public: { plan: 30, diagnose: 30, read: 300, failedCredential: 10 },
      internal: { plan: 1200, diagnose: 1200, read: 1200, failedCredential: 1200 },
    })
    const answers = await times(31, () => plan('outside'))
    expect(statuses(answers.slice(0, 30))).toEqual(Array(30).fill(400))
    expectLimited(answers[30])
    expect((await plan('127.0.0.2')).status).toBe(400)
    expect((await plan('inside')).status).toBe(400)
    expect((await service.call({ path: '/api/policy', from: 'outside' })).status).toBe(200)
  })

  test('30 diagnoses of the public in a minute, and no more', async () => {
    const service = await startService({ sockets: false })
    api = service
    const diagnose = (from: string) => service.call({ path: '/api/diagnose?host=nobody.lab.test', from })
    const answers = await times(31, () => diagnose('outside'))
    expect(statuses(answers.slice(0, 30))).toEqual(Array(30).fill(404))
    expectLimited(answers[30])
    expect((await diagnose('127.0.0.2')).status).toBe(404)
    expect((await diagnose('inside')).status).toBe(404)
    expect((await service.call({ path: '/api/policy', from: 'outside' })).status).toBe(200)
  })

  test('300 reads of the public in a minute, and no more', async () => {
    const service = await startService({ sockets: false })
    api = service
    const read = (from = 'outside') => service.call({ path: '/api/policy', from })
    // A few at a time: a busy machine that answers "overloaded" would say nothing about the limit.
    const answers = []
    for (let i = 0; i < 31; i += 1) answers.push(...(await Promise.all(Array.from({ length: 10 }, () => read()))))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(300)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
    expectLimited(await read())
    expect((await read('inside')).status).toBe(200)
  })
})

describe('what is configured', () => {
  const settings = `rateLimits:
  public: { read: 5, plan: 3, failedCredential: 2 }
  internal: { read: 7, plan: 4, failedCredential: 3 }`

  test('holds for plans and reads, and is told in the policy', async () => {
    const service = await startService({ settings, sockets: false })
    api = service
    for (const [from, reads, plans] of [
      ['outside', 5, 3],
      ['inside', 7, 4],
    ] as const) {
      const answers = await times(reads + 1, () => service.call({ path: '/api/policy', from }))
      expect(answers[0]?.body.rateLimits.public).toMatchObject({ read: 5, plan: 3, failedCredential: 2 })
      expect(statuses(answers)).toEqual([...Array(reads).fill(200), 429])
      expectLimited(answers.at(-1))
      const refused = await times(plans + 1, () => service.call({ path: '/api/deploy/plan', body: {}, from }))
      expect(statuses(refused)).toEqual([...Array(plans).fill(400), 429])
    }
  })

  test('every address that exists costs a read; probes of the machine never do', async () => {
    const service = await startService({ settings, sockets: false })
    api = service
    const paths = ['/docs', '/api/openapi.json', '/api/deploy/plans/x', '/', '/api/policy']
    for (const path of paths) expect((await service.call({ path, from: 'outside' })).status).toBeLessThan(429)
    for (const path of paths) expectLimited(await service.call({ path, from: 'outside' }))
    const probes = await times(20, () => service.call({ path: '/livez', from: 'outside' }))
    expect(new Set(statuses(probes))).toEqual(new Set([200]))
  })

  test('a forged address does not buy a second budget', async () => {
    const service = await startService({ settings })
    api = service
    const read = (i: number) =>
      service.call({ path: '/api/policy', from: 'outside', headers: { 'x-forwarded-for': `198.51.100.${i}` } })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => read(i)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  })
})

describe('failed credentials', () => {
  test.each([
    ['inside', 3],
    ['outside', 2],
  ])('%s: past the budget nothing is looked at any more, not even the right one', async (from, budget) => {
    const right = 'the-right-token'
    const started = await startSite({
      sockets: false,
      mount: guardedRuns().mount,
      environment: { DRAWBRIDGE_ADMIN_TOKEN: right },
      settings: `flow: legacy\nrateLimits: { public: { failedCredential: 2 }, internal: { failedCredential: 3 } }`,
    })
    site = started
    const planId = await started.planId()
    const apply = (token: string, source = from) =>
      started.api.call({
        path: '/test/apply',
        body: { planId },
        from: source,
        headers: { 'x-deploy-token': token },
      })
    expect((await apply(right)).status).toBe(200)
    const failed = await times(budget, () => apply('wrong'))
    expect(failed.map(({ body }) => body.code)).toEqual(Array(budget).fill('admin_token_invalid'))
    expectLimited(await apply('wrong'))
    expectLimited(await apply(right))
    const besideAnEmptyOne = await started.api.call({
      path: '/api/internal/token',
      body: { planId },
      from,
      headers: { 'x-deploy-token': right, 'x-deploy-capability': '' },
    })
    expectLimited(besideAnEmptyOne)
    expect((await apply(right, '127.0.0.9')).status).toBe(200)
  })

  test('a capability shown wrongly counts, one that is right does not', async () => {
    const started = await startSite({
      sockets: false,
      mount: guardedRuns().mount,
      settings: 'rateLimits: { internal: { failedCredential: 3 } }',
    })
    site = started
    const planId = await started.planId()
    const use = async (path: string, capability: string) =>
      started.api.call({ path, body: { planId }, headers: { 'x-deploy-capability': capability } })
    for (let i = 0; i < 5; i++) expect((await use('/test/apply', await started.capability(planId))).status).toBe(200)
    const capability = await started.capability(planId)
    const wrong = await times(3, () => use('/test/remove', capability))
    expect(wrong.map(({ body }) => body.code)).toEqual(Array(3).fill('capability_invalid'))
    expectLimited(await use('/test/remove', capability))
    expectLimited(await use('/test/apply', capability))
    // What needs no credential goes on.
    expect((await started.token({ planId })).status).toBe(201)
    expect((await started.plan()).status).toBe(201)
  })
})
