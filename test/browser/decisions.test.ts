import { describe, expect, test } from 'vitest'
import { ERRORS } from '../../src/model/errors.ts'
import { activityOf, matchingActivity } from '../../web/activity/activity.ts'
import type { HostRow } from '../../web/api/hosts.ts'
import type { Plan, RunEvent } from '../../web/api/plans.ts'
import type { Policy } from '../../web/api/policy.ts'
import { shifted } from '../../web/api/strips.ts'
import { wholeWay } from '../../web/diagnosis/way.ts'
import { nextStep } from '../../web/parts/next-step.ts'
import { cliCommand, curlCommands, nextAction } from '../../web/plan/commands.ts'
import { contrastsOf } from '../../web/plan/contrasts.ts'
import { checkField, type Draft, draftOf, requestOf } from '../../web/plan/draft.ts'
import { errorsIn, optionsOf, textsOf } from '../../web/plan/option-texts.ts'
import { refusedFields } from '../../web/plan/refused.ts'
import { allowedActs, deedsOfAct, shortHash } from '../../web/repair/acts.ts'
import { expectedSteps, runView } from '../../web/run/steps.ts'
import { screenAt } from '../../web/shell/location.ts'
import { attentionOf, isRed, verdictOf } from '../../web/status/attention.ts'
import { badgeCounts, inOrder, matching, valuesOf, WHOLE_VIEW } from '../../web/status/host-list.ts'

/** The logic of the page, without a browser. */
const row = (host: string, badge: string, server: string | null = '25'): HostRow => ({
  host,
  badge,
  server,
  managed: true,
  tls: true,
  url: `https://${host}/`,
  since: null,
  checkedAt: null,
  latencyMs: null,
  uptime24h: null,
  strip: '-'.repeat(48),
  latencies: [],
  certificate: null,
  expiresAt: null,
})
const ROWS = [
  row('b.test', 'RUNNING'),
  row('c.test', 'HTTP 502', '253'),
  row('a.test', 'RUNNING'),
  row('d.test', 'DOWN', null),
]

describe('the list of hosts', () => {
  const names = (change: Partial<typeof WHOLE_VIEW>) => {
    const view = { ...WHOLE_VIEW, ...change }
    return matching(inOrder(ROWS, view), view).map(({ host }) => host[0])
  }

  test('shows the worst state first, then sorts by name', () => {
    expect(names({})).toEqual(['d', 'c', 'a', 'b'])
    expect(names({ descending: true })).toEqual(['a', 'b', 'c', 'd'])
  })

  test('can be searched, filtered and sorted', () => {
    expect(names({ search: ' A.T' })).toEqual(['a'])
    expect(names({ search: '253' })).toEqual(['c'])
    expect(names({ badge: ['RUNNING'], sort: 'host', descending: true })).toEqual(['b', 'a'])
    expect(names({ server: ['25'] })).toEqual(['a', 'b'])
    expect(names({ sort: 'server' })).toEqual(['a', 'b', 'c', 'd'])
  })

  test('counts the hosts of each filter', () => {
    expect(badgeCounts(ROWS)).toEqual([
      ['DOWN', 1],
      ['HTTP 502', 1],
      ['RUNNING', 2],
    ])
    expect(valuesOf([...ROWS, row('e.test', 'DOWN', '23')], 'server')).toEqual(['23', '25', '253', 'none'])
    expect(names({ server: ['25', 'none'], badge: ['RUNNING', 'DOWN'] })).toEqual(['d', 'a', 'b'])
    expect(names({ managed: ['unmanaged'] })).toEqual([])
  })
})

describe('the activity', () => {
  const lines = activityOf(
    [
      {
        ...{ seq: 7, at: '2026-01-01T00:00:02Z', actor: '10.0.0.1', network: 'internal', action: 'apply' },
        ...{ outcome: 'refused', code: 'plan_stale', host: 'a.test', previous: '', hash: '' },
      } as const,
    ],
    [
      {
        ...{ id: 'evt_1', seq: 3, type: 'host.badge', timestamp: '2026-01-01T00:00:03Z' },
        data: { host: 'b.test', facts: { before: 'RUNNING', badge: 'DOWN', httpStatus: null, reason: 'timeout' } },
      } as const,
    ],
  )
  const titles = (filter: object) =>
    matchingActivity(lines, { kind: '', outcome: '', search: '', ...filter }).map(({ title }) => title)

  test('has actions and events, newest first, and can be filtered', () => {
    expect(lines.map(({ title, detail }) => [title, detail])).toEqual([
      ['host.badge', 'RUNNING → DOWN'],
      ['apply', 'plan_stale'],
    ])
    expect(titles({ kind: 'event' })).toEqual(['host.badge'])
    expect(titles({ outcome: 'refused' })).toEqual(['apply'])
    expect(titles({ search: 'B.TEST' })).toEqual(['host.badge'])
    expect(titles({ search: '10.0.0' })).toEqual(['apply'])
  })
})

