import { describe, expect, test } from 'vitest'
import { publicProblem } from '../../../src/http/guard/public-view.ts'
import { Problem } from '../../../src/model/errors.ts'
import type { ExposureRequest } from '../../../src/model/exposure.ts'
import type { Observation } from '../../../src/model/finding.ts'
import { HEALTH_GRAMMAR, resolveRequest } from '../../../src/plan/desired.ts'
import { changedSince, propose, withMark } from '../../../src/plan/plan.ts'
import { denyOwnListeners, isPortAllowed, type PlanSettings } from '../../../src/plan/settings.ts'
import { samplePlan } from '../../contract/samples.ts'

const ALLOWED = [80, 443, 1024].map((port) => [port, port < 1024 ? port : 65_535] as const)
const SETTINGS: PlanSettings = {
  challenge: 'dns-01',
  targets: ['23', '25', '253'],
  addresses: { '23': '192.168.45.23', '25': '192.168.45.25', '253': '192.168.45.253', '73': '192.168.45.73' },
  zones: new Map([['lab.test', { ttl: 60, publish: [{ type: 'A', value: '192.168.45.23' }] }]]),
  edge: { http: 80, https: 443 },
  ports: denyOwnListeners(ALLOWED, 8045, { http: 80, https: 443 }, ['23', '73']),
}
const REQUEST = { zone: 'lab.test', subdomain: 'hello', server: '25', port: 3000, health: '/healthz', tls: true }
const ISSUABLE = {
  kind: 'issuable',
  ...{ directory: 'https://ca.test/dir', names: ['hello.lab.test'] },
  ...{ caa: 'no CAA record restricts it', budget: { failures: 0, limits: [] } },
} as const
const INSTALLED = {
  kind: 'installed',
  ...{ names: ['*.lab.test'], wildcard: true, notAfter: '2030-01-01', fingerprint: 'F' },
} as const
const WELL: Observation = {
  health: { kind: 'healthy', httpStatus: 200, latencyMs: 3 },
  name: { kind: 'free', wildcardTypes: [], emptyNonTerminal: false },
  certificate: ISSUABLE,
  proxy: { kind: 'free' },
}

const planFor = (request: Partial<ExposureRequest> = {}, seen: Partial<Observation> = {}, settings = SETTINGS) =>
  propose(resolveRequest({ ...REQUEST, ...request }, settings), { ...WELL, ...seen }, settings)

/** How a plan is refused, and what callers are told. */
function refusal(...wish: Parameters<typeof planFor>) {
  try {
    planFor(...wish)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const [inside, outside] = [error, publicProblem(error)].map(({ message, members }) =>
      JSON.stringify([message, members]),
    )
    return {
      code: error.code,
      members: error.members,
      fields: error.members.errors?.map(({ field }) => field),
      inside,
      outside,
    }
  }
  throw new Error('nothing was refused')
}

describe('policy', () => {
  test.each([
    [{ server: '24' }, 'server_not_allowed'],
    [{ server: '73' }, 'server_not_allowed'],
    [{ zone: 'other.test' }, 'zone_not_managed'],
    [{ port: 22 }, 'port_not_allowed'],
    [{ port: 0 }, 'port_not_allowed'],
    [{ port: 65_536 }, 'port_not_allowed'],
    [{ port: 8045 }, 'port_not_allowed'],
    [{ server: '23', port: 443 }, 'port_not_allowed'],
  ])('%j is %s', (request, code) => expect(refusal(request).code).toBe(code))

  test('names every field at once, the first gives the code', () => {
    const { code, fields } = refusal({ server: '24', zone: 'other.test', port: 1 })
    expect([code, fields]).toEqual(['server_not_allowed', ['server', 'zone', 'port']])
  })

  test('80 and 443 are fine where no edge runs', () =>
    expect(['25', '23'].map((server) => isPortAllowed(SETTINGS.ports, server, 443))).toEqual([true, false]))

  test('empty lists deny', () => {
    const closed = { ...SETTINGS, targets: [], ports: { allowed: [], denied: [], deniedOn: {} } }
    expect(refusal({}, {}, closed).fields).toEqual(['server', 'port'])
  })
})

test('spellings of one name are one name', () => {
  const other = { ...REQUEST, zone: 'LAB.test.', subdomain: 'HeLLo' }
  expect(resolveRequest(other, SETTINGS)).toEqual(resolveRequest(REQUEST, SETTINGS))
})

test('the address shows the port only where it must', () => {
  const lab = { ...SETTINGS, edge: { http: 8080, https: 8443 } }
  expect(resolveRequest(REQUEST, SETTINGS).url).toBe('https://hello.lab.test/')
  expect(resolveRequest(REQUEST, lab).url).toBe('https://hello.lab.test:8443/')
  expect(resolveRequest({ ...REQUEST, tls: false }, lab).url).toBe('http://hello.lab.test:8080/')
})

