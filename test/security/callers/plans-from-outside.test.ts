import { afterAll, beforeAll, expect, test } from 'vitest'
import { samplePlan } from '../../contract/samples.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** What the public may say in a plan, and what it sees of one whose id it knows. */
let site: Site
beforeAll(async () => {
  site = await startSite({ sockets: false })
})
afterAll(() => site?.stop())

const ALLOW = '10.9.0.0/16'
const LABELS = { owner: 'alice', note: 'Approved by operations.' }
const read = (planId: string, from: string) => site.api.call({ path: `/api/deploy/plans/${planId}`, from })

test.each(['replaces', 'owner', 'note'])('a plan with %s is refused from outside and stored nowhere', async (field) => {
  const { planId } = samplePlan()
  const before = stored(site.api)
  const { status, body } = await site.plan({ [field]: { ...LABELS, replaces: planId }[field] }, 'outside')
  expect([status, body.code, body.errors?.[0]?.field]).toEqual([403, 'internal_network_required', field])
  expect(stored(site.api)).toEqual(before)
})

test('whoever knows the id of a plan from inside sees neither access list, backend address, labels nor runs', async () => {
  const { body: made } = await site.plan({ options: { allow: [ALLOW] }, ...LABELS })
  const [inside, outside] = [await read(made.planId, 'inside'), await read(made.planId, 'outside')]
  for (const secret of [ALLOW, `${site.api.network}.25`, LABELS.owner, LABELS.note, 'createdBy', '"network"']) {
    expect(inside.text).toContain(secret)
    expect(outside.text).not.toContain(secret)
  }
  expect(outside.body.request).toEqual(site.request())
  expect(outside.body).toMatchObject({ planId: made.planId, state: 'planned', digest: made.digest })
  expect(Object.keys(outside.body)).not.toContain('runs')
})

test('plans tell callers inside who made them, and from which network', async () => {
  const { planId } = (await site.plan({ subdomain: 'theirs', options: { allow: [ALLOW] } }, 'outside')).body
  const { plans } = (await site.api.call({ path: '/api/deploy/plans' })).body
  const maker = { createdBy: '127.0.0.1', network: 'public' }
  expect(plans[0]).toMatchObject({ planId, ...maker })
  expect((await read(planId, 'inside')).body).toMatchObject(maker)
  expect(plans[1]).toMatchObject({ createdBy: `${site.api.network}.10`, network: 'internal' })
})

test('the owner mark that a plan would publish names an exposure and never a plan', async () => {
  const { changes } = (await site.plan({ subdomain: 'marked' })).body
  const mark = changes.find(({ type }: { type?: string }) => type === 'TXT')
  expect(mark.value).toMatch(/^drawbridge exposure_[0-9a-z]{26}$/)
})
