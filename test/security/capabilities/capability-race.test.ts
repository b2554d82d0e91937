import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../support/http/call.ts'
import { type GuardedRuns, guardedRuns } from '../../support/http/guarded-run.ts'
import { startService, type TestService } from '../../support/http/service.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** Of any number of uses of one capability at the same time exactly one gets through, whichever instance is asked. */
const USES = 200
const folder = tempFolder()
let runs: GuardedRuns
let site: Site
let other: TestService

beforeAll(async () => {
  runs = guardedRuns()
  site = await startSite({ folder: folder.path, mount: runs.mount })
  const { network } = site.api
  other = await startService({
    folder: folder.path,
    network,
    dns: site.dns,
    mount: runs.mount,
    settings: `listen: { address: ${network}.24, port: 8045 }`,
  })
})

afterAll(async () => {
  await other.stop()
  await site.stop()
  folder[Symbol.dispose]()
})

async function race(instances: readonly TestService[], action: 'apply' | 'remove'): Promise<Answer[]> {
  const planId = await site.planId()
  const headers = { 'x-deploy-capability': await site.capability(planId, action) }
  return Promise.all(
    Array.from({ length: USES }, (_, i) =>
      (instances[i % instances.length] ?? site.api).call({ path: `/test/${action}`, body: { planId }, headers }),
    ),
  )
}

describe.each(['apply', 'remove'] as const)(`${USES} uses at once to %s`, (action) => {
  test.each([
    ['one instance', () => [site.api]],
    ['two instances on one store', () => [site.api, other]],
  ])('on %s: exactly one', async (_name, instances) => {
    const before = runs.count()
    const answers = await race(instances(), action)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(USES - 1).fill([403, 'capability_used']),
    )
    expect(runs.count() - before).toBe(1)
  })
})

test('two capabilities of one plan are two uses', async () => {
  const planId = await site.planId()
  for (const api of [site.api, other]) {
    const headers = { 'x-deploy-capability': await site.capability(planId) }
    expect((await api.call({ path: '/test/apply', body: { planId }, headers })).status).toBe(200)
  }
})
