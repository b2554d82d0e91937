import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { statePaths } from '../../../../lab/state.ts'
import { verifyAudit } from '../../../../src/operate/verify/audit.ts'
import { applied, expected, granted, planned, planOf, planRequest, removed } from '../../../support/lab/exposure.ts'
import { housekeeping } from '../../../support/lab/housekeeping.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { withStore } from '../../../support/lab/lab-store.ts'

/** The audit tells of every run from which network it was asked for and by what right it ran. The service ends in the legacy flow. */
export function rights(lab: () => TestLab): void {
  let token: string
  beforeAll(() => {
    token = readFileSync(statePaths(lab().state).adminToken, 'utf8').trim()
  })

  const post = (path: string, body: unknown, from: string, headers: Record<string, string> = {}) =>
    lab().call({ path, body, from, headers })

  /** What the audit holds of a plan beside the plan itself, without who and when. */
  const linesOf = (planId: string) =>
    withStore(lab(), async (store) =>
      (await store.readAudit(0, 10_000))
        .filter((line) => line.planId === planId && line.action !== 'plan')
        .map(({ action, outcome, network, facts = {} }) =>
          [action, outcome, network, facts.right].filter(Boolean).join(' '),
        ),
    )

  test('a run by the administrator token is told from one by a capability', async () => {
    const { planId } = await planned(lab(), { subdomain: 'glass', expiresIn: 300 })
    expected(await post('/api/deploy/apply', { planId }, 'internal', { 'x-deploy-token': token }), 200)
    const capability = { 'x-deploy-capability': await granted(lab(), planId) }
    expected(await post('/api/deploy/extend', { planId, expiresIn: 600 }, 'internal', capability), 200)
    await removed(lab(), planId)
    expect(await linesOf(planId)).toEqual([
      'apply ok internal admin_token',
      'token ok internal network',
      'extend ok internal capability',
      'token ok internal network',
      'remove ok internal capability',
    ])
  })

  test('an exposure that ends by itself is told as such', async () => {
    const { planId, host } = await applied(lab(), { subdomain: 'brief', expiresIn: 300 })
    await withStore(lab(), (store) => store.setExposureExpiry(host, planId, Date.now()))
    await housekeeping(lab(), 'expire')
    expect((await planOf(lab(), planId)).state).toBe('removed')
    expect((await linesOf(planId)).at(-1)).toBe('expire ok self schedule')
  })

  test('in the legacy flow nobody inside shortens a life, without any credential', async () => {
    await lab().restartService((config) => ({ ...config, adminToken: 'internal', flow: 'legacy' }))
    const { planId } = await planned(lab(), { subdomain: 'trusted' })
    expected(await post('/api/deploy/apply', { planId }, 'internal'), 200)
    const { status, body } = await post('/api/deploy/extend', { planId, expiresIn: 300 }, 'internal')
    expect([status, body.code]).toEqual([409, 'lease_not_longer'])
    expect((await lab().call({ path: '/api/health?host=trusted.lab.test' })).body.expiresAt).toBeNull()
    await removed(lab(), planId)
  })

  test('in the legacy flow a run from outside is told as public, and one from inside without a credential as that', async () => {
    const admin = { 'x-deploy-token': token }
    const outside = expected(
      await post('/api/deploy/plan', planRequest(lab(), { subdomain: 'outside' }), 'public'),
      201,
    ).planId
    expected(await post('/api/deploy/apply', { planId: outside }, 'public', admin), 200)
    const { capability } = expected(
      await post('/api/internal/token', { planId: outside, action: 'remove' }, 'public', admin),
      201,
    )
    const both = { ...admin, 'x-deploy-capability': capability }
    expected(await post('/api/deploy/remove', { planId: outside }, 'public', both), 200)
    expect(await linesOf(outside)).toEqual([
      'apply ok public admin_token',
      'token ok public admin_token',
      'remove ok public capability_and_admin_token',
    ])
    const { planId: inside } = await planned(lab(), { subdomain: 'inside' })
    expected(await post('/api/deploy/apply', { planId: inside }, 'internal'), 200)
    expect(await linesOf(inside)).toEqual(['apply ok internal network'])
    expect(await withStore(lab(), verifyAudit)).toMatchObject({ ok: true })
  })
}
