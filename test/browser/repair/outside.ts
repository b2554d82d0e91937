import { expect } from 'vitest'
import { expectAccessible } from '../site/accessible.ts'
import { test } from '../site/page-test.ts'
import { goTo, makePlan } from '../site/steps.ts'

/** What a public caller sees, and what the service refuses. */
export function outside(): void {
  test('a public caller can plan and read, and neither sees nor may call what changes anything', async ({
    lab,
    open,
  }) => {
    const page = await open('/plan', 'outside')
    const planId = await makePlan(page, { subdomain: 'wish', port: 3000 })
    const acting = page.getByRole('button', { name: /apply|remove/i })
    await page.getByRole('region', { name: 'For someone inside' }).waitFor()
    await expectAccessible(page)
    expect(await acting.count()).toBe(0)
    await page.goto(`${lab.description.outside}/plans/${planId}`)
    await page.getByRole('region', { name: 'What changes' }).waitFor()
    expect(await acting.count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Plans', exact: true }).count()).toBe(0)
    expect(await page.getByText('asked by').count()).toBe(0)
    await goTo(page, '/plans')
    await page.getByText('The list of plans is for the internal network').waitFor()

    // The service refuses the calls that the page does not offer.
    const forged = await page.evaluate(async (id) => {
      const headers = { 'content-type': 'application/json', 'x-deploy-capability': 'cap_forged' }
      const body = JSON.stringify({ planId: id })
      const paths = ['/api/internal/token', '/api/deploy/apply', '/api/deploy/remove']
      const answers = paths.map((path) => fetch(path, { method: 'POST', headers, body }))
      return Promise.all((await Promise.all(answers)).map(async (answer) => (await answer.json()).code))
    }, planId)
    expect(forged).toEqual(Array(3).fill('internal_network_required'))
    expect((await lab.call({ path: `/api/deploy/plans/${planId}` })).body.state).toBe('planned')
  })
}
