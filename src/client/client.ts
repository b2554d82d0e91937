import createApi, { type Client } from 'openapi-fetch'
import { type Clock, systemClock } from '../primitives/clock.ts'
import type * as body from './bodies.ts'
import { type AllHosts, allAuditLines, allHosts, recentEvents } from './pages.ts'
import { refusalOf, Unreachable } from './refusal.ts'
import { type RepairOptions, type RunOptions, rightToApply, runPlan } from './run.ts'
import type { paths } from './schema.ts'
import { type StreamedEvent, type StreamOptions, stream } from './stream.ts'
import { type Waited, type WaitOptions, waitForHost } from './wait.ts'

export interface ClientOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Default: that of the machine. */
  readonly clock?: Clock
}

/** Every method resolves with the response body or rejects with a `Refusal` or `Unreachable`. */
export interface DrawbridgeClient {
  readonly baseUrl: string
  /** The clock by which it waits. */
  readonly clock: Clock
  /** Every route, typed, for routes that have no method here. */
  readonly api: Client<paths>
  policy(): Promise<body.Policy>
  plan(request: body.ExposureRequest): Promise<body.Plan>
  getPlan(planId: string): Promise<body.Plan>
  /** How an applied plan differs from files, zone and served certificate. */
  drift(planId: string): Promise<body.Drift>
  listPlans(query?: body.PlansQuery): Promise<body.PlanPage>
  /** Gets a capability and spends it at once. The capability is never part of an answer. A plan that adopts a site is applied as well. */
  applyPlan(planId: string, options?: RunOptions): Promise<body.Applied>
  removePlan(planId: string, options?: RunOptions): Promise<body.Removed>
  /** Writes again what an applied plan says. `overwrite`: also where somebody else changed it. */
  repairPlan(planId: string, options?: RunOptions & RepairOptions): Promise<body.Repaired>
  /** Leaves records and service as they are. Drawbridge no longer manages the host afterwards. */
  acceptPlan(planId: string, options?: RunOptions): Promise<body.Released>
  /** Plans to take a hand-written site under management. */
  planAdoption(request: body.AdoptionRequest): Promise<body.Plan>
  /** Applies such a plan, and no other one. */
  adoptPlan(planId: string, options?: RunOptions): Promise<body.Applied>
  /** Gives a host back as a file of its own. Refused if it differs from its plan. */
  releasePlan(planId: string, options?: RunOptions): Promise<body.Released>
  /** Resolves as soon as the run has started. The run continues on the service; `followPlan` reports its steps. */
  beginRun(planId: string, action: 'apply' | 'remove' | 'accept' | 'renew'): Promise<body.Accepted>
  beginRepair(planId: string, options?: RepairOptions): Promise<body.Accepted>
  extendPlan(planId: string, expiresIn: number): Promise<body.Extended>
  /** Renews the certificate of the plan's host now. Resolves when the edge serves the new certificate. */
  renewPlan(planId: string, options?: RunOptions): Promise<body.Renewed>
  /** The events of the plan's newest run, until the run ends. */
  followPlan(planId: string, options?: StreamOptions): AsyncGenerator<body.ProgressEvent, void>
  /** One page of at most 500 hosts. Pass `nextCursor` as `cursor` to get the next page. */
  hosts(query?: body.HostsQuery): Promise<body.Hosts>
  /** Reads all pages: every host that matches, or the first `limit` of them. Can also be iterated, host by host. */
  allHosts(query?: body.HostsQuery): AllHosts
  health(host: string): Promise<body.Health>
  /** Asks until the host has a badge, or until the time is over. A host that is not known yet may become known. */
  waitForHost(host: string, options?: WaitOptions): Promise<Waited>
  /** The host is checked as before, but its trouble causes no alert and no webhook. */
  mute(host: string, request?: body.MuteRequest): Promise<body.Muted>
  unmute(host: string): Promise<body.Muted>
  /** Checks every link from the DNS name to the backend now. */
  diagnose(host: string): Promise<body.Diagnosis>
  /** `badge` events carry the row of a changed host; `hosts` events say that the list of hosts changed. Never ends: reconnects. */
  hostEvents(options?: StreamOptions): AsyncGenerator<StreamedEvent, void>
  /** One page of at most 500 lines. Pass `nextAfter` as `after` to get the next page. */
  audit(query?: body.AuditQuery): Promise<body.AuditPage>
  /** Reads as many pages as `limit` lines need. */
  allAudit(query?: body.AuditQuery): Promise<body.AuditPage>
  /** Reads as many pages as `limit` events need: the newest events that match, oldest first, and the newest position of all. */
  recentEvents(query?: body.RecentEventsQuery): Promise<body.RecentEvents>
  /** All events. Never ends: after a lost connection it continues from the last event. */
  events(query?: body.EventsQuery, options?: StreamOptions): AsyncGenerator<body.DrawbridgeEvent, void>
}

const RESPOND_ASYNC = { prefer: 'respond-async' }