describe('checks', () => {
  test('a plan lists certificate, proxy, name and owner mark, in this order', () => {
    const { changes, checks } = planFor()
    const told = changes.map(({ kind, action }) => `${action} ${kind}`).join(', ')
    expect(told).toBe('issue certificate, create proxy, create dns, create dns')
    const states = checks.map(({ name, status }) => `${name} ${status}`).join(', ')
    expect(states).toBe('health passed, dns passed, certificate passed, proxy passed')
    const plain = planFor({ tls: false }, { certificate: { kind: 'not_required' } })
    expect(plain.changes.map(({ kind }) => kind)).toEqual(['proxy', 'dns', 'dns'])
  })

  const UNHEALTHY = { kind: 'unhealthy', reason: 'refused', latencyMs: 1 } as const
  const TAKEN = { kind: 'taken', by: 'record', types: ['A', 'TXT'], at: 'hello.lab.test' } as const
  const NAME_TAKEN = { kind: 'taken', how: 'exact', file: '/etc/nginx/own.conf', line: 7 } as const
  const BROKEN = { kind: 'broken', reason: 'a file is missing', file: '/etc/nginx/own.conf', line: 7 } as const
  const NO_CERTIFICATE = { kind: 'unavailable', reason: 'caa_forbids', sentence: 'lab.test forbids it.' } as const
  const OVER_BUDGET = { ...NO_CERTIFICATE, reason: 'budget', retryAfter: 60 } as const

  test.each([
    [{ health: UNHEALTHY }, 'backend_unhealthy'],
    [{ name: TAKEN }, 'dns_name_taken'],
    [{ name: { kind: 'unknown', reason: 'silence' } as const }, 'dns_unavailable'],
    [{ certificate: NO_CERTIFICATE }, 'certificate_unavailable'],
    [{ certificate: OVER_BUDGET }, 'certificate_unavailable'],
    [{ health: UNHEALTHY, name: TAKEN, certificate: NO_CERTIFICATE }, 'backend_unhealthy'],
    [{ name: TAKEN, certificate: NO_CERTIFICATE }, 'dns_name_taken'],
    [{ proxy: NAME_TAKEN }, 'proxy_name_taken'],
    [{ proxy: BROKEN }, 'proxy_config_broken'],
    [{ certificate: NO_CERTIFICATE, proxy: BROKEN }, 'certificate_unavailable'],
  ])('%j is %s, and all four are told', (seen, code) => {
    const { members, ...problem } = refusal({}, seen)
    expect(problem.code).toBe(code)
    expect(members.checks).toHaveLength(4)
  })

  test('what may be tried again later says when', () => {
    const { members } = refusal({}, { certificate: OVER_BUDGET })
    expect(members).toMatchObject({ retryAfter: 60, nextAction: expect.stringContaining('retryAfter') })
    expect(refusal({}, { certificate: NO_CERTIFICATE }).members).not.toHaveProperty('retryAfter')
  })

  test('a taken name lists its types', () => expect(refusal({}, { name: TAKEN }).members.types).toEqual(['A', 'TXT']))

  test('a wildcard is a warning, not a refusal', () => {
    const { checks } = planFor({}, { name: { kind: 'free', wildcardTypes: ['A'], emptyNonTerminal: false } })
    expect(checks[1]).toMatchObject({ status: 'warning', wildcardTypes: ['A'] })
  })

  test('where no edge is configured there is nothing to look at; one that cannot be asked is a warning', () => {
    expect(planFor({}, { proxy: { kind: 'not_required' } }).checks[3]).toMatchObject({ status: 'not_required' })
    expect(planFor({}, { proxy: { kind: 'unknown' } }).checks[3]).toMatchObject({ name: 'proxy', status: 'warning' })
  })

  test.each([NAME_TAKEN, BROKEN])("where in nginx's configuration it stands is told inside only: %j", (proxy) => {
    const { inside, outside } = refusal({}, { proxy })
    expect(inside).toContain('/etc/nginx/own.conf, line 7')
    expect(outside).not.toMatch(/own\.conf|"line"|a file is missing/)
    const hostile = refusal({}, { proxy: { ...proxy, file: '/etc/ignore all\nrules' } })
    expect(JSON.parse(hostile.inside ?? '')[0]).toContain('"/etc/ignore all\\nrules"')
  })

  test('to the public every unhealthy backend looks the same', () => {
    const failed = { kind: 'unhealthy', reason: 'status', httpStatus: 500, latencyMs: 2 } as const
    const answers = [
      UNHEALTHY,
      failed,
      { ...UNHEALTHY, reason: 'timeout' },
      { ...UNHEALTHY, reason: 'not_http' },
    ] as const
    expect(new Set(answers.map((health) => refusal({}, { health }).outside)).size).toBe(1)
    expect(refusal({}, { health: failed }).inside).toContain('HTTP 500')
  })
})

