import { createServer, type Server } from 'node:http'
import { test } from 'vitest'
import { applied, removed } from '../support/lab/exposure.ts'
import type { PageSite } from '../support/programs/browser.ts'
import { picture } from './pictures.ts'
import { badgeOf, makePlan, SEEN_WITHIN } from './steps.ts'

const SHOWN = [
  { subdomain: 'api', server: '25', port: 3101, becomes: 'HTTP 502' },
  { subdomain: 'billing', server: '25', port: 3102, becomes: 'HTTP 503' },
  { subdomain: 'wiki', server: '253', port: 3103, becomes: 'HTTP 404' },
  { subdomain: 'chat', server: '25', port: 3104, becomes: 'RUNNING' },
  { subdomain: 'files', server: '253', port: 3105, becomes: 'RUNNING' },
  { subdomain: 'grafana', server: '253', port: 3106, becomes: 'RUNNING' },
  { subdomain: 'mail-preview', server: '25', port: 3107, becomes: 'RUNNING' },
  { subdomain: 'shop', server: '25', port: 3108, becomes: 'RUNNING' },
]

/** Makes the pictures of the documents on request: `PICTURES=1 npx vitest run test/browser`. */
export function gallery(site: () => PageSite): void {
  test.runIf(process.env.PICTURES)('a plan as the documents show it', async () => {
    const page = await site().open('/plan', 'inside', { viewport: { width: 1280, height: 1130 } })
    await makePlan(page, { subdomain: 'hello', port: 3000 })
    await page.evaluate(() => window.scrollTo(0, 0))
    await picture(page, 'plan')
  })

  test.runIf(process.env.PICTURES)('status and diagnosis as the documents show them', async () => {
    const { lab, open } = site()
    const status = new Map<string, number>()
    const backends = new Map<string, Server>()
    const network = lab.description.callers.internal.replace(/\.10$/, '')
    const plans: string[] = []
    for (const { subdomain, server, port } of SHOWN) {
      const answer = () => status.get(subdomain) ?? 200
      backends.set(
        subdomain,
        createServer((_request, response) =>
          setTimeout(() => response.writeHead(answer()).end(), 5 + Math.random() * 30),
        ).listen(port, `${network}.${server}`),
      )
      plans.push((await applied(lab, { subdomain, server, port, tls: subdomain !== 'wiki' })).planId)
    }
    const page = await open('/', 'inside', { viewport: { width: 1280, height: 720 } })
    await badgeOf(page, 'shop.lab.test', 'RUNNING').waitFor(SEEN_WITHIN)
    backends.get('api')?.close().closeAllConnections()
    status.set('billing', 503).set('wiki', 404)
    for (const { subdomain, becomes } of SHOWN) {
      await badgeOf(page, `${subdomain}.lab.test`, becomes).waitFor(SEEN_WITHIN)
    }
    await page.waitForTimeout(25_000)
    await picture(page, 'status')
    await badgeOf(page, 'api.lab.test', 'HTTP 502').click()
    await page.getByText(/^Nothing listens on/).waitFor()
    await page.setViewportSize({ width: 1280, height: 1240 })
    await picture(page, 'diagnosis')
    for (const planId of plans) await removed(lab, planId)
    for (const backend of backends.values()) backend.close().closeAllConnections()
  })
}
