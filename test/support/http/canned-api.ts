import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { takes } from '../delay.ts'
import { listening } from '../listening.ts'

/**
 * A fake service with fixed answers, with times relative to now, so that the output of commands can be compared exactly.
 * Without `endsRuns` a run goes on until the service is closed.
 */
export async function startCannedApi({
  endsRuns = true,
} = {}): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const { url = '', method } = request
    const path = url.split('?')[0] ?? ''
    if (path.endsWith('/events')) return steps(response, endsRuns)
    const sent = await text(request)
    const [status, body] = answerTo(`${method} ${path}`, url, sent)
    if (!endsRuns && RUNS.test(path)) return
    response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' })
    response.end(JSON.stringify(body))
  })
  const { port, [Symbol.asyncDispose]: close } = await listening(server)
  return { url: `http://127.0.0.1:${port}`, close }
}

const RUNS = /apply|repair|accept/
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Half a minute away from a full unit, so that the output is the same on a slow machine. */
const from = (ms: number): string => new Date(Date.now() + ms + Math.sign(ms) * 30_000).toISOString()

const PLAN_ID = 'plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'
const FORMER_ID = 'plan_1a2b3c4d5e6f7g8h9j0k1m2n3p'
const HOST = 'hello.example.test'

function answerTo(route: string, url: string, sent: string): [status: number, body: object] {
  switch (route) {
    case 'GET /api/policy':
      return [200, policy()]
    case 'POST /api/deploy/plan':
      return [201, plan()]
    case `GET /api/deploy/plans/${PLAN_ID}`:
      return [200, { ...plan(), runs: [] }]
    case `GET /api/deploy/plans/${FORMER_ID}`:
      return [200, { ...plan(), planId: FORMER_ID, state: 'applied', request: { ...plan().request, port: 2999 } }]
    case 'POST /api/internal/token':
      return [201, { capability: 'canned', header: 'x-deploy-capability', planId: PLAN_ID }]
    case 'POST /api/deploy/apply':
      return [200, applied()]
    case `GET /api/deploy/plans/${PLAN_ID}/drift`:
      return [200, drift()]
    case 'POST /api/deploy/repair':
      return sent.includes('"overwrite":true') ? [200, repaired()] : [409, changedElsewhere()]
    case 'POST /api/deploy/accept':
      return [200, released()]
    case 'GET /api/hosts':
      return [200, hosts()]
    case 'GET /api/health':
      return url.includes('nobody') ? [404, notFound()] : [200, { ...hosts().hosts[0], ...health() }]
    case 'GET /api/diagnose':
      return [200, diagnosis()]
    case 'GET /api/deploy/plans':
      return [
        200,
        { plans: ['applied', 'replaced', 'rolled_back'].map((state) => summary(PLAN_ID, state)), nextCursor: null },
      ]
    case 'GET /api/events/recent':
      return [200, events()]
    case 'GET /api/audit':
      return [200, audit()]
    default:
      return [422, unhealthy()]
  }
}

const policy = () => ({
  flow: 'capability',
  servers: { targets: ['23', '25', '253'], primary: '23', secondary: '73' },
  zones: ['example.test'],
  internalNetworks: ['192.168.45.0/24'],
  apply: { possible: true, reasons: [] },
  plan: { ttlSeconds: 86_400 },
  ports: {
    allowed: [
      [80, 80],
      [443, 443],
      [1024, 65_535],
    ],
    denied: [8045],
  },
  caller: { network: 'internal', may: ['read', 'plan', 'token', 'apply', 'remove', 'repair', 'accept', 'renew'] },
  version: '0.1.0',
})

const checks = () => [
  { name: 'health', status: 'passed', detail: 'The backend on server 25 answered HTTP 200 on its health path.' },
  { name: 'dns', status: 'warning', detail: 'The name has no records of its own, but a wildcard answers for it (A).' },
  { name: 'certificate', status: 'passed', detail: 'A certificate for *.example.test covers the name.' },
]