describe('what needs attention', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const on = (change: Partial<HostRow>) => attentionOf({ ...row('a.test', 'RUNNING'), ...change }, now)

  test('is the badge, a failed rollback, the Secondary, the certificate and the end, worst first', () => {
    expect(on({})).toEqual([])
    expect(
      on({
        badge: 'HTTP 502',
        blocked: true,
        secondary: 'missing',
        certificate: { notAfter: '2026-01-04T00:00:00Z', level: 'critical' },
        expiresAt: '2026-01-01T01:00:00Z',
      }).map(({ words }) => words),
    ).toEqual(['Blocked', 'HTTP 502', 'Missing on the Secondary', 'Certificate ends in 3 d', 'Removed in 1 h'])
    expect(verdictOf([...ROWS], now)).toBe('2 of 4 hosts need attention')
    expect(ROWS.filter(isRed)).toHaveLength(2)
    const muted = { since: null, until: null, by: 'configuration' }
    const some = ROWS.map((one) => (one.badge === 'DOWN' ? { ...one, muted } : one))
    expect(verdictOf(some, now)).toBe('1 of 4 hosts needs attention, 1 muted')
    expect(some.filter(isRed)).toHaveLength(1)
    expect(verdictOf([{ ...row('d.test', 'DOWN'), muted }], now)).toBe('No host of 1 needs attention, 1 muted')
  })

  test('a request that fails alone is the broken link of the chain', () => {
    const link = { link: 'dns' as const, ok: true, detail: '' }
    expect(wholeWay([link], 'RUNNING')).toHaveLength(1)
    expect(wholeWay([link], 'HTTP 502').at(-1)).toMatchObject({ link: 'request', ok: false })
    expect(wholeWay([{ ...link, ok: false }], 'HTTP 502')).toHaveLength(1)
  })

  test('half hours without news are like the last one', () => {
    expect(shifted({ strip: `${'-'.repeat(46)}90`, badge: 'RUNNING' }, 1)).toBe(`${'-'.repeat(45)}909`)
    expect(shifted({ strip: '9'.repeat(48), badge: 'DOWN' }, 100)).toHaveLength(48)
  })
})

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
      ['HTTPS', 'No', 'Stays as it is', false],
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
    expect(formerly(request)).toBe('None: served by plain HTTP')
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
    expect(requestOf(draftOf(former.request))).toEqual(former.request)
  })
})

describe('a run', () => {
  const event = (at: number, name: RunEvent['name'], step: string, more = {}): RunEvent => ({
    id: `run.${at}`,
    name,
    step,
    at: new Date(at).toISOString(),
    ...more,
  })
  const plan: Pick<Plan, 'steps'> = { steps: ['check', 'backup', 'proxy', 'dns', 'certificate', 'proxy-tls', 'verify'] }

  test('shows finished, running and future steps', () => {
    const events = [
      event(0, 'started', 'run'),
      event(1, 'started', 'check'),
      event(5, 'done', 'check'),
      event(6, 'started', 'backup'),
    ]
    const { steps, ended } = runView(events, expectedSteps('apply', plan), 106)
    expect(steps.map(({ name, status, ms }) => [name, status, ms])).toEqual([
      ['check', 'done', 4],
      ['backup', 'running', 100],
      ['proxy', 'waiting', undefined],
      ['dns', 'waiting', undefined],
      ['certificate', 'waiting', undefined],
      ['proxy-tls', 'waiting', undefined],
      ['verify', 'waiting', undefined],
    ])
    expect(expectedSteps('remove', plan)).toEqual(['backup', 'dns', 'proxy'])
    expect(expectedSteps('accept', plan)).toEqual(['backup', 'proxy', 'dns'])
    expect(expectedSteps('repair', plan)).toEqual([])
    expect(ended).toBeUndefined()
  })

  test('that fails shows its undo, and no future steps', () => {
    const events = [
      event(1, 'started', 'check'),
      event(2, 'done', 'check'),
      event(3, 'started', 'proxy'),
      event(4, 'failed', 'proxy', { detail: 'No.' }),
      event(5, 'undoing', 'proxy'),
      event(7, 'undone', 'proxy'),
      event(9, 'end', 'run', { state: 'rolled_back' }),
    ]
    const view = runView(events, expectedSteps('apply', plan), 0)
    expect(view.steps.map(({ name, status, detail }) => [name, status, detail])).toEqual([
      ['check', 'done', undefined],
      ['proxy', 'failed', 'No.'],
    ])
    expect(view.undos).toEqual([{ name: 'proxy', status: 'undone', ms: 2, detail: undefined }])
    expect([view.ended, view.ms, view.hasFailed]).toEqual(['rolled_back', 8, true])
  })
})

