import type { Evidence } from '../../src/model/evidence.ts'

const DAY = 86_400_000
export const AT = Date.UTC(2026, 0, 31)

export const certificate = {
  kind: 'certificate',
  names: ['hello.lab.test'],
  coversHost: true,
  notBefore: AT - DAY,
  notAfter: AT + 89 * DAY,
} as const

/** The evidence of a healthy managed host. */
export const sampleEvidence = (): Evidence => WELL

const WELL: Evidence = {
  host: 'hello.lab.test',
  at: AT,
  tookMs: 12,
  managed: true,
  exposure: { planId: 'plan_00000000000000000000000001', state: 'applied', differences: [], renews: true },
  path: '/healthz',
  name: { kind: 'here', found: ['192.168.45.23'] },
  records: 'ours',
  edge: 'open',
  tls: certificate,
  visit: { kind: 'answer', httpStatus: 200, latencyMs: 3 },
  isKnown: true,
  block: { kind: 'own' },
  configuration: {
    own: { path: '/etc/nginx/drawbridge/hosts/hello.lab.test.conf', line: 4 },
    listen: [{ address: '192.168.45.23', port: 443, tls: true, defaultServer: false }],
    broken: [],
    refusal: null,
    changedSinceLoad: false,
  },
  file: 'unchanged',
  target: {
    kind: 'found',
    target: { protocol: 'http', host: '192.168.45.25', port: 3000 },
    proxyPass: 'http://192.168.45.25:3000',
    address: '192.168.45.25',
    furtherTargets: 0,
    moved: false,
  },
  backend: {
    tcp: 'open',
    health: { kind: 'healthy', httpStatus: 200, latencyMs: 2 },
    speaksTls: false,
    answeringNeighbours: [],
  },
  errorClass: null,
  known: null,
}
