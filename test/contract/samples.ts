import type { AuditEntry } from '../../src/model/audit.ts'
import type { NewEvent } from '../../src/model/event.ts'
import type { Plan } from '../../src/model/exposure.ts'
import { NO_HISTORY } from '../../src/model/history.ts'
import type { HostStatus } from '../../src/model/host-status.ts'
import type { JournalEntry, Run } from '../../src/model/run.ts'
import type { CapabilityRecord, PresentedCapability } from '../../src/store/ports/capabilities.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'

export const NOW = 1_790_000_000_000
export const DAY = 86_400_000

export const samplePlan = (change: Partial<Plan> = {}): Plan => ({
  planId: 'plan_0123456789abcdefghijklmnop',
  state: 'planned',
  host: 'shop.lab.test',
  url: 'https://shop.lab.test:8443',
  request: { zone: 'lab.test', subdomain: 'shop', server: '25', port: 3000, health: '/healthz?a=ü\u0000', tls: true },
  checks: [
    { name: 'health', status: 'passed', detail: 'HTTP 200 in 3 ms', httpStatus: 200, latencyMs: 3.25 },
    {
      name: 'dns',
      status: 'warning',
      detail: 'a wildcard answers',
      wildcardTypes: ['A', 'TXT'],
      deep: { er: [null, 1] },
    },
    { name: 'certificate', status: 'not_required', detail: '"quoted" \\ and \'single\' 🌉' },
  ],
  changes: [
    { kind: 'certificate', action: 'issue', names: ['shop.lab.test'], directory: 'https://ca.test/dir' },
    { kind: 'proxy', action: 'create', serverName: 'shop.lab.test', target: 'http://127.0.45.25:3000', https: true },
    { kind: 'dns', action: 'create', name: 'shop.lab.test', type: 'A', ttl: 60, value: '127.0.45.23' },
  ],
  steps: ['check', 'backup', 'certificate', 'proxy', 'dns', 'verify'],
  digest: 'd'.repeat(64),
  exposureId: 'exposure_0123456789abcdefghijklmnop',
  createdAt: NOW,
  expiresAt: NOW + DAY,
  createdBy: '127.0.0.1',
  network: 'internal',
  proof: 'ab'.repeat(32),
  ...change,
})

export const sampleCapability = (change: Partial<CapabilityRecord> = {}): CapabilityRecord => ({
  hash: 'c'.repeat(64),
  planId: samplePlan().planId,
  digest: samplePlan().digest,
  action: 'apply',
  ip: '127.0.45.10',
  issuedAt: NOW,
  expiresAt: NOW + 300_000,
  ...change,
})

export const presented = (change: Partial<PresentedCapability> = {}): PresentedCapability => {
  const { hash, planId, digest, action, ip } = sampleCapability(change)
  return { hash, planId, digest, action, ip }
}

export const sampleExposure = (change: Partial<Exposure> = {}): Exposure => ({
  host: samplePlan().host,
  planId: samplePlan().planId,
  state: 'applying',
  fence: 1,
  since: NOW,
  ...change,
})

export const sampleRun = (change: Partial<Run> = {}): Run => ({
  runId: 'run_1',
  planId: samplePlan().planId,
  host: samplePlan().host,
  action: 'apply',
  state: 'running',
  holder: 'one',
  fence: 1,
  actor: '127.0.45.10',
  network: 'internal',
  right: 'capability',
  startedAt: NOW,
  ...change,
})

export const sampleStep = (change: Partial<JournalEntry> = {}): Omit<JournalEntry, 'seq'> => ({
  runId: sampleRun().runId,
  at: NOW,
  step: 'proxy',
  mark: 'intent',
  ...change,
})

export const sampleEntry = (change: Partial<AuditEntry> = {}): AuditEntry => ({
  at: NOW,
  actor: '127.0.0.1',
  network: 'public',
  action: 'plan',
  outcome: 'ok',
  planId: samplePlan().planId,
  host: 'shop.lab.test',
  facts: { server: '25', port: 3000, tls: true },
  ...change,
})

export const sampleEvent = (change: Partial<NewEvent> = {}): NewEvent => ({
  at: NOW,
  type: 'exposure.applied',
  host: 'shop.lab.test',
  planId: samplePlan().planId,
  facts: { url: 'https://shop.lab.test:8443', tls: true, port: 3000, server: null },
  ...change,
})

export const sampleHost = (change: Partial<HostStatus> = {}): HostStatus => ({
  host: 'shop.lab.test',
  configPath: '/etc/nginx/drawbridge/hosts/shop.lab.test.conf',
  managed: true,
  tls: true,
  path: '/healthz',
  listenAddress: { address: '127.0.45.23', port: 8443 },
  server: '25',
  address: '127.0.45.25',
  planId: 'plan_0123456789abcdefghijklmnop',
  expiresAt: null,
  badge: 'PENDING',
  since: null,
  lastCheck: null,
  fullCheck: { at: null, dns: null, file: null, certificate: null },
  history: NO_HISTORY,
  changed: 0,
  ...change,
})
