import { describe, expect, test } from 'vitest'
import { publicProblem } from '../../../src/http/guard/public-view.ts'
import { Problem } from '../../../src/model/errors.ts'
import type { ExposureRequest } from '../../../src/model/exposure.ts'
import type { Observation } from '../../../src/model/finding.ts'
import { HEALTH_GRAMMAR, resolveRequest } from '../../../src/plan/desired.ts'
import { changedSince, propose, withMark } from '../../../src/plan/plan.ts'
import { denyOwnListeners, isPortAllowed, type PlanSettings } from '../../../src/plan/settings.ts'
import { samplePlan } from '../../contract/samples.ts'

const SETTINGS: PlanSettings = {
  challenge: 'dns-01',
  targets: ['23', '25', '253'],
  addresses: { '23': '192.168.45.23', '25': '192.168.45.25', '253': '192.168.45.253', '73': '192.168.45.73' },
  zones: new Map([['lab.test', { ttl: 60, publish: [{ type: 'A', value: '192.168.45.23' }] }]]),
  edge: { http: 80, https: 443 },
  ports: denyOwnListeners(
    [
      [80, 80],
      [443, 443],
      [1024, 65_535],
    ],
    8045,
    { http: 80, https: 443 },
    ['23', '73'],
  ),
}
const REQUEST: ExposureRequest = {
  zone: 'lab.test',
  subdomain: 'hello',
  server: '25',
  port: 3000,
  health: '/healthz',
  tls: true,
}
const ISSUABLE = {
  kind: 'issuable',
  directory: 'https://ca.test/dir',
  names: ['hello.lab.test'],
  caa: 'no CAA record restricts it',
  budget: { failures: 0, limits: [] },
} as const
const INSTALLED = {
  kind: 'installed',
  names: ['*.lab.test'],
  wildcard: true,
  notAfter: '2030-01-01',
  fingerprint: 'F',
} as const
const WELL: Observation = {
  health: { kind: 'healthy', httpStatus: 200, latencyMs: 3 },
  name: { kind: 'free', wildcardTypes: [], emptyNonTerminal: false },
  certificate: ISSUABLE,
  proxy: { kind: 'free' },
}

const planFor = (request: Partial<ExposureRequest> = {}, seen: Partial<Observation> = {}) =>
  propose(resolveRequest({ ...REQUEST, ...request }, SETTINGS), { ...WELL, ...seen }, SETTINGS)

function refusal(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
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
  ])('%j is %s', (request, code) => {
    expect(refusal(() => planFor(request)).code).toBe(code)
  })

  test('names every field at once, the first gives the code', () => {
    const { code, members } = refusal(() => planFor({ server: '24', zone: 'other.test', port: 1 }))
    expect(code).toBe('server_not_allowed')
    expect(members.errors?.map(({ field }) => field)).toEqual(['server', 'zone', 'port'])
  })

  test('80 and 443 are fine where no edge runs', () => {
    expect(isPortAllowed(SETTINGS.ports, '25', 443)).toBe(true)
    expect(isPortAllowed(SETTINGS.ports, '23', 443)).toBe(false)
  })

  test('empty lists deny', () => {
    const closed = { ...SETTINGS, targets: [], ports: { allowed: [], denied: [], deniedOn: {} } }
    expect(refusal(() => resolveRequest(REQUEST, closed)).members.errors?.map(({ field }) => field)).toEqual([
      'server',
      'port',
    ])
  })
})

describe('names', () => {
  test('spellings of one name are one name', () => {
    expect(resolveRequest({ ...REQUEST, zone: 'LAB.test.', subdomain: 'HeLLo' }, SETTINGS)).toEqual(
      resolveRequest(REQUEST, SETTINGS),
    )
  })

  test('the address shows the port only where it must', () => {
    expect(resolveRequest(REQUEST, SETTINGS).url).toBe('https://hello.lab.test/')
    const lab = { ...SETTINGS, edge: { http: 8080, https: 8443 } }
    expect(resolveRequest(REQUEST, lab).url).toBe('https://hello.lab.test:8443/')
    expect(resolveRequest({ ...REQUEST, tls: false }, lab).url).toBe('http://hello.lab.test:8080/')
  })
})

