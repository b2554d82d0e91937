import type { ErrorCode, ProblemMembers } from '../../model/errors.ts'
import {
  adoptionPlan,
  at,
  budget,
  hash,
  host,
  plan,
  planId,
  request,
  row,
  started,
  steps,
  tomorrow,
  url,
  verification,
} from './example-parts.ts'

/** Example answers by operation and status. A test checks that none is missing, and the linter that each is valid. */
export const ANSWERS: Readonly<Record<string, Readonly<Record<number, unknown>>>> = {
  getPolicy: {
    200: {
      flow: 'capability',
      servers: { targets: ['23', '25', '253'], primary: '23', secondary: '73' },
      zones: ['lab.test'],
      internalNetworks: ['192.168.45.0/24'],
      capability: {
        header: 'x-deploy-capability',
        ttlSeconds: 300,
        uses: 1,
        boundTo: ['plan', 'digest', 'ip', 'action'],
      },
      adminToken: { accepted: false, header: 'x-deploy-token' },
      plan: { ttlSeconds: 86_400 },
      ports: {
        allowed: [
          [80, 80],
          [443, 443],
          [1024, 65_535],
        ],
        denied: [8045],
        deniedOn: { 23: [80, 443] },
      },
      health: { pattern: '^/', timeoutSeconds: 3 },
      rateLimits: { public: budget, internal: { plan: 1200, diagnose: 1200, read: 1200, failedCredential: 1200 } },
      conflictingRecordTypes: ['A', 'AAAA', 'CNAME'],
      callOrder: ['GET /api/policy', 'POST /api/deploy/plan'],
      caller: { network: 'internal', may: ['read', 'plan', 'token', 'apply', 'remove', 'repair', 'accept', 'renew'] },
      apply: { possible: true, reasons: [] },
      version: '0.1.0',
    },
  },
  createPlan: { 201: plan },
  getPlan: { 200: { ...plan, state: 'applied' } },
  getDrift: {
    200: {
      planId,
      differences: [
        {
          part: 'entry',
          field: 'backend',
          ...{ expected: 'http://192.168.45.25:3000', found: 'http://192.168.45.25:3999', overwrite: true },
          ...{ file: '/etc/nginx/drawbridge/current/backends/05.map', line: 7 },
          ...{ path: '/etc/nginx/drawbridge/current/backends/05.map', since: at },
        },
        { part: 'record', field: `${host} A`, expected: '192.168.45.23', found: '192.168.45.99', overwrite: true },
      ],
    },
  },
  listPlans: {
    200: {
      plans: [
        {
          ...{ planId, state: 'planned', host, url, request, createdAt: at, expiresAt: tomorrow },
          ...{ createdBy: '192.168.45.10', network: 'internal' },
        },
      ],
      nextCursor: null,
    },
  },
  issueCapability: {
    201: {
      capability: 'cap_shown-once-and-never-again',
      header: 'x-deploy-capability',
      planId,
      action: 'apply',
      boundTo: { planId, action: 'apply', ip: '192.168.45.10' },
      expiresAt: at,
      uses: 1,
    },
  },
  applyPlan: {
    200: {
      ...{ planId, state: 'applied', host, url, steps },
      verification,
      warnings: [],
      appliedAt: at,
    },
    202: started,
  },
  removeExposure: {
    200: { planId, state: 'removed', host, steps, removedAt: at },
    202: started,
  },
  repairExposure: {
    200: { planId, state: 'applied', host, url, steps, verification, warnings: [], repairedAt: at },
    202: started,
  },
  planAdoption: { 201: adoptionPlan },
  releaseExposure: {
    200: {
      ...{ planId, state: 'released', host, steps: [{ name: 'proxy', status: 'done', ms: 38.5 }] },
      file: '/etc/nginx/drawbridge-released/hello.lab.test.conf',
      warnings: [],
      releasedAt: at,
    },
    202: started,
  },
  acceptExposure: {
    200: {
      ...{ planId, state: 'released', host, steps: [{ name: 'proxy', status: 'done', ms: 38.5 }] },
      file: '/etc/nginx/drawbridge-released/hello.lab.test.conf',
      warnings: ['Drawbridge no longer renews the certificate of hello.lab.test.'],
      releasedAt: at,
    },
    202: started,
  },
  renewCertificate: {
    200: {
      ...{ planId, state: 'applied', host },
      certificate: {
        names: [host],
        notBefore: at,
        notAfter: '2026-05-01T12:00:00.000Z',
        fingerprint: 'A1:B2:C3',
        source: 'issued',
      },
      warnings: [],
      renewedAt: at,
    },
    202: started,
  },
  extendExposure: { 200: { planId, expiresAt: tomorrow } },
  followPlan: { 200: { action: 'apply', step: 'proxy', at } },
  followEvents: {
    200: {
      id: 'evt_4f1c2b7a9d0e3f5a6b8c7d9e0f',
      seq: 7,
      type: 'exposure.applied',
      timestamp: at,
      data: { host, planId, facts: { url, server: '25', port: 3000, tls: true, expiresAt: null } },
    },
  },
  listHosts: {
    200: {
      ...{ hosts: [row], total: 1, matched: 1, nextCursor: null },
      ...{ counts: { RUNNING: 1 }, servers: ['25'], at },
    },
  },
  muteHost: {
    200: { host, muted: { since: at, until: tomorrow, by: '192.168.45.10', note: 'moves to a new server' } },
  },
  unmuteHost: { 200: { host, muted: null } },
  getHealth: {
    200: {
      ...row,
      lastCheck: { at, ok: true, httpStatus: 200, latencyMs: 4, reason: null },
      configPath: '/etc/nginx/drawbridge/current/backends/07.map',
    },
  },
  diagnoseHost: {
    200: {
      ...{ host, badge: 'DOWN', managed: true, planId, server: '25', file: 'unchanged' },
      configPath: '/etc/nginx/drawbridge/current/backends/07.map',
      configLine: 12,
      listen: [{ address: '192.168.45.23', port: 443, tls: true, defaultServer: false }],
      proxyPass: 'http://192.168.45.25:3000',
      chain: [
        { link: 'dns', ok: true, detail: 'The name points to the edge (192.168.45.23).' },
        { link: 'backend_tcp', ok: false, detail: 'The backend refuses connections.' },
      ],
      cause: {
        code: 'nothing_listening',
        level: 'bad',
        sentence: 'Nothing listens on port 3000 of server 25: the connection is refused.',
        advice: 'Start the service on server 25. Make sure that it listens on that address, not only on localhost.',
        acts: [],
      },
      checkedAt: at,
      tookMs: 12,
    },
  },
  followHosts: { 200: row },
  followHostChanges: { 200: row },
  getHostHistory: {
    200: {
      ...{ host, days: 1, unit: 'hour', from: at, uptime: 1, slots: [{ at, checks: 360, uptime: 1, latencyMs: 4 }] },
      minutes: [{ at, checks: 2, uptime: 1, latencyMs: 5 }],
      incidents: [{ began: at, ended: null, badges: ['HTTP 502'] }],
      lastGoodAt: at,
    },
  },
  getMetrics: { 200: 'drawbridge_host_badge{host="hello.lab.test",badge="RUNNING",managed="true"} 1\n' },
  listWebhooks: {
    200: {
      webhooks: [
        {
          ...{ name: 'chat', receiver: 'https://chat.example.test', events: ['exposure.applied'], hosts: null },
          ...{ delivered: 41, pending: 1, dead: 1, failing: true, lastDeliveredAt: at, lastFailedAt: at },
          lastFault: 'HTTP 500',
          deadLetters: [
            { id: 'evt_4f1c2b7a9d0e3f5a6b8c7d9e0f', type: 'exposure.applied', host, at, tries: 30, fault: 'HTTP 500' },
          ],
        },
      ],
    },
  },
  listEvents: {
    200: {
      events: [
        {
          id: 'evt_4f1c2b7a9d0e3f5a6b8c7d9e0f',
          seq: 7,
          type: 'host.badge',
          timestamp: at,
          data: { host, planId, facts: { badge: 'RUNNING', before: 'PENDING', httpStatus: 200, reason: null } },
        },
      ],
      head: 7,
      nextBefore: 7,
    },
  },
  readAudit: {
    200: {
      lines: [
        {
          seq: 1,
          at,
          actor: '192.168.45.10',
          network: 'internal',
          action: 'plan',
          outcome: 'ok',
          planId,
          host,
          previous: '0'.repeat(64),
          hash,
        },
      ],
      head: 1,
      nextAfter: null,
    },
  },
  isAlive: { 200: { status: 'ok' } },
  isReady: { 200: { status: 'ok' } },
}

