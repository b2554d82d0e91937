import type { ExposureOptions, ExposureRequest, Plan } from './bodies.ts'
import type { DrawbridgeClient } from './client.ts'

/** A minute for the plan and its apply: a change may not end an exposure sooner. */
const MARGIN_SECONDS = 60
const SHORTEST = 300

/** Makes a plan that puts an applied exposure into maintenance, or takes it out (`false`). Everything else stays as it is. */
export async function planMaintenance(
  api: DrawbridgeClient,
  planId: string,
  wanted: NonNullable<ExposureOptions['maintenance']> | false,
): Promise<Plan> {
  const { request } = await api.getPlan(planId)
  const { maintenance: _, ...kept } = request.options ?? {}
  const options = wanted ? { ...kept, maintenance: wanted } : kept
  return api.plan({ ...(await renewed(api, request, planId)), options })
}

/** The request of the exposure once more, with the end that it has now. A site that was adopted is an exposure by now. */
async function renewed(api: DrawbridgeClient, request: Plan['request'], replaces: string): Promise<ExposureRequest> {
  const { expiresIn: _end, adopt: _site, ...kept } = request
  const { expiresAt } = await api.health(`${request.subdomain}.${request.zone}`)
  if (expiresAt === null || expiresAt === undefined) return { ...kept, replaces }
  const left = Math.ceil((Date.parse(expiresAt) - api.clock.now()) / 1000) + MARGIN_SECONDS
  return { ...kept, replaces, expiresIn: Math.max(SHORTEST, left) }
}