describe('what can be done about a host that is not as it was applied', () => {
  const may = (...rights: string[]) => ({ caller: { network: 'internal', may: rights } }) as unknown as Policy
  const edited = { part: 'entry', field: 'hosts/a.conf', expected: 'x', found: 'y', overwrite: true } as const
  const gone = { part: 'record', field: 'a.test A', expected: 'x', found: 'missing', overwrite: false } as const

  test('is offered only to callers who may do it', () => {
    const acts = ['repair', 'overwrite', 'accept', 'renew'] as const
    expect(allowedActs(acts, may('read', 'repair'))).toEqual(['repair', 'overwrite'])
    expect(allowedActs(acts, may('read', 'accept', 'renew'))).toEqual(['accept', 'renew'])
    expect(allowedActs(acts, may('read', 'plan'))).toEqual([])
  })

  test('is told before it is done', () => {
    const told = (act: Parameters<typeof deedsOfAct>[0]) => deedsOfAct(act, 'a.test', [edited, gone]).join(' ')
    expect(told('repair')).toMatch(/^a\.test A is written again.*put back\.$/)
    expect(told('repair')).not.toContain('hosts/a.conf')
    expect(told('overwrite')).toMatch(/^hosts\/a\.conf is overwritten\..*lost\. a\.test A is written again/)
    expect(told('accept')).toMatch(/stays on the air.*owner mark.*nobody renews/)
    expect(told('renew')).toMatch(/order budget.*without a gap/)
  })

  test('shows enough of a hash', () => {
    expect(shortHash(`sha256:${'a'.repeat(64)}`)).toBe('sha256:aaaaaaaaaaaa…')
    expect(shortHash('192.0.2.1')).toBe('192.0.2.1')
  })
})

test('no next step on the page is an HTTP call', () => {
  const told = Object.entries(ERRORS).map(([code, { nextAction }]) => nextStep({ code, nextAction }))
  expect(told.filter((sentence) => /\b(?:GET|POST) \//.test(sentence))).toEqual([])
  expect(nextStep({ code: 'a_newer_code', nextAction: 'Do this.' })).toBe('Do this.')
})

test('commands to paste get their own capability', () => {
  const policy = { capability: { header: 'x-deploy-capability' } } as Policy
  const text = curlCommands('plan_x', 'remove', 'http://here', policy)
  expect(text).toContain(`-d '{"planId":"plan_x","action":"remove"}'`)
  expect(text).toContain('x-deploy-capability: $RIGHT')
  expect(cliCommand('plan_x', nextAction({ state: 'applied' }), 'http://here')).toBe(
    'drawbridge remove plan_x --url http://here',
  )
  expect(nextAction({ state: 'planned' })).toBe('apply')
})

test.each([
  ['/', { name: 'status' }],
  ['/hosts/Hello.lab.test', { name: 'status', host: 'hello.lab.test' }],
  ['/plans', { name: 'plans' }],
  ['/plans/plan_1', { name: 'one-plan', planId: 'plan_1' }],
  ['/plans/plan_1/change', { name: 'change', planId: 'plan_1' }],
  ['/plan', { name: 'plan' }],
  ['/help', { name: 'help' }],
  ['/help/more', { name: 'not-found' }],
  ['/plans/a/b', { name: 'not-found' }],
  ['/other', { name: 'not-found' }],
])('%s is a screen', (path, screen) => {
  expect(screenAt(path)).toEqual(screen)
})
