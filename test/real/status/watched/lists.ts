import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launcher } from '../../../../lab/checkout.ts'
import { startWebBackend } from '../../../support/backends/web-backend.ts'
import { addOwnHosts } from '../../../support/edge/foreign-hosts.ts'
import { follow } from '../../../support/http/event-stream.ts'
import { applied, removed } from '../../../support/lab/exposure.ts'
import { housekeeping, untilChecked } from '../../../support/lab/housekeeping.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { withStore } from '../../../support/lab/lab-store.ts'
import { until } from '../../../support/until.ts'

/** What the lists, streams and metrics tell of four hosts that were not made here, and of some that come and go. */
export function lists(given: () => TestLab): void {
  let lab: TestLab
  let takeOwnHosts: (() => void) | undefined

  beforeAll(async () => {
    lab = given()
    takeOwnHosts = await addOwnHosts(
      lab,
      (edge) => `
  server { listen ${edge}:8080; server_name a.lab.test b.lab.test xn--mnchen-3ya.lab.test; return 204; }
  server { listen ${edge}:8080; server_name busy.lab.test; return 503; }
`,
    )
    await untilChecked(
      lab,
      'all four hosts were checked since nginx has them',
      async () => (await hosts('?badge=RUNNING')).matched === 3 && (await hosts('?badge=HTTP%20503')).matched === 1,
    )
  })

  afterAll(() => takeOwnHosts?.())

  const hosts = async (query = '', from = 'internal') => (await lab.call({ path: `/api/hosts${query}`, from })).body
  const namesOf = (body: { hosts: { host: string }[] }) => body.hosts.map(({ host }) => host)
  const health = (host: string) => lab.call({ path: `/api/health?host=${host}` })

  describe('GET /api/health', () => {
    test.each([
      'a.lab.test',
      'A.Lab.TEST',
      'a.lab.test.',
      encodeURIComponent('münchen.lab.test'),
      'XN--MNCHEN-3YA.lab.test',
    ])('%s is found', async (spelling) => {
      const { status, body } = await health(spelling)
      expect(status).toBe(200)
      expect(body).toMatchObject({ badge: 'RUNNING', managed: false, lastCheck: { ok: true, httpStatus: 204 } })
      expect(body.host).toMatch(/^(?:a|xn--mnchen-3ya)\.lab\.test$/)
    })

    test.each([
      '',
      '..',
      'a..lab.test',
      'a%20b',
      'a/b',
      '-a.test',
      '%00',
      'a%0ab.test',
      '127.1%5C',
      'a'.repeat(64),
      `${'a.'.repeat(130)}b`,
    ])('host=%s is malformed', async (spelling) => {
      const { status, body } = await health(spelling)
      expect([status, body.code]).toEqual([400, 'invalid_request'])
    })

    test('without a host, or with two, it is refused', async () => {
      for (const path of ['/api/health', '/api/health?host=a.lab.test&host=b.lab.test', '/api/health?name=a']) {
        expect((await lab.call({ path })).body.code).toBe('invalid_request')
      }
    })

    test('a host that nobody serves may be planned', async () => {
      const { status, body } = await health('nobody.lab.test')
      expect([status, body.code]).toEqual([404, 'host_not_found'])
      expect(body.nextAction).toMatch(/not exposed\. Plan it/)
    })
  })

  describe('GET /api/hosts', () => {
    test('filters, sorts and pages', async () => {
      const all = await hosts()
      expect(all).toMatchObject({
        total: 4,
        matched: 4,
        nextCursor: null,
        counts: { RUNNING: 3, 'HTTP 503': 1 },
        servers: [],
      })
      expect(namesOf(all)).toEqual(['a.lab.test', 'b.lab.test', 'busy.lab.test', 'xn--mnchen-3ya.lab.test'])
      expect(namesOf(await hosts('?search=BUS'))).toEqual(['busy.lab.test'])
      expect(namesOf(await hosts('?badge=HTTP%20503,DOWN'))).toEqual(['busy.lab.test'])
      expect(namesOf(await hosts('?managed=true'))).toEqual([])
      expect(namesOf(await hosts('?sort=badge')).at(0)).toBe('busy.lab.test')
      expect(namesOf(await hosts('?sort=host&order=desc')).at(-1)).toBe('a.lab.test')
      for (const sort of ['host', 'badge', 'server', 'since', 'latency', 'uptime']) {
        const seen: string[] = []
        for (let cursor: string | null = ''; cursor !== null; ) {
          const page = await hosts(`?sort=${sort}&limit=1${cursor && `&cursor=${cursor}`}`)
          expect(page.matched).toBe(4)
          seen.push(...namesOf(page))
          cursor = page.nextCursor
        }
        // Latencies change while one turns the pages; nothing else does.
        if (sort !== 'latency') expect(seen.toSorted(), sort).toEqual(namesOf(all))
      }
    })

    test.each([
      '?limit=0',
      '?limit=10001',
      '?sort=colour',
      '?cursor=nonsense',
      '?cursor=W10',
      '?badge=x&badge=y',
      '?colour=1',
    ])('%s is refused', async (query) => {
      expect((await lab.call({ path: `/api/hosts${query}` })).body.code).toBe('invalid_request')
    })

    test('is not sent again while nothing has changed', async () => {
      await until('one comes before the next check', async () => {
        const { headers } = await lab.call({ path: '/api/hosts' })
        const again = { 'if-none-match': String(headers.etag) }
        const { status, text } = await lab.call({ path: '/api/hosts', headers: again })
        const other = await lab.call({ path: '/api/hosts', headers: again, from: 'public' })
        expect(other.status).toBe(200)
        return status === 304 && text === ''
      })
    })
  })

  test('GET /api/hosts/events tells of hosts and badges, and goes on where a client stopped', async () => {
    let status = 200
    await using backend = await startWebBackend(lab, (_request, response) => response.writeHead(status).end())
    const stream = follow(lab, '/api/hosts/events')
    await until('the stream is open', () => stream.contentType() !== undefined)
    const { host, planId } = await applied(lab, { subdomain: 'told', port: backend.port })
    const badges = () => stream.events.filter(({ event, data }) => event === 'badge' && data.host === host)
    await until('it is running', () => badges().some(({ data }) => data.badge === 'RUNNING'))
    expect(stream.contentType()).toBe('text/event-stream; charset=utf-8')
    expect(stream.events.some(({ event }) => event === 'hosts')).toBe(true)
    expect(badges().at(-1)?.data).toMatchObject({ host, server: '25', managed: true, planId })
    const last = badges().at(-1)?.id
    stream.close()
    status = 500
    await untilChecked(lab, 'it is not well', async () => (await health(host)).body.badge === 'HTTP 500')
    const resumed = follow(lab, '/api/hosts/events', last)
    await until('what was missed has come', () => resumed.events.some(({ event }) => event === 'hosts'))
    expect(resumed.events.map(({ data }) => data.badge)).toEqual(['HTTP 500', undefined])
    resumed.close()
    await removed(lab, planId)
    const told = await withStore(lab, (store) => store.readEvents(0, 100))
    const changes = told.filter((event) => event.type === 'host.badge' && event.host === host)
    expect(changes.map(({ facts }) => facts.badge)).toEqual(['RUNNING', 'HTTP 500'])
    expect(changes[1]).toMatchObject({ planId, facts: { before: 'RUNNING', httpStatus: 500, reason: null } })
  })

  describe('a host that is muted', () => {
    const mute = (host: string, body: object = {}, from = 'internal', act = 'mute') =>
      lab.call({ path: `/api/hosts/${host}/${act}`, body, from })
    const rowOf = async (host: string, from = 'internal') =>
      (await hosts(`?search=${host}`, from)).hosts[0] as { badge: string; muted?: { by: string } }
    const eventsOf = async (host: string) =>
      (await withStore(lab, (store) => store.readEvents(0, 1_000))).filter((event) => event.host === host)

    test('is checked, shows it inside, and its events wake nobody', async () => {
      const stream = follow(lab, '/api/hosts/changes')
      await until('the stream is open', () => stream.events.length > 0)
      const { status, body } = await mute('Busy.lab.test', { expiresIn: 3600, note: 'moves' })
      expect([status, body]).toMatchObject([200, { host: 'busy.lab.test', muted: { note: 'moves' } }])
      expect(Date.parse(body.muted.until) - Date.parse(body.muted.since)).toBe(3_600_000)
      expect(await rowOf('busy.lab.test')).toMatchObject({ badge: 'HTTP 503', muted: body.muted })
      expect((await health('busy.lab.test')).body.muted).toEqual(body.muted)
      expect(await rowOf('busy.lab.test', 'public')).not.toHaveProperty('muted')
      expect(namesOf(await hosts('?muted=true'))).toEqual(['busy.lab.test'])
      expect((await hosts('?muted=true', 'public')).matched).toBe((await hosts()).total)
      await until('the row is told', () => stream.events.some(({ data }) => data.muted?.note === 'moves'))
      stream.close()
      const checkedAt = (await health('busy.lab.test')).body.checkedAt
      await housekeeping(lab, 'check')
      expect((await health('busy.lab.test')).body.checkedAt > checkedAt).toBe(true)
      expect((await mute('busy.lab.test', {}, 'internal', 'unmute')).body).toEqual({
        host: 'busy.lab.test',
        muted: null,
      })
      expect((await mute('busy.lab.test', {}, 'internal', 'unmute')).status).toBe(200)
      expect(await rowOf('busy.lab.test')).not.toHaveProperty('muted')
      expect((await eventsOf('busy.lab.test')).map(({ type }) => type).slice(-2)).toEqual([
        'host.muted',
        'host.unmuted',
      ])
      const audit = await withStore(lab, (store) => store.readAudit(0, 1_000))
      const lines = audit.filter(({ host, outcome }) => host === 'busy.lab.test' && outcome === 'ok')
      expect(lines.map(({ action }) => action)).toEqual(['mute', 'unmute'])
    })

    test('ends when its time is over, and with its exposure', async () => {
      await mute('b.lab.test', { expiresIn: 1 })
      await until('it is over', async () =>
        (await eventsOf('b.lab.test')).some(({ type, facts }) => type === 'host.unmuted' && facts.ended === true),
      )
      expect(await rowOf('b.lab.test')).not.toHaveProperty('muted')
      const { host, planId } = await applied(lab, { subdomain: 'hushed' })
      await mute(host)
      await removed(lab, planId)
      expect((await withStore(lab, (store) => store.readMutes())).size).toBe(0)
    })

    test('is not muted from outside, under no name, with no other body', async () => {
      expect((await mute('a.lab.test', {}, 'public')).body.code).toBe('internal_network_required')
      expect((await mute('a.lab.test', {}, 'public', 'unmute')).body.code).toBe('internal_network_required')
      expect((await mute('nobody.lab.test')).body.code).toBe('host_not_found')
      expect((await mute('nobody..test')).body.code).toBe('invalid_request')
      for (const json of [{ expiresIn: 0 }, { expiresIn: 1.5 }, { expiresIn: 4e9 }, { note: 'a\nb' }, { until: 'x' }])
        expect((await mute('a.lab.test', json)).body.code).toBe('invalid_request')
      expect((await withStore(lab, (store) => store.readMutes())).size).toBe(0)
    })
  })

  test('drawbridge status --watch tells how hosts do, then every change, even after the service was away', async () => {
    let status = 200
    await using backend = await startWebBackend(lab, (_request, response) => response.writeHead(status).end())
    const { host, planId } = await applied(lab, { subdomain: 'watched', port: backend.port })
    expect((await health(host)).body.badge).toBe('RUNNING')
    const watching = spawn(launcher(), ['status', '--watch', '--url', lab.description.api], { stdio: 'pipe' })
    const ended = once(watching, 'close')
    let told = ''
    watching.stdout.setEncoding('utf8').on('data', (part: string) => {
      told += part
    })
    const badges = () => [...told.matchAll(/watched\.lab\.test {2}(.+)/g)].map(([, badge]) => badge)
    try {
      await until('all hosts are told', () => told.includes('busy.lab.test  HTTP 503') && badges().length === 1)
      status = 500
      await housekeeping(lab, 'check')
      await until('a change is told', () => badges().length === 2)
      await lab.restartService()
      status = 200
      await housekeeping(lab, 'check')
      await until('it goes on with a service that came back', () => badges().length === 3)
      expect(badges()).toEqual(['RUNNING', 'HTTP 500', 'RUNNING'])
    } finally {
      watching.kill('SIGINT')
      await ended
    }
    await removed(lab, planId)
  })

  describe('/metrics', () => {
    const metrics = async () => (await lab.call({ path: '/metrics' })).text

    test('are for callers inside', async () => {
      const { status, body } = await lab.call({ path: '/metrics', from: 'public' })
      expect([status, body.code]).toEqual([403, 'internal_network_required'])
    })

    test('tell of hosts, checks, runs and refusals', async () => {
      await lab.call({
        path: '/api/deploy/plan',
        body: { zone: 'lab.test', subdomain: 'x', server: '9', port: 1, health: '/', tls: false },
      })
      const { planId } = await applied(lab, { subdomain: 'counted' })
      await removed(lab, planId)
      const text = await metrics()
      for (const line of [
        'drawbridge_host_badge{host="busy.lab.test",badge="HTTP 503",managed="false"} 1',
        'drawbridge_plan_refusals_total{code="server_not_allowed"} 1',
        'drawbridge_queue_length{queue="checks"} ',
        'drawbridge_queue_length{queue="runs"} 0',
        'drawbridge_check_duration_seconds_count{outcome="ok"} ',
        'drawbridge_run_steps_total{step="proxy",outcome="done"} ',
        'drawbridge_runs_total{action="remove",outcome="succeeded"} ',
      ]) {
        expect(text).toContain(line)
      }
    })

    const namesIn = (file: string) => new Set(readFileSync(file, 'utf8').match(/\b(?:drawbridge|process|nodejs)_\w+/g))

    test.each(['docs/grafana-dashboard.json', 'docs/alerts.yaml'])('have every name that %s uses', async (file) => {
      const used = namesIn(file)
      const text = await metrics()
      const exported = new Set(
        [...text.matchAll(/^# TYPE (\S+) (\w+)/gm)].flatMap(([, name = '', type]) =>
          type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
        ),
      )
      expect(used.size).toBeGreaterThan(8)
      expect([...used].filter((name) => !exported.has(name))).toEqual([])
    })

    test('are all on the dashboard and in the documentation', async () => {
      const names = [...(await metrics()).matchAll(/^# TYPE (drawbridge_\w+)/gm)].map(([, name = '']) => name)
      const [dashboard, page] = ['docs/grafana-dashboard.json', 'docs/status.md'].map((file) =>
        readFileSync(file, 'utf8'),
      )
      expect(names.filter((name) => !dashboard?.includes(name))).toEqual([])
      expect(names.filter((name) => !page?.includes(name))).toEqual([])
    })

    test('tell how the installation stands', async () => {
      const text = await metrics()
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
      for (const line of [
        `drawbridge_build_info{version="${version}",node="`,
        'drawbridge_unfinished_runs{state="blocked"} 0',
        'drawbridge_edge_ready{server="23"} 1',
        'drawbridge_edge_in_step{server="73"} 1',
        'drawbridge_renewals_failing 0',
        'drawbridge_authority_paused_seconds 0',
        'drawbridge_disk_free_bytes{folder="edge 23"} ',
        'drawbridge_store_latency_seconds 0.',
      ])
        expect(text).toContain(line)
      // Whole seconds of one clock, read a moment apart.
      expect(text).toMatch(/^drawbridge_clock_offset_seconds\{zone="lab\.test"\} [01]$/m)
    })

    test('the rules of docs/alerts.yaml are what Prometheus reads', async () => {
      const { stdout } = await promisify(execFile)('promtool', ['check', 'rules', 'docs/alerts.yaml'])
      expect(stdout).toContain('SUCCESS: 14 rules found')
    })
  })
}