const plan = () => ({
  planId: PLAN_ID,
  state: 'planned',
  host: HOST,
  url: `https://${HOST}/`,
  request: { server: '25', port: 3000, health: '/healthz', tls: true, expiresIn: 7200 },
  checks: checks(),
  changes: [
    { kind: 'certificate', action: 'issue', names: [HOST] },
    { kind: 'proxy', action: 'create', serverName: HOST, target: 'http://192.168.45.25:3000' },
    { kind: 'dns', action: 'create', name: HOST, type: 'A', value: '192.168.45.23' },
    {
      kind: 'dns',
      action: 'create',
      name: `_drawbridge.${HOST}`,
      type: 'TXT',
      value: `drawbridge ${PLAN_ID.replace('plan_', 'exposure_')}`,
    },
  ],
  steps: ['check', 'backup', 'certificate', 'proxy', 'dns', 'verify'],
  expiresAt: from(23 * HOUR),
})

const applied = () => ({
  planId: PLAN_ID,
  state: 'applied',
  host: HOST,
  url: `https://${HOST}/`,
  steps: [],
  warnings: ['The Secondary does not serve it yet.'],
  appliedAt: from(0),
})

const drift = () => ({
  planId: PLAN_ID,
  differences: [
    {
      part: 'entry',
      field: `hosts/${HOST}.conf`,
      expected: `sha256:${'a'.repeat(64)}`,
      found: `sha256:${'b'.repeat(64)}`,
      overwrite: true,
    },
    { part: 'record', field: `${HOST} A`, expected: '192.168.45.23', found: 'missing', overwrite: false },
  ],
})

const { appliedAt: _ofTheApply, ...onTheAir } = applied()
const repaired = () => ({ ...onTheAir, repairedAt: from(0) })

const released = () => ({
  planId: PLAN_ID,
  state: 'released',
  host: HOST,
  steps: [],
  file: `/etc/nginx/drawbridge-released/${HOST}.conf`,
  warnings: [`Drawbridge no longer renews the certificate of ${HOST}.`],
  releasedAt: from(0),
})

const row = (host: string, badge: string, more: object) => ({
  host,
  badge,
  server: '25',
  managed: true,
  tls: true,
  since: from(-3 * HOUR),
  checkedAt: from(-MINUTE),
  latencyMs: 12,
  uptime24h: 0.9996,
  certificate: { notAfter: from(60 * DAY), level: 'ok' },
  expiresAt: null,
  ...more,
})

const hosts = () => ({
  hosts: [
    row(HOST, 'RUNNING', { planId: PLAN_ID, expiresAt: from(90 * MINUTE) }),
    row('a-very-long-name-that-does-not-fit.example.test', 'HTTP 502', { since: from(-12 * MINUTE), uptime24h: 0.5 }),
    row('plain.example.test', 'PENDING', {
      server: null,
      since: null,
      latencyMs: null,
      uptime24h: null,
      certificate: null,
    }),
  ],
  total: 3,
  matched: 3,
  nextCursor: null,
  counts: { RUNNING: 1, 'HTTP 502': 1, PENDING: 1 },
  servers: ['25'],
  at: new Date().toISOString(),
})

const health = () => ({
  lastCheck: { at: from(-MINUTE), ok: true, httpStatus: 200, latencyMs: 12, reason: null },
  configPath: `/etc/nginx/drawbridge/hosts/${HOST}.conf`,
})

