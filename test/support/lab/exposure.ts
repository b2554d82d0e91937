import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { zoneRecords } from '../dns/zone-transfer.ts'
import { listing } from '../edge/edge-folder.ts'
import type { Answer } from '../http/call.ts'
import type { TestLab } from './lab.ts'

export { invariants } from './invariants.ts'

type Action = 'apply' | 'remove' | 'renew'

/** A plan that a whole lab can carry out, with whatever a test changes about it: without TLS, on the healthy sample backend. */
export const planned = async (lab: TestLab, overrides: Record<string, unknown> = {}): Promise<Answer['body']> =>
  expected(await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, overrides) }), 201)

export const planRequest = ({ description }: TestLab, overrides: Record<string, unknown> = {}) => ({
  zone: description.zone,
  subdomain: 'hello',
  server: '25',
  port: 3000,
  health: '/healthz',
  tls: false,
  ...overrides,
})

/** A new capability, issued to the caller inside. */
export async function granted(lab: TestLab, planId: string, action: Action = 'apply'): Promise<string> {
  return expected(await lab.call({ path: '/api/internal/token', body: { planId, action } }), 201).capability
}

/** Runs a plan with a new capability; whatever is answered. */
export async function run(
  lab: TestLab,
  planId: string,
  action: Action = 'apply',
  headers: Record<string, string> = {},
): Promise<Answer> {
  const capability = await granted(lab, planId, action)
  return runWith(lab, capability, planId, action, headers)
}

export const runWith = (
  lab: TestLab,
  capability: string,
  planId: string,
  action: Action = 'apply',
  headers: Record<string, string> = {},
): Promise<Answer> =>
  lab.call({
    path: `/api/deploy/${action}`,
    body: { planId },
    headers: { 'x-deploy-capability': capability, ...headers },
  })

/** Plans and applies; the body of the apply's answer. */
export async function applied(lab: TestLab, overrides: Record<string, unknown> = {}): Promise<Answer['body']> {
  const { planId } = await planned(lab, overrides)
  return expected(await run(lab, planId), 200)
}

/** The body of the removal's answer. */
export const removed = async (lab: TestLab, planId: string): Promise<Answer['body']> =>
  expected(await run(lab, planId, 'remove'), 200)

/** A plan as the service tells of it now. */
export const planOf = async (lab: TestLab, planId: string): Promise<Answer['body']> =>
  expected(await lab.call({ path: `/api/deploy/plans/${planId}` }), 200)

/** The body; another status than this is an Error that shows what came instead. */
export function expected(answer: Answer, status: number): Answer['body'] {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`)
  return answer.body
}

/** Everything that a run may change and a put-back restores, to the byte: the zone and both edges' configuration. */
export async function world(lab: TestLab): Promise<readonly unknown[]> {
  const { primary, secondary } = lab.description.edges
  const files = [primary, secondary].flatMap(({ config, hosts }) => [
    readFileSync(config, 'utf8'),
    ...listing(dirname(hosts)),
  ])
  return [...(await zoneRecords(lab)), ...files]
}