describe('checks', () => {
  test('a plan lists certificate, proxy, name and owner mark, in this order', () => {
    const { changes, checks } = planFor()
    expect(changes.map(({ kind, action }) => `${action} ${kind}`)).toEqual([
      'issue certificate',
      'create proxy',
      'create dns',
      'create dns',
    ])
    expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'health passed',
      'dns passed',
      'certificate passed',
      'proxy passed',
    ])
    expect(planFor({ tls: false }, { certificate: { kind: 'not_required' } }).changes.map(({ kind }) => kind)).toEqual([
      'proxy',
      'dns',
      'dns',
    ])
  })

  const UNHEALTHY = { kind: 'unhealthy', reason: 'refused', latencyMs: 1 } as const
  const TAKEN = { kind: 'taken', by: 'record', types: ['A', 'TXT'], at: 'hello.lab.test' } as const
  const NAME_TAKEN = { kind: 'taken', how: 'exact', file: '/etc/nginx/own.conf', line: 7 } as const
  const BROKEN = { kind: 'broken', reason: 'a file is missing', file: '/etc/nginx/own.conf', line: 7 } as const
  const NO_CERTIFICATE = { kind: 'unavailable', reason: 'caa_forbids', sentence: 'lab.test forbids it.' } as const

  test.each([
    [{ health: UNHEALTHY }, 'backend_unhealthy'],
    [{ name: TAKEN }, 'dns_name_taken'],
    [{ name: { kind: 'unknown', reason: 'silence' } as const }, 'dns_unavailable'],
    [{ certificate: NO_CERTIFICATE }, 'certificate_unavailable'],
    [{ certificate: { ...NO_CERTIFICATE, reason: 'budget', retryAfter: 60 } as const }, 'certificate_unavailable'],
    [{ health: UNHEALTHY, name: TAKEN, certificate: NO_CERTIFICATE }, 'backend_unhealthy'],
    [{ name: TAKEN, certificate: NO_CERTIFICATE }, 'dns_name_taken'],
    [{ proxy: NAME_TAKEN }, 'proxy_name_taken'],
    [{ proxy: BROKEN }, 'proxy_config_broken'],
    [{ certificate: NO_CERTIFICATE, proxy: BROKEN }, 'certificate_unavailable'],
  ])('%j is %s, and all four are told', (seen, code) => {
    const problem = refusal(() => planFor({}, seen))
    expect(problem.code).toBe(code)
    expect(problem.members.checks).toHaveLength(4)
  })

  test('what may be tried again later says when', () => {
    const seen = { certificate: { ...NO_CERTIFICATE, reason: 'budget', retryAfter: 60 } } as const
    const { members } = refusal(() => planFor({}, seen))
    expect(members).toMatchObject({ retryAfter: 60, nextAction: expect.stringContaining('retryAfter') })
    expect(refusal(() => planFor({}, { certificate: NO_CERTIFICATE })).members).not.toHaveProperty('retryAfter')
  })

  test('a taken name lists its types', () => {
    expect(refusal(() => planFor({}, { name: TAKEN })).members.types).toEqual(['A', 'TXT'])
  })

  test('a wildcard is a warning, not a refusal', () => {
    const { checks } = planFor({}, { name: { kind: 'free', wildcardTypes: ['A'], emptyNonTerminal: false } })
    expect(checks[1]).toMatchObject({ status: 'warning', wildcardTypes: ['A'] })
  })

  test('where no edge is configured there is nothing to look at; one that cannot be asked is a warning', () => {
    expect(planFor({}, { proxy: { kind: 'not_required' } }).checks[3]).toMatchObject({ status: 'not_required' })
    expect(planFor({}, { proxy: { kind: 'unknown' } }).checks[3]).toMatchObject({ name: 'proxy', status: 'warning' })
  })

  test.each([NAME_TAKEN, BROKEN])("where in nginx's configuration it stands is told inside only: %j", (proxy) => {
    const text = ({ message, members }: Problem) => JSON.stringify({ message, members })
    const refused = refusal(() => planFor({}, { proxy }))
    expect(text(refused)).toContain('/etc/nginx/own.conf, line 7')
    expect(refusal(() => planFor({}, { proxy: { ...proxy, file: '/etc/ignore all\nrules' } })).message).toContain(
      '"/etc/ignore all\\nrules"',
    )
    expect(text(publicProblem(refused))).not.toMatch(/own\.conf|"line"|a file is missing/)
  })

  test('to the public every unhealthy backend looks the same', () => {
    const answers = [
      UNHEALTHY,
      { kind: 'unhealthy', reason: 'timeout', latencyMs: 3000 },
      { kind: 'unhealthy', reason: 'not_http', latencyMs: 2 },
      { kind: 'unhealthy', reason: 'status', httpStatus: 500, latencyMs: 2 },
    ] as const
    const shown = answers.map((health) => {
      const { message, members } = publicProblem(refusal(() => planFor({}, { health })))
      return JSON.stringify({ message, members })
    })
    expect(new Set(shown).size).toBe(1)
    expect(refusal(() => planFor({}, { health: answers[3] })).message).toContain('HTTP 500')
  })
})