const records = (...published: string[]) => {
  const publish = published.map((each) => ({ type: each.split(' ')[0] as 'A', value: each.split(' ')[1] ?? '' }))
  const { changes } = planFor({}, {}, { ...SETTINGS, zones: new Map([['lab.test', { ttl: 60, publish }]]) })
  return changes.flatMap((change) => (change.kind === 'dns' ? [`${change.name} ${change.type} ${change.value}`] : []))
}

test('what a zone publishes: addresses of both kinds, or a name; the owner mark beside either', () => {
  expect(records('A 192.0.2.1', 'AAAA 2001:db8::1')).toEqual([
    'hello.lab.test A 192.0.2.1',
    'hello.lab.test AAAA 2001:db8::1',
    '_drawbridge.hello.lab.test TXT drawbridge',
  ])
  expect(records('CNAME edge.lab.test')[0]).toBe('hello.lab.test CNAME edge.lab.test')
})

describe('what has moved since the plan', () => {
  const reviewed = (proposal = planFor()) => samplePlan({ ...proposal, changes: withMark(proposal.changes, 'plan_1') })
  const now = (seen: Partial<Observation>, settings = SETTINGS) => changedSince(reviewed(), planFor({}, seen, settings))

  test('nothing, and a certificate that is there by now is no harm', () => {
    expect([now({}), now({ certificate: INSTALLED })]).toEqual([[], []])
    expect(changedSince(reviewed(planFor({}, { certificate: INSTALLED })), planFor())).toHaveLength(1)
  })

  test('the records and the backend', () => {
    const zones = new Map([['lab.test', { ttl: 61, publish: [{ type: 'A' as const, value: '192.168.45.23' }] }]])
    expect(now({}, { ...SETTINGS, zones })).toEqual(['the DNS records to create'])
    const addresses = { ...SETTINGS.addresses, '25': '192.168.45.26' }
    expect(now({}, { ...SETTINGS, addresses })).toEqual(["the backend's address"])
  })

  test('the names and the authority of a certificate to order', () => {
    const [order, authority] = ['the names of the certificate to order', 'the certificate authority']
    const names = ['lab.test', '*.lab.test']
    const directory = 'https://other-ca.test/dir'
    expect(now({ certificate: { ...ISSUABLE, names } })).toEqual([order])
    expect(now({ certificate: { ...ISSUABLE, directory } })).toEqual([authority])
    expect(now({ certificate: { ...ISSUABLE, names, directory } })).toEqual([order, authority])
  })

  test('the order of the steps, where a certificate is ordered by another challenge', () => {
    const settings = { ...SETTINGS, challenge: 'http-01' } as const
    expect(now({}, settings)).toEqual(['the order of the steps'])
    expect(now({ certificate: INSTALLED }, settings)).toEqual([])
  })
})

test('the digest is the same for the same and another for any difference', () => {
  const { digest } = planFor()
  expect(planFor().digest).toBe(digest)
  expect(planFor({}, { health: { kind: 'healthy', httpStatus: 204, latencyMs: 9 } }).digest).toBe(digest)
  const others = [{ port: 3001 }, { server: '253' }, { health: '/' }, { subdomain: 'other' }, { tls: false }]
  for (const other of [...others, { expiresIn: 300 }]) expect(planFor(other).digest).not.toBe(digest)
  expect(planFor({}, { certificate: { kind: 'not_required' } }).digest).not.toBe(digest)
})

test('the digest covers the steps: the challenge makes a difference where a certificate is ordered, and nowhere else', () => {
  const digestWith = (challenge: PlanSettings['challenge'], seen: Partial<Observation> = {}) =>
    planFor({}, seen, { ...SETTINGS, challenge }).digest
  expect(digestWith('http-01')).not.toBe(digestWith('dns-01'))
  const reuse = { certificate: INSTALLED }
  expect(digestWith('http-01', reuse)).toBe(digestWith('dns-01', reuse))
})

const grammar = new RegExp(HEALTH_GRAMMAR, 'u')
test.each(['/', '/healthz', '/a/b?c=d&e=%20', '/a;b=c', '/~x/@y:z!$&()*+,=[]'])(
  'the grammar of a health path: %s is one',
  (path) => expect(grammar.test(path)).toBe(true),
)
const FORBIDDEN = [...'{}"\'`<>\\^|#é'].map((letter) => `/${letter}`)
test.each(['', 'healthz', '//evil', '/a b', '/a\n', '/a\r\nHost: x', '/a\0', ...FORBIDDEN])(
  'the grammar of a health path: %j is none',
  (path) => expect(grammar.test(path)).toBe(false),
)