/** The detail and members of example problems. Other codes use their title. */
export const PROBLEMS: Readonly<Partial<Record<ErrorCode, { readonly detail: string } & ProblemMembers>>> = {
  invalid_request: {
    detail: 'One field is not valid: port.',
    errors: [{ field: 'port', message: 'must be integer' }],
  },
  backend_unhealthy: {
    detail: 'The backend did not answer HTTP 2xx on its health path.',
    checks: [{ name: 'health', status: 'failed', detail: 'The backend did not answer HTTP 2xx on its health path.' }],
  },
  plan_busy: {
    detail: 'Another run for hello.lab.test is under way.',
    retryAfter: 5,
    holder: { planId, action: 'apply', startedAt: at },
  },
  rate_limited: { detail: 'This address sent more than 30 requests of this kind in one minute.', retryAfter: 42 },
  unavailable: { detail: 'The store does not answer.', retryAfter: 5 },
  changed_elsewhere: {
    detail: 'hosts/hello.lab.test.conf was changed outside Drawbridge. It was not overwritten.',
  },
  apply_failed: {
    detail: 'nginx did not serve the host in time.',
    steps: [{ name: 'proxy', status: 'failed', ms: 120.4, detail: 'nginx did not serve the host in time.' }],
    rollback: [{ name: 'proxy', status: 'undone', ms: 35.1 }],
  },
}
