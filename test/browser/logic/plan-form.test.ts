import { describe, expect, test } from 'vitest'
import type { Plan } from '../../../web/api/plans.ts'
import type { Policy } from '../../../web/api/policy.ts'
import { contrastsOf } from '../../../web/plan/contrasts.ts'
import { checkField, type Draft, draftOf, requestOf } from '../../../web/plan/draft.ts'
import { errorsIn, optionsOf, textsOf } from '../../../web/plan/option-texts.ts'
import { refusedFields } from '../../../web/plan/refused.ts'

describe('the plan form', () => {
  const policy = {
    zones: ['lab.test'],
    servers: { targets: ['23', '25'], primary: '23', secondary: null },
    ports: {
      allowed: [
        [80, 80],
        [1024, 65_535],
      ],
      denied: [8045],
      deniedOn: { '23': [80] },
    },
    health: { pattern: '^/(?!/)[a-z]*$', timeoutSeconds: 3 },
  } as unknown as Policy
  const draft: Draft = {
    subdomain: 'hello',
    zone: 'lab.test',
    server: '25',
    port: '3000',
    health: '/healthz',
    tls: true,
    expiresIn: '',
    options: '',
    owner: '',
    note: '',
  }
  const says = (change: Partial<Draft>) => {
    const [field] = Object.keys(change) as (keyof Draft)[]
    return field && checkField(field, { ...draft, ...change }, policy)
  }

  test.each([
    [{ subdomain: 'HELLO-1' }, undefined],
    [{ subdomain: '' }, /first part/],
    [{ subdomain: 'a.b' }, /One label/],
    [{ subdomain: '-a' }, /hyphen/],
    [{ subdomain: 'a'.repeat(64) }, /63/],
    [{ port: '80' }, undefined],
    [{ port: '80', server: '23' }, /reserved for Drawbridge/],
    [{ port: '8045' }, /reserved for Drawbridge/],
    [{ port: '81' }, /not allowed. Allowed: 80, 1024–65535/],
    [{ port: 'x' }, /number/],
    [{ health: '/up' }, undefined],
    [{ health: 'up' }, /begins with/],
    [{ health: '/U' }, /Visible/],
    [{ zone: 'other.test' }, /zones/],
    [{ server: '99' }, /target servers/],
  ] as const)('%o', (change, words) => {
    if (words) expect(says(change)).toMatch(words)
    else expect(says(change)).toBeUndefined()
  })

  test('a refusal is assigned to the fields that caused it, each with its own advice', () => {
    const refused = refusedFields(
      {
        type: '',
        title: '',
        status: 422,
        code: 'backend_unhealthy',
        detail: '',
        retryable: true,
        nextAction: 'Start it.',
        requestId: '',
        checks: [
          { name: 'health', status: 'failed', detail: 'It is ill.' },
          { name: 'dns', status: 'failed', detail: 'It is taken.', by: 'record', types: ['A'] },
          { name: 'certificate', status: 'passed', detail: 'Fine.' },
          { name: 'proxy', status: 'failed', detail: 'It is broken.', by: 'configuration' },
        ],
        errors: [{ field: 'port', message: 'must be a number' }],
      },
      draft,
    )
    expect(refused).toEqual({
      health: 'It is ill. Start it.',
      subdomain: expect.stringMatching(/^It is taken. Choose another subdomain/),
      port: 'This must be a number.',
    })
  })
})

