import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import type { Diagnosis, HostRow, Plan, Policy, Run } from '../../../src/client/index.ts'
import { ANSWERS } from '../../../src/http/schemas/examples.ts'
import { listening } from '../listening.ts'

/** A stand-in for the service: the built page, with the examples of the API as answers and the hosts of a test. */
export interface CannedPage extends AsyncDisposable {
  readonly origin: `http://${string}`
  /** The hosts of the list. A change is seen with the next request. */
  hosts: readonly HostRow[]
  /** Called for each diagnosis. */
  diagnose: () => Diagnosis | Promise<Diagnosis>
  /** The plan, and the events of its run so far, as a new stream of the run gets them. */
  plan: Plan
  run: readonly RunEvent[]
  /** Who the page says that it is. */
  caller: Policy['caller']
  /** The requests to the API so far, as `GET /api/hosts?sort=host`. */
  readonly requests: readonly string[]
  /** Sends an event on every open stream of changes. */
  tell(event: 'row' | 'gone' | 'edges' | 'plan' | 'alive', data: object): void
  /** Drops every connection and refuses new ones. */
  away(): Promise<void>
  back(): Promise<void>
}

type RunEvent = Run['events'][number]

const WEB = 'dist/web'
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
const EXAMPLE_ROW = ANSWERS.followHosts?.[200] as HostRow
const EXAMPLE_POLICY = ANSWERS.getPolicy?.[200] as Policy
const EXAMPLE_DIAGNOSIS = ANSWERS.diagnoseHost?.[200] as Diagnosis

export const CANNED_PLAN = ANSWERS.createPlan?.[201] as Plan

export const cannedRow = (host: string, changes: Partial<HostRow> = {}): HostRow => ({
  ...EXAMPLE_ROW,
  host,
  url: `http://${host}:8080/`,
  certificate: null,
  ...changes,
})

export const cannedDiagnosis = (host: string, badge: Diagnosis['badge']): Diagnosis => ({
  ...EXAMPLE_DIAGNOSIS,
  host,
  badge,
  ...(badge === 'RUNNING' && {
    cause: {
      ...EXAMPLE_DIAGNOSIS.cause,
      code: 'healthy',
      level: 'good',
      sentence: 'The host answers.',
      advice: 'Nothing needs to be done.',
    },
  }),
})

export async function startCannedPage(): Promise<CannedPage> {
  const streams = new Set<ServerResponse>()
  const requests: string[] = []
  let sent = 0
  const write = (stream: ServerResponse, event: string, data: object) => {
    sent += 1
    stream.write(`id: ${sent}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  const alive = () => ({ at: new Date().toISOString() })
  const follow = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    streams.add(response)
    response.once('close', () => streams.delete(response))
    write(response, 'alive', alive())
  }
  const followRun = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const { id, name, ...data } of canned.run)
      response.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify({ action: 'apply', ...data })}\n\n`)
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://canned')
    if (!url.pathname.startsWith('/api/')) return sendFile(response, url.pathname)
    requests.push(`${request.method} ${request.url}`)
    if (url.pathname === '/api/hosts/changes') return follow(response)
    if (url.pathname === `/api/deploy/plans/${CANNED_PLAN.planId}/events`) return followRun(response)
    const body = await bodyFor(url)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? {}))
  }
  const bodyFor = (url: URL): unknown => {
    if (url.pathname === '/api/hosts') return pageOf(canned.hosts, url.searchParams)
    if (url.pathname === '/api/diagnose') return canned.diagnose()
    if (url.pathname === '/api/policy') return { ...EXAMPLE_POLICY, caller: canned.caller }
    if (url.pathname === `/api/deploy/plans/${CANNED_PLAN.planId}`) return canned.plan
    return EXAMPLES[url.pathname]
  }
  const server: Server = createServer((request, response) => void answer(request, response))
  const { port, [Symbol.asyncDispose]: away } = await listening(server)
  const canned: CannedPage = {
    origin: `http://127.0.0.1:${port}`,
    hosts: [],
    diagnose: () => EXAMPLE_DIAGNOSIS,
    plan: CANNED_PLAN,
    run: [],
    caller: EXAMPLE_POLICY.caller,
    requests,
    tell: (event, data) => {
      for (const stream of streams) write(stream, event, data)
    },
    away,
    back: async () => void (await once(server.listen(port, '127.0.0.1'), 'listening')),
    [Symbol.asyncDispose]: away,
  }
  return canned
}

/** What the page asks for beside hosts and diagnoses. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  '/api/health': ANSWERS.getHealth?.[200],
  '/api/hosts/history': ANSWERS.getHostHistory?.[200],
  '/api/deploy/plans': ANSWERS.listPlans?.[200],
  '/api/events/recent': ANSWERS.listEvents?.[200],
  '/api/audit': ANSWERS.readAudit?.[200],
}

function pageOf(hosts: readonly HostRow[], query: URLSearchParams): object {
  const turn = query.get('order') === 'desc' ? -1 : 1
  const ordered = query.get('sort') === 'host' ? hosts.toSorted((a, b) => turn * (a.host < b.host ? -1 : 1)) : hosts
  const from = Number(query.get('cursor') ?? 0)
  const end = from + Number(query.get('limit'))
  return {
    hosts: ordered.slice(from, end),
    total: hosts.length,
    matched: hosts.length,
    nextCursor: end < hosts.length ? String(end) : null,
    counts: {},
    servers: [],
    at: new Date().toISOString(),
  }
}

function sendFile(response: ServerResponse, path: string): void {
  const file = /^\/(assets\/|[\w-]+\.svg$)/.test(path) ? path : '/index.html'
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'image/svg+xml' })
  response.end(readFileSync(join(WEB, file)))
}