describe('what a zone publishes', () => {
  const records = (publish: { type: 'A' | 'AAAA' | 'CNAME'; value: string }[]) => {
    const settings = { ...SETTINGS, zones: new Map([['lab.test', { ttl: 60, publish }]]) }
    const { changes } = propose(resolveRequest(REQUEST, settings), WELL, settings)
    return changes.flatMap((change) => (change.kind === 'dns' ? [`${change.name} ${change.type} ${change.value}`] : []))
  }

  test('addresses of both kinds, or a name; the owner mark beside either', () => {
    expect(
      records([
        { type: 'A', value: '192.0.2.1' },
        { type: 'AAAA', value: '2001:db8::1' },
      ]),
    ).toEqual([
      'hello.lab.test A 192.0.2.1',
      'hello.lab.test AAAA 2001:db8::1',
      '_drawbridge.hello.lab.test TXT drawbridge',
    ])
    expect(records([{ type: 'CNAME', value: 'edge.lab.test' }])[0]).toBe('hello.lab.test CNAME edge.lab.test')
  })
})

describe('what has moved since the plan', () => {
  const reviewed = (proposal = planFor()) => samplePlan({ ...proposal, changes: withMark(proposal.changes, 'plan_1') })
  const now = (difference: Partial<Observation>, settings = SETTINGS) =>
    changedSince(reviewed(), propose(resolveRequest(REQUEST, settings), { ...WELL, ...difference }, settings))

  test('nothing, and a certificate that is there by now is no harm', () => {
    expect(now({})).toEqual([])
    expect(now({ certificate: INSTALLED })).toEqual([])
    expect(
      changedSince(
        reviewed(propose(resolveRequest(REQUEST, SETTINGS), { ...WELL, certificate: INSTALLED }, SETTINGS)),
        planFor(),
      ),
    ).toHaveLength(1)
  })

  test('the records and the backend', () => {
    const zones = new Map([['lab.test', { ttl: 61, publish: [{ type: 'A' as const, value: '192.168.45.23' }] }]])
    expect(now({}, { ...SETTINGS, zones })).toEqual(['the DNS records to create'])
    const addresses = { ...SETTINGS.addresses, '25': '192.168.45.26' }
    expect(now({}, { ...SETTINGS, addresses })).toEqual(["the backend's address"])
  })

  test('the names and the authority of a certificate to order', () => {
    const names = ['lab.test', '*.lab.test']
    const directory = 'https://other-ca.test/dir'
    expect(now({ certificate: { ...ISSUABLE, names } })).toEqual(['the names of the certificate to order'])
    expect(now({ certificate: { ...ISSUABLE, directory } })).toEqual(['the certificate authority'])
    expect(now({ certificate: { ...ISSUABLE, names, directory } })).toEqual([
      'the names of the certificate to order',
      'the certificate authority',
    ])
  })

  test('the order of the steps, where a certificate is ordered by another challenge', () => {
    const settings = { ...SETTINGS, challenge: 'http-01' } as const
    expect(now({}, settings)).toEqual(['the order of the steps'])
    expect(now({ certificate: INSTALLED }, settings)).toEqual([])
  })
})

describe('the digest', () => {
  test('is the same for the same and another for any difference', () => {
    const { digest } = planFor()
    expect(planFor().digest).toBe(digest)
    expect(planFor({}, { health: { kind: 'healthy', httpStatus: 204, latencyMs: 9 } }).digest).toBe(digest)
    for (const other of [
      { port: 3001 },
      { server: '253' },
      { health: '/' },
      { subdomain: 'other' },
      { tls: false },
      { expiresIn: 300 },
    ]) {
      expect(planFor(other).digest).not.toBe(digest)
    }
    expect(planFor({}, { certificate: { kind: 'not_required' } }).digest).not.toBe(digest)
  })

  test('covers the steps: the challenge makes a difference where a certificate is ordered, and nowhere else', () => {
    const digestWith = (challenge: PlanSettings['challenge'], seen: Partial<Observation> = {}) => {
      const settings = { ...SETTINGS, challenge }
      return propose(resolveRequest(REQUEST, settings), { ...WELL, ...seen }, settings).digest
    }
    expect(digestWith('http-01')).not.toBe(digestWith('dns-01'))
    const reuse = { certificate: INSTALLED }
    expect(digestWith('http-01', reuse)).toBe(digestWith('dns-01', reuse))
  })
})

describe('the grammar of a health path', () => {
  const grammar = new RegExp(HEALTH_GRAMMAR, 'u')
  test.each(['/', '/healthz', '/a/b?c=d&e=%20', '/a;b=c', '/~x/@y:z!$&()*+,=[]'])('%s is one', (path) => {
    expect(grammar.test(path)).toBe(true)
  })
  test.each([
    '',
    'healthz',
    '//evil',
    '/a b',
    '/a\n',
    '/a\r\nHost: x',
    '/a\0',
    '/{',
    '/}',
    '/"',
    "/'",
    '/`',
    '/<',
    '/>',
    '/\\',
    '/^',
    '/|',
    '/#',
    '/é',
  ])('%j is none', (path) => {
    expect(grammar.test(path)).toBe(false)
  })
})