describe('a plan that replaces another one', () => {
  const request = { zone: 'lab.test', subdomain: 'hello', server: '25', port: 3000, health: '/', tls: false }
  const proxy = {
    kind: 'proxy',
    action: 'update',
    serverName: 'hello.lab.test',
    target: 'http://x:1',
    https: false,
  } as const
  const former = { request: { ...request, expiresIn: 3600 }, changes: [] }
  const plan = { request: { ...request, port: 3001, expiresIn: 3600, replaces: 'plan_1' }, changes: [proxy] }

  test('shows what changes and what stays', () => {
    expect(contrastsOf(plan, former).map(({ what, before, after, isNew }) => [what, before, after[0], isNew])).toEqual([
      ['Backend', 'Server 25, port 3000', 'Server 25, port 3001', true],
      ['Health path', '/', 'Stays as it is', false],
      ['HTTPS', 'Off', 'Stays as it is', false],
      ['DNS', 'Record of the name', 'Stays as it is', false],
      ['Removes itself', '1 h after its apply', '1 h after this apply', true],
    ])
    expect(contrastsOf(plan)).toEqual([])
  })

  test('shows before a first apply what the checks found', () => {
    const first = { request, changes: [{ ...proxy, action: 'create' as const }] }
    const before = (checks: Plan['checks']) => contrastsOf({ ...first, checks }).map((contrast) => contrast.before)
    expect(before([])).toEqual(['Not known', 'Not known', 'Not known'])
    expect(
      before([
        { name: 'dns', status: 'passed', detail: '', types: [], wildcardTypes: ['A'] },
        { name: 'certificate', status: 'not_required', detail: '' },
        { name: 'proxy', status: 'passed', detail: '' },
      ]),
    ).toEqual([
      'Not looked for: HTTPS was not requested',
      'No server block for this name',
      'No own record; a wildcard answers A',
    ])
  })

  test('shows the certificate that is there before it, and not a constant', () => {
    const issue = { kind: 'certificate', action: 'issue', names: ['a.test'] } as const
    const reuse = { ...issue, action: 'reuse', notAfter: '2027-01-01T00:00:00Z' } as const
    const secure = { ...request, tls: true }
    const before = (changes: Plan['changes'], check: object) =>
      contrastsOf({
        request: secure,
        changes,
        checks: [{ name: 'certificate', status: 'passed', detail: '', ...check }],
      })[0]?.before
    expect(before([issue], { source: 'acme' })).toBe('No installed certificate covers the name')
    expect(before([reuse], { source: 'installed', notAfter: '2027-01-01T00:00:00Z' })).toMatch(
      /^Installed, valid until 1 Jan 2027/,
    )
    const change = { request: { ...secure, replaces: 'plan_1' }, changes: [issue] }
    const formerly = (one: Plan['request'], changes: Plan['changes'] = []) =>
      contrastsOf(change, { request: one, changes }).find(({ what }) => what === 'Certificate')?.before
    expect(formerly(request)).toBe('none (HTTP)')
    expect(formerly(secure, [{ ...issue, names: ['*.test'] }])).toBe('That of the former plan: *.test')
  })

  test('keeps every option through the controls of the form', () => {
    const options = {
      maxBody: '5m',
      timeouts: { connect: 3, read: 9, send: 7 },
      websocket: false,
      buffering: false,
      headers: { hsts: { maxAge: 9, includeSubDomains: true, preload: true }, frameOptions: 'DENY' },
      allow: ['10.0.0.0/8', '2001:db8::/32'],
      basicAuth: 'office',
      backendTls: { authority: 'inside', name: 'app.test' },
      backends: [{ server: '25', port: 8081 }],
      maintenance: { retryAfter: 60 },
      snippets: ['cors'],
    } as const
    expect(optionsOf(textsOf(options))).toEqual(options)
    expect(errorsIn(textsOf(options))).toEqual({})
    expect(optionsOf({})).toBeUndefined()
    expect(
      errorsIn({ maxBody: '5 MB', 'timeouts.read': 'long', allow: '10.0.0.1', backends: 'x', 'backendTls.name': 'a' }),
    ).toEqual({
      maxBody: expect.stringContaining('such as 50m'),
      'timeouts.read': expect.stringContaining('whole number'),
      allow: expect.stringContaining('Networks such as'),
      backends: expect.stringContaining('whole number'),
      'backendTls.authority': 'This is missing.',
    })
  })

  test('begins with the values of the former one', () => {
    expect(requestOf(draftOf(former.request), false)).toEqual(former.request)
  })

  test('asks for no end where the exposure has none, whatever a kept draft says', () => {
    expect(requestOf({ ...draftOf(request), expiresIn: '3600' }, true)).toEqual(request)
  })
})