export function createClient(baseUrl: string, options: ClientOptions = {}): DrawbridgeClient {
  const { clock = systemClock } = options
  const fetchUsed = options.fetch ?? fetch
  const api = createApi<paths>({ baseUrl: baseUrl.replace(/\/+$/, ''), fetch: fetchUsed })
  const answered = <T>(call: Promise<Answer<T>>): Promise<T> => bodyOf(call, baseUrl)
  const source = { baseUrl, fetch: fetchUsed, clock }

  async function* followPlan(planId: string, options?: StreamOptions): AsyncGenerator<body.ProgressEvent, void> {
    const path = `/api/deploy/plans/${encodeURIComponent(planId)}/events`
    for await (const { id, event, data } of stream({ ...source, path, endless: false }, options))
      yield { ...(data as Omit<body.ProgressEvent, 'id' | 'name'>), id, name: event }
  }

  async function* events(query = {}, options?: StreamOptions): AsyncGenerator<body.DrawbridgeEvent, void> {
    const path = `/api/events?${new URLSearchParams(query)}`
    for await (const { data } of stream({ ...source, path, endless: true }, options)) yield data as body.DrawbridgeEvent
  }

  const hosts = (query: body.HostsQuery = {}) => answered(api.GET('/api/hosts', { params: { query } }))
  const health = (host: string) => answered(api.GET('/api/health', { params: { query: { host } } }))
  const audit = (query: body.AuditQuery = {}) => answered(api.GET('/api/audit', { params: { query } }))

  const recent = (query: body.RecentEventsQuery) => answered(api.GET('/api/events/recent', { params: { query } }))

  const runner = { api, answered, followPlan, clock }
  return {
    baseUrl,
    clock,
    api,
    policy: () => answered(api.GET('/api/policy')),
    plan: (request) => answered(api.POST('/api/deploy/plan', { body: request })),
    getPlan: (planId) => answered(api.GET('/api/deploy/plans/{planId}', { params: { path: { planId } } })),
    drift: (planId) => answered(api.GET('/api/deploy/plans/{planId}/drift', { params: { path: { planId } } })),
    listPlans: (query = {}) => answered(api.GET('/api/deploy/plans', { params: { query } })),
    applyPlan: (planId, options) =>
      runPlan(runner, planId, rightToApply, options, (headers) =>
        answered(api.POST('/api/deploy/apply', { body: { planId }, headers })),
      ) as Promise<body.Applied>,
    removePlan: (planId, options) =>
      runPlan(runner, planId, 'remove', options, (headers) =>
        answered(api.POST('/api/deploy/remove', { body: { planId }, headers })),
      ) as Promise<body.Removed>,
    repairPlan: (planId, { overwrite = false, ...options } = {}) =>
      runPlan(runner, planId, 'repair', options, (headers) =>
        answered(api.POST('/api/deploy/repair', { body: { planId, overwrite }, headers })),
      ) as Promise<body.Repaired>,
    acceptPlan: (planId, options) =>
      runPlan(runner, planId, 'accept', options, (headers) =>
        answered(api.POST('/api/deploy/accept', { body: { planId }, headers })),
      ) as Promise<body.Released>,
    planAdoption: (request) => answered(api.POST('/api/deploy/plan/adopt', { body: request })),
    adoptPlan: (planId, options) =>
      runPlan(runner, planId, 'adopt', options, (headers) =>
        answered(api.POST('/api/deploy/apply', { body: { planId }, headers })),
      ) as Promise<body.Applied>,
    releasePlan: (planId, options) =>
      runPlan(runner, planId, 'release', options, (headers) =>
        answered(api.POST('/api/deploy/release', { body: { planId }, headers })),
      ) as Promise<body.Released>,
    beginRun: (planId, action) =>
      runPlan<unknown>(runner, planId, action === 'apply' ? rightToApply : action, {}, (headers) =>
        answered(api.POST(`/api/deploy/${action}`, { body: { planId }, headers: { ...headers, ...RESPOND_ASYNC } })),
      ) as Promise<body.Accepted>,
    beginRepair: (planId, { overwrite = false } = {}) =>
      runPlan(runner, planId, 'repair', {}, (headers) =>
        answered(
          api.POST('/api/deploy/repair', { body: { planId, overwrite }, headers: { ...headers, ...RESPOND_ASYNC } }),
        ),
      ) as Promise<body.Accepted>,
    extendPlan: (planId, expiresIn) =>
      runPlan(runner, planId, 'apply', {}, (headers) =>
        answered(api.POST('/api/deploy/extend', { body: { planId, expiresIn }, headers })),
      ),
    renewPlan: (planId, options) =>
      runPlan(runner, planId, 'renew', options, (headers) =>
        answered(api.POST('/api/deploy/renew', { body: { planId }, headers })),
      ) as Promise<body.Renewed>,
    followPlan,
    hosts,
    allHosts: (query = {}) => allHosts(hosts, query),
    health,
    waitForHost: (host, options) => waitForHost({ health, clock }, host, options),
    mute: (host, request = {}) =>
      answered(api.POST('/api/hosts/{host}/mute', { params: { path: { host } }, body: request })),
    unmute: (host) => answered(api.POST('/api/hosts/{host}/unmute', { params: { path: { host } }, body: {} })),
    diagnose: (host) => answered(api.GET('/api/diagnose', { params: { query: { host } } })),
    hostEvents: (options) => stream({ ...source, path: '/api/hosts/events', endless: true }, options),
    audit,
    allAudit: (query = {}) => allAuditLines(audit, query),
    recentEvents: (query = {}) => recentEvents(recent, query),
    events,
  }
}

interface Answer<T> {
  readonly data?: T | undefined
  readonly error?: unknown
}

async function bodyOf<T>(call: Promise<Answer<T>>, baseUrl: string): Promise<T> {
  const { data, error } = await call.catch((cause: unknown) => {
    throw new Unreachable(baseUrl, cause)
  })
  if (data === undefined) throw refusalOf(error, baseUrl)
  return data
}
