import { expect, test } from 'vitest'
import type { DnsOutcome, DnsReader, DnsRecord } from '../../../src/dns/contract.ts'
import type { HealthFact } from '../../../src/model/finding.ts'
import type { HealthTarget } from '../../../src/observe/health-probe.ts'
import { type ObserveParts, observe } from '../../../src/observe/observe.ts'
import type { Desired } from '../../../src/plan/desired.ts'
import { systemClock } from '../../../src/primitives/clock.ts'

const DESIRED: Desired = {
  request: { zone: 'lab.test', subdomain: 'app', server: '25', port: 3000, health: '/healthz', tls: true },
  host: 'app.lab.test',
  url: 'https://app.lab.test/',
  backend: { address: '127.0.45.25', port: 3000 },
}
const HEALTHY: HealthFact = { kind: 'healthy', httpStatus: 200, latencyMs: 1 }

const soa: DnsRecord = { owner: 'lab.test', type: 'SOA', ttl: 60, rdata: Buffer.alloc(0) }
const ANSWER = { kind: 'answer', authoritative: true, recursionAvailable: false, authority: [] } as const
const answer = (rcode: string, answers: DnsRecord[] = []): DnsOutcome => ({ ...ANSWER, rcode, answers })

/** A zone with nothing in it. */
const emptyZone: DnsReader = {
  server: 'the mock',
  ask: async (questions) =>
    questions.map(({ type }) => (type === 'SOA' ? answer('NOERROR', [soa]) : answer('NXDOMAIN'))),
}
const deadServer: DnsReader = {
  server: 'the mock',
  ask: async (questions) => questions.map(() => ({ kind: 'no_answer', reason: 'timeout' })),
}

const parts = (more: Partial<ObserveParts> = {}): ObserveParts => ({
  readerFor: () => emptyZone,
  readBack: async () => 'unknown',
  readSets: async () => 'unknown',
  site: async () => undefined,
  probe: async () => HEALTHY,
  inventory: { covering: async () => undefined },
  clock: systemClock,
  directory: { url: 'https://ca.test/dir', read: async () => ({ kind: 'available', caaIdentities: [] }) },
  budget: { check: async () => ({ kind: 'free', failures: 0, limits: [] }) },
  aliasIn: () => undefined,
  challenge: 'dns-01',
  certificateNames: (_zone, host) => [host],
  caaIdentities: [],
  holder: async () => undefined,
  edge: { check: async () => ({ kind: 'free' }) },
  ...more,
})

test('the four looks make one observation', async () => {
  const probed: HealthTarget[] = []
  const probe = async (target: HealthTarget) => {
    probed.push(target)
    return HEALTHY
  }
  expect(await observe(parts({ probe }), DESIRED)).toEqual({
    health: HEALTHY,
    name: { kind: 'free', wildcardTypes: [], emptyNonTerminal: false },
    certificate: {
      kind: 'issuable',
      directory: 'https://ca.test/dir',
      names: ['app.lab.test'],
      caa: expect.stringContaining('no CAA record'),
      budget: { failures: 0, limits: [] },
    },
    proxy: { kind: 'free' },
  })
  expect(probed).toEqual([{ address: '127.0.45.25', port: 3000, path: '/healthz', host: 'app.lab.test' }])
})

test('none of them waits for another', async () => {
  const started = new Set<string>()
  const never = (what: string) => () => {
    started.add(what)
    return new Promise<never>(() => undefined)
  }
  const silent = {
    ...{
      probe: never('health'),
      holder: never('holder'),
      readerFor: () => ({ server: 'the mock', ask: never('dns') }),
    },
    ...{ inventory: { covering: never('inventory') }, edge: { check: never('edge') } },
  }
  void observe(parts(silent), DESIRED)
  await new Promise((resolve) => setImmediate(resolve))
  expect(started).toEqual(new Set(['health', 'holder', 'dns', 'inventory', 'edge']))
})

test('without tls no certificate is looked for', async () => {
  const covering = () => Promise.reject(new Error('looked for a certificate'))
  const inventory = { covering }
  const desired = { ...DESIRED, request: { ...DESIRED.request, tls: false } }
  expect((await observe(parts({ inventory }), desired)).certificate).toEqual({ kind: 'not_required' })
})

test('without an edge there is none to look at', async () =>
  expect((await observe(parts({ edge: undefined }), DESIRED)).proxy).toEqual({ kind: 'not_required' }))

test.each(['exposure', 'run'] as const)(
  'a name that we hold ourselves by a %s is taken, whether or not DNS shows it or answers',
  async (by) => {
    const fact = { kind: 'taken', by, types: [], at: 'app.lab.test' }
    const holder = async () => ({ by })
    expect((await observe(parts({ holder }), DESIRED)).name).toEqual(fact)
    expect((await observe(parts({ holder, readerFor: () => deadServer }), DESIRED)).name).toEqual(fact)
  },
)

test('a name that we hold ourselves is the only one that silence leaves certain', async () =>
  expect((await observe(parts({ readerFor: () => deadServer }), DESIRED)).name.kind).toBe('unknown'))
