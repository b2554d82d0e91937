import createApi, { type Client } from 'openapi-fetch'
import type * as body from './bodies.ts'
import { allAuditLines, allHosts } from './pages.ts'
import { refusalOf, Unreachable } from './refusal.ts'
import { type RunOptions, runPlan } from './run.ts'
import type { paths } from './schema.ts'
import { type StreamedEvent, type StreamOptions, stream } from './stream.ts'

export interface ClientOptions {
  /** In place of the platform's own. */
  readonly fetch?: typeof fetch
}

/** Every method resolves with the answer's body or rejects with a `Refusal` or `Unreachable`. */
export interface DrawbridgeClient {
  readonly baseUrl: string
  /** Every route, typed, for what has no method of its own here. */
  readonly api: Client<paths>
  policy(): Promise<body.Policy>
  plan(request: body.ExposureRequest): Promise<body.Plan>
  getPlan(planId: string): Promise<body.Plan>
  listPlans(query?: body.PlansQuery): Promise<body.PlanPage>
  /** Gets the right to apply and uses it at once; nobody else ever sees it. */
  applyPlan(planId: string, options?: RunOptions): Promise<body.Applied>
  removePlan(planId: string, options?: RunOptions): Promise<body.Removed>
  /** The same, resolved as soon as the run has begun: it goes on by itself and can be followed. */
  beginRun(planId: string, action: 'apply' | 'remove'): Promise<body.Accepted>
  extendPlan(planId: string, expiresIn: number): Promise<body.Extended>
  /** Renews the certificate of the plan's host now; resolves when it is served. */
  renewPlan(planId: string): Promise<body.Renewed>
  /** The steps of a plan's newest run, until it has ended. */
  followPlan(planId: string, options?: StreamOptions): AsyncGenerator<body.ProgressEvent, void>
  /** One page: at most 500 hosts, `nextCursor` says where the next begins. */
  hosts(query?: body.HostsQuery): Promise<body.Hosts>
  /** As many pages as it takes: every host that fits, or `limit` of them. */
  allHosts(query?: body.HostsQuery): Promise<body.Hosts>
  health(host: string): Promise<body.Health>
  /** Looks now, link by link. */
  diagnose(host: string): Promise<body.Diagnosis>
  /** Badges as they change (`badge`, with the host's row) and that the hosts are others now (`hosts`), for ever. */
  hostEvents(options?: StreamOptions): AsyncGenerator<StreamedEvent, void>
  /** One page: at most 500 lines, `nextAfter` says where the next begins. */
  audit(query?: body.AuditQuery): Promise<body.AuditPage>
  /** As many pages as it takes for `limit` lines. */
  allAudit(query?: body.AuditQuery): Promise<body.AuditPage>
  /** Everything that happens, for ever: a lost connection is taken up again where it was. */
  events(query?: body.EventsQuery, options?: StreamOptions): AsyncGenerator<body.DrawbridgeEvent, void>
}

const UNATTENDED = { prefer: 'respond-async' }

export function createClient(baseUrl: string, options: ClientOptions = {}): DrawbridgeClient {
  const ask = options.fetch ?? fetch
  const api = createApi<paths>({ baseUrl: baseUrl.replace(/\/+$/, ''), fetch: ask })
  const answered = <T>(call: Promise<Answer<T>>): Promise<T> => bodyOf(call, baseUrl)
  const source = { baseUrl, fetch: ask }

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
  const audit = (query: body.AuditQuery = {}) => answered(api.GET('/api/audit', { params: { query } }))

  const runner = { api, answered, followPlan }
  return {
    baseUrl,
    api,
    policy: () => answered(api.GET('/api/policy')),
    plan: (request) => answered(api.POST('/api/deploy/plan', { body: request })),
    getPlan: (planId) => answered(api.GET('/api/deploy/plans/{planId}', { params: { path: { planId } } })),
    listPlans: (query = {}) => answered(api.GET('/api/deploy/plans', { params: { query } })),
    applyPlan: (planId, options) =>
      runPlan(runner, planId, 'apply', options, (headers) =>
        answered(api.POST('/api/deploy/apply', { body: { planId }, headers })),
      ) as Promise<body.Applied>,
    removePlan: (planId, options) =>
      runPlan(runner, planId, 'remove', options, (headers) =>
        answered(api.POST('/api/deploy/remove', { body: { planId }, headers })),
      ) as Promise<body.Removed>,
    beginRun: (planId, action) =>
      runPlan(runner, planId, action, {}, (headers) =>
        answered(api.POST(`/api/deploy/${action}`, { body: { planId }, headers: { ...headers, ...UNATTENDED } })),
      ) as Promise<body.Accepted>,
    extendPlan: (planId, expiresIn) =>
      runPlan(runner, planId, 'apply', {}, (headers) =>
        answered(api.POST('/api/deploy/extend', { body: { planId, expiresIn }, headers })),
      ),
    renewPlan: (planId) =>
      runPlan(runner, planId, 'renew', {}, (headers) =>
        answered(api.POST('/api/deploy/renew', { body: { planId }, headers })),
      ),
    followPlan,
    hosts,
    allHosts: (query = {}) => allHosts(hosts, query),
    health: (host) => answered(api.GET('/api/health', { params: { query: { host } } })),
    diagnose: (host) => answered(api.GET('/api/diagnose', { params: { query: { host } } })),
    hostEvents: (options) => stream({ ...source, path: '/api/hosts/events', endless: true }, options),
    audit,
    allAudit: (query = {}) => allAuditLines(audit, query),
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