const diagnosis = () => ({
  host: HOST,
  badge: 'HTTP 502',
  configPath: `/etc/nginx/drawbridge/hosts/${HOST}.conf`,
  configLine: 3,
  proxyPass: 'http://192.168.45.25:3000',
  server: '25',
  chain: [
    { link: 'dns', ok: true, detail: 'The name points to the edge (192.168.45.23).' },
    { link: 'edge', ok: true, detail: 'The edge accepts connections.' },
    { link: 'tls', ok: null, detail: 'The host is served without TLS.' },
    { link: 'server_block', ok: true, detail: 'The own server block of the host answers.' },
    { link: 'proxy_pass', ok: true, detail: 'nginx proxies requests to port 3000 of server 25.' },
    { link: 'backend_tcp', ok: false, detail: 'The backend refuses connections.' },
    { link: 'backend_health', ok: null, detail: 'The backend was not asked.' },
    {
      link: 'error_log',
      ok: false,
      detail: 'The newest error log line about this host has the class connection_refused.',
    },
  ],
  cause: {
    code: 'nothing_listening',
    level: 'bad',
    sentence: 'Nothing listens on port 3000 of server 25: the connection is refused.',
    advice: 'Start the service on server 25. Make sure that it listens on that address, not only on localhost.',
    acts: [],
  },
  tookMs: 42,
})

const summary = (planId: string, state: string) => ({
  ...{ planId, state, host: HOST, createdAt: from(-HOUR) },
  ...(state === 'applied'
    ? { createdBy: '192.168.45.10', network: 'internal' }
    : { createdBy: '203.0.113.9', network: 'public' }),
})

const audit = () => ({
  lines: [
    { seq: 41, at: from(-HOUR), actor: '192.168.45.10', action: 'apply', outcome: 'ok', host: HOST },
    {
      seq: 42,
      at: from(-HOUR),
      actor: '203.0.113.9',
      action: 'token',
      outcome: 'refused',
      code: 'internal_network_required',
      host: HOST,
    },
  ],
  head: 42,
  nextAfter: null,
})

const happened = (seq: number, type: string, facts: object) => ({
  id: `evt_${String(seq).padStart(26, '0')}`,
  seq,
  type,
  timestamp: from(-HOUR),
  data: { host: HOST, planId: PLAN_ID, facts },
})

const events = () => ({
  events: [
    happened(6, 'exposure.applied', { url: `https://${HOST}/`, server: '25', port: 3000, expiresAt: null, tls: true }),
    happened(7, 'host.badge', { badge: 'HTTP 502', before: 'RUNNING', httpStatus: 502, reason: null }),
  ],
  head: 7,
  nextBefore: null,
})

const problem = (code: string, title: string, more: object) => ({
  title,
  code,
  status: 422,
  requestId: 'req_1',
  ...more,
})

const notFound = () =>
  problem('host_not_found', 'The edge does not serve this host', {
    detail: 'The edge does not serve this host.',
    retryable: false,
    nextAction: 'The host is not exposed. Plan it with POST /api/deploy/plan.',
  })

const changedElsewhere = () =>
  problem('changed_elsewhere', 'A repair would overwrite what somebody else changed', {
    detail: `hosts/${HOST}.conf was changed outside Drawbridge. It was not overwritten.`,
    retryable: false,
    nextAction: 'Read GET /api/deploy/plans/{planId}/drift.',
  })

const unhealthy = () =>
  problem('backend_unhealthy', 'The backend is not healthy', {
    detail: 'The backend on server 253 did not answer HTTP 2xx on its health path: it answered HTTP 503.',
    retryable: true,
    nextAction: 'Make the health path answer with HTTP 2xx on that server and port, then plan again.',
    checks: [{ name: 'health', status: 'failed', detail: 'It answered HTTP 503.' }, ...checks().slice(1)],
  })

/** The events of a run: one step starts twice and takes a moment. */
async function steps(response: ServerResponse, endsRuns: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const at = new Date().toISOString()
  let seq = 0
  const send = (event: string, step: string, more: object = {}) => {
    seq += 1
    response.write(
      `id: run_1.${seq}\nevent: ${event}\ndata: ${JSON.stringify({ action: 'apply', step, at, ...more })}\n\n`,
    )
  }
  for (const step of ['check', 'backup', 'certificate', 'proxy', 'dns', 'verify']) {
    send('started', step)
    if (step === 'proxy') {
      send('started', step)
      if (!endsRuns) return
      await takes(100)
    }
    send('done', step)
  }
  send('end', 'run', { state: 'applied' })
  response.end()
}
