import { readFileSync } from 'node:fs'
import { zoneRecords } from '../dns/zone-transfer.ts'
import { configurationListing } from '../edge/edge-folder.ts'
import { type Answer, expected } from '../http/call.ts'
import { invariants } from './invariants.ts'
import type { TestLab } from './lab.ts'

export { expected, invariants }

/** A service that tests call: a lab, or an instance of the network as one machine reaches it. */
export interface CalledService extends Pick<TestLab, 'call'> {
  readonly description: { readonly zone: string }
}

type Action = 'apply' | 'remove' | 'renew' | 'repair' | 'accept' | 'adopt' | 'release'

/** Makes a plan without TLS for the healthy sample backend, with the changes of a test. */
export const planned = async (lab: CalledService, overrides: Record<string, unknown> = {}): Promise<Answer['body']> =>
  expected(await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, overrides) }), 201)

export const planRequest = ({ description }: CalledService, overrides: Record<string, unknown> = {}) => ({
  zone: description.zone,
  subdomain: 'hello',
  server: '25',
  port: 3000,
  health: '/healthz',
  tls: false,
  ...overrides,
})

/** A new capability for the internal caller. */
export async function granted(lab: CalledService, planId: string, action: Action = 'apply'): Promise<string> {
  return expected(await lab.call({ path: '/api/internal/token', body: { planId, action } }), 201).capability
}

/** Runs a plan with a new capability and returns any answer. */
export async function run(
  lab: CalledService,
  planId: string,
  action: Action = 'apply',
  headers: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Promise<Answer> {
  const capability = await granted(lab, planId, action)
  return runWith(lab, capability, planId, action, headers, more)
}

export const runWith = (
  lab: CalledService,
  capability: string,
  planId: string,
  action: Action = 'apply',
  headers: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Promise<Answer> =>
  lab.call({
    path: `/api/deploy/${action}`,
    body: { planId, ...more },
    headers: { 'x-deploy-capability': capability, ...headers },
  })

/** Makes and applies a plan. Returns the body of the apply. */
export async function applied(lab: CalledService, overrides: Record<string, unknown> = {}): Promise<Answer['body']> {
  const { planId } = await planned(lab, overrides)
  return expected(await run(lab, planId), 200)
}

/** Removes the exposure of a plan. Returns the body of the removal. */
export const removed = async (lab: CalledService, planId: string): Promise<Answer['body']> =>
  expected(await run(lab, planId, 'remove'), 200)

/** The current plan, as the API returns it. */
export const planOf = async (lab: CalledService, planId: string): Promise<Answer['body']> =>
  expected(await lab.call({ path: `/api/deploy/plans/${planId}` }), 200)

/** Everything that a run changes and its undo restores exactly: the zone and the configuration of both edges. */
export async function world(lab: TestLab): Promise<readonly unknown[]> {
  const { primary, secondary } = lab.description.edges
  const files = [primary, secondary].flatMap(({ config, folder }) => [
    readFileSync(config, 'utf8'),
    ...configurationListing(folder),
  ])
  return [...(await zoneRecords(lab)), ...files]
}
