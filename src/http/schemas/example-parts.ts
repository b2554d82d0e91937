/** The exposure that all examples of the API are about. */
export const planId = 'plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'
export const host = 'hello.lab.test'
export const url = 'https://hello.lab.test/'
export const at = '2026-01-31T12:00:00.000Z'
export const tomorrow = '2026-02-01T12:00:00.000Z'
export const request = { zone: 'lab.test', subdomain: 'hello', server: '25', port: 3000, health: '/healthz', tls: true }

const checks = [
  {
    name: 'health',
    status: 'passed',
    detail: 'The backend on server 25 answered HTTP 200 on its health path.',
    httpStatus: 200,
  },
  { name: 'dns', status: 'passed', detail: 'The name is free.' },
  {
    name: 'certificate',
    status: 'passed',
    detail: 'No installed certificate covers the name. A new one for hello.lab.test can be issued.',
  },
  {
    name: 'proxy',
    status: 'passed',
    detail: "The edge's configuration is valid, and no other server block serves the name.",
  },
]
const changes = [
  { kind: 'certificate', action: 'issue', names: [host] },
  { kind: 'proxy', action: 'create', serverName: host, target: 'http://192.168.45.25:3000', https: true },
  { kind: 'dns', action: 'create', name: host, type: 'A', ttl: 60, value: '192.168.45.23' },
]
export const hash = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9'
export const plan = {
  planId,
  state: 'planned',
  host,
  url,
  request,
  checks,
  changes,
  steps: ['check', 'backup', 'certificate', 'proxy', 'dns', 'verify'],
  digest: `sha256:${hash}`,
  createdAt: at,
  expiresAt: tomorrow,
}
export const adoptionPlan = {
  ...plan,
  request: { ...request, adopt: { site: `sha256:${hash}`, text: `sha256:${hash}` } },
  changes: [
    { kind: 'certificate', action: 'reuse', names: [host], notAfter: tomorrow },
    { kind: 'proxy', action: 'adopt', serverName: host, target: 'http://192.168.45.25:3000', https: true },
    { kind: 'dns', action: 'keep', name: host, type: 'A', ttl: 3600, value: '192.168.45.23' },
    { kind: 'dns', action: 'create', name: `_drawbridge.${host}`, type: 'TXT', ttl: 60, value: 'drawbridge' },
  ],
}
export const steps = [
  { name: 'proxy', status: 'done', ms: 41.2 },
  { name: 'dns', status: 'done', ms: 3.8 },
]
export const verification = {
  primary: { server: '23', ok: true, detail: 'HTTP 200' },
  secondary: { server: '73', ok: true, optional: true, detail: 'HTTP 200' },
}
export const started = { planId, host, progress: `/api/deploy/plans/${planId}/events` }
export const budget = { plan: 30, diagnose: 30, read: 300, failedCredential: 10 }

export const row = {
  ...{ host, badge: 'RUNNING', server: '25', managed: true, tls: true, url, since: at, checkedAt: at },
  ...{ latencyMs: 4, uptime24h: 1, strip: '-'.repeat(40) + '9'.repeat(8), latencies: [4, 5, 4] },
  ...{ certificate: { notAfter: tomorrow, level: 'ok' }, expiresAt: null },
}
