import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import type { EdgeDescription } from '../../../lab/description.ts'
import type { ServiceConfig } from '../../../lab/service-config.ts'
import { SHADOW_PREFIX } from '../../../src/estate/layout.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { startLoad } from '../../support/backends/load.ts'
import { type SwitchedBackend, startSwitchedBackend } from '../../support/backends/switched-backend.ts'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { zoneRecords } from '../../support/dns/zone-transfer.ts'
import { answersOf } from '../../support/edge/sites/questions.ts'
import { SITE_STYLES } from '../../support/edge/sites/site-styles.ts'
import { includeSites, siteFile, type WantedSite, writeSites } from '../../support/edge/sites/written-sites.ts'
import { visit } from '../../support/edge/visitor.ts'
import { editEntry, entryFile, hasEntry } from '../../support/lab/entry-file.ts'
import { applied, expected, granted, planOf, run, runWith } from '../../support/lab/exposure.ts'
import { startTestLab, startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { command } from '../../support/programs/command.ts'
import { onTerminal } from '../../support/programs/pseudo-terminal.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Hand-written sites of a real nginx are taken under management and given back while visitors ask them. */
let lab: TestLab
beforeAll(async () => {
  const options = {
    configure: (config: ServiceConfig) => ({ ...config, adopt: { enabled: true } }),
    deathsAllowed: Number.POSITIVE_INFINITY,
  }
  lab = await (process.env.DRAWBRIDGE_TEST_AGENTS === undefined
    ? startTestLab(options)
    : startWithAgents(options, { adjust: (edge) => ({ ...edge, adopt: { enabled: true } }) }).then((one) => one.lab))
  await includeSites(lab)
})
afterAll(() => lab?.stop())

const primary = () => lab.description.edges.primary
async function written(subdomain: string, style = 0) {
  const host = `${subdomain}.lab.test`
  const [texts = {}] = await writeSites(lab, [{ host, style }])
  return { host, texts, text: texts[primary().server] ?? '' }
}

const planned = async (host: string, more: Record<string, unknown> = {}) =>
  lab.call({ path: '/api/deploy/plan/adopt', body: { host, health: '/healthz', ...more } })

const adopted = async (planId: string) => runWith(lab, await granted(lab, planId, 'adopt'), planId, 'apply')

const recordsOf = async (host: string) =>
  (await zoneRecords(lab)).filter(({ name }) => name.replace(/\.$/, '').endsWith(host))

test('a site is adopted, removed from its file, and released, and no request fails', async () => {
  const { host, text } = await written('calm')
  const load = startLoad(primary(), host, '/healthz', { perSecond: 100 })
  const plan = expected(await planned(host), 201)
  expect(plan.changes.map(({ kind, action }: Record<string, string>) => `${kind} ${action}`)).toEqual([
    'proxy adopt',
    'dns keep',
    'dns create',
  ])
  const refused = await run(lab, plan.planId)
  expect([refused.status, refused.body.code]).toEqual([403, 'capability_invalid'])
  expected(await adopted(plan.planId), 200)
  for (const edge of Object.values(lab.description.edges))
    await until(
      'the site is out of its file',
      async () => !readFileSync(siteFile(edge, host), 'utf8').includes('server {'),
    )
  expect(await recordsOf(host)).toHaveLength(2)
  const [kept] = [readFileSync(join(`${primary().folder}-adopted`, plan.planId, '0.before'), 'utf8')]
  expect(kept).toBe(text)
  const released = expected(await run(lab, plan.planId, 'release'), 200)
  expect(readFileSync(released.file, 'utf8')).toContain(`server_name ${host};`)
  expect((await visit(primary(), { host, path: '/healthz' })).status).toBe(200)
  const { served, failures } = await load.stop()
  expect(failures).toEqual([])
  expect(served).toBeGreaterThan(0)
})

const AGAIN = [
  ['with TLS and a long name', `again-${'long'.repeat(12)}`, true],
  ['plain', 'again', false],
] as const
test.each(process.env.CAMPAIGN ? AGAIN : AGAIN.slice(0, 1))(
  'a released host is adopted and released again and again (%s), and no request fails',
  async (_, subdomain, tls) => {
    const { host, planId } = await applied(lab, { subdomain, tls })
    const load = startLoad(primary(), host, '/healthz', { perSecond: 50, tls })
    for (const held of process.env.CAMPAIGN ? [planId, undefined, undefined] : [planId, undefined]) {
      const { planId: again } = held === undefined ? expected(await planned(host), 201) : { planId: held }
      if (held === undefined) expected(await adopted(again), 200)
      const released = expected(await run(lab, again, 'release'), 200)
      expect(readFileSync(released.file, 'utf8')).toContain('server {')
    }
    const { failures } = await load.stop()
    expect(failures).toEqual([])
  },
)

test('a removal takes the host off the air, and the records that were there stay', async () => {
  const { host } = await written('gone')
  const { planId } = expected(await planned(host), 201)
  expected(await adopted(planId), 200)
  expected(await run(lab, planId, 'remove'), 200)
  expect((await recordsOf(host)).map(({ type }) => type)).toEqual(['A'])
  expect((await visit(primary(), { host, path: '/healthz' })).status).not.toBe(200)
})

test('a site that was edited after the plan is left alone', async () => {
  const { host, text } = await written('moved')
  const { planId } = expected(await planned(host), 201)
  writeFileSync(siteFile(primary(), host), `${text.replace('location / {', 'location / { client_max_body_size 3m;')}`)
  const answer = await adopted(planId)
  expect([answer.status, answer.body.code]).toEqual([409, 'plan_stale'])
  expect(readFileSync(siteFile(primary(), host), 'utf8')).toContain('client_max_body_size 3m;')
  const again = expected(await planned(host), 201)
  expect(again.request.options).toMatchObject({ maxBody: '3m', websocket: false })
})

test('what is lost needs consent, and is told without its text', async () => {
  const { host } = await written('lossy', 7)
  const answer = await planned(host)
  expect([answer.status, answer.body.code]).toEqual([409, 'loss_not_accepted'])
  expect(answer.body.losses.map(({ directive }: { directive: string }) => directive)).toEqual(['access_log', 'gzip'])
  expect(answer.text).not.toContain(dirname(primary().config))
  expected(await planned(host, { acceptLoss: true }), 201)
})

const typed = (line: string, input: string) =>
  onTerminal(`${launcher()} ${line} --url ${lab.description.inside}; echo "code $?"`, {
    input,
    inputAfter: '[y/N]',
    columns: 200,
  })

test('a person sees what becomes of a site, declines, and adopts it with one command', async () => {
  const { host, text } = await written('typed', 7)
  const config = join(lab.state, 'drawbridge.yaml')
  const place = `${join(dirname(primary().config), 'enabled', host)}:4`
  const words = ['adopt', host, '--health', '/healthz', '--yes', '--url', lab.description.inside]
  const without = await command(words)
  expect(without.code).toBe(3)
  expect(without.stderr).toContain('loss_not_accepted')
  expect(without.stderr).toContain('run the command again with --accept-loss')
  expect(without.stderr).toContain('access_log: ')
  expect(without.stderr).not.toContain(place)
  expect((await command([...words, '--config', config])).stderr).toContain(`access_log, ${place}: `)

  const act = `adopt typed --health /healthz --accept-loss --config ${config}`
  const declined = await typed(act, 'n\n')
  expect(declined).toContain(`adopt       ${host}, served from `)
  expect(declined).toContain(`keep        ${host} A 192.0.2.7`)
  expect(declined).toContain('maxBody                 10m')
  expect(declined).toContain('Cannot be carried over, and is lost')
  expect(declined).toContain(`access_log, ${place}: `)
  expect(declined).toContain(`Adopt ${host}? [y/N]`)
  expect(declined).toContain('Nothing was changed.')
  expect(declined).toContain('code 8')
  expect(readFileSync(siteFile(primary(), host), 'utf8')).toBe(text)

  const load = startLoad(primary(), host, '/healthz', { perSecond: 50 })
  const yes = [...act.split(' '), '--yes', '--url', lab.description.inside]
  const adoptedNow = await command(yes, { columns: 200 })
  const { failures } = await load.stop()
  expect(adoptedNow).toMatchObject({ code: 0, stdout: expect.stringContaining(`Adopted: http://${host}`) })
  expect(adoptedNow.stdout).toContain('test and reload nginx')
  expect(failures).toEqual([])
  expect(readFileSync(siteFile(primary(), host), 'utf8')).not.toContain('server {')
  const again = await command([...words, '--accept-loss'])
  expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('host_not_found') })
})

test('a script adopts with --yes, and apply takes a plan that adopts', async () => {
  const { host } = await written('scripted')
  const { inside, outside } = lab.description
  const words = ['adopt', host, '--health', '/healthz']
  expect(await command([...words, '--yes', '--url', outside])).toMatchObject({ code: 3 })
  expect(await command([...words, '--url', inside])).toMatchObject({
    code: 2,
    stderr: `drawbridge: Not a terminal: pass --yes to adopt ${host} without a prompt.\n`,
  })
  const { planId } = expected(await planned(host), 201)
  expect(await command(['apply', planId, '--url', inside])).toMatchObject({ code: 0, stderr: '' })
  expected(await run(lab, planId, 'release'), 200)
  const second = await written('scripted2')
  const done = await command(['adopt', second.host, '--health', '/healthz', '--yes', '--json', '--url', inside])
  expect(done).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(done.stdout)).toMatchObject({ host: second.host, state: 'applied' })

  const released = await command(['release', second.host, '--yes', '--url', inside])
  expect(released).toMatchObject({ code: 0, stderr: '' })
  const [, file = ''] = /Its entry is now in (\S+)/.exec(released.stdout) ?? []
  expect(released.stdout).toContain('After a change run: nginx -t && nginx -s reload')
  expect(readFileSync(file, 'utf8')).toContain(`server_name ${second.host};`)
  expect((await visit(primary(), { host: second.host, path: '/healthz' })).status).toBe(200)
  const { lines } = (await lab.call({ method: 'GET', path: `/api/audit?limit=50` })).body
  const acts = lines.filter((line: Record<string, string>) => line.host === second.host && line.action !== 'token')
  expect(acts.map(({ action, outcome }: Record<string, string>) => `${action} ${outcome}`).toSorted()).toEqual([
    'adopt ok',
    'plan ok',
    'release ok',
  ])
})

test('a site that no exposure can stand for is refused with its reasons, and stays', async () => {
  const { host } = await written('files')
  const file = siteFile(primary(), host)
  const text = `server {\n  listen ${primary().address}:${primary().http};\n  server_name ${host};\n  root /srv;\n}\n`
  writeFileSync(file, text)
  const enabled = join(dirname(primary().config), 'enabled', host)
  const words = ['adopt', host, '--yes', '--accept-loss', '--url', lab.description.inside]
  const apart = await command(words)
  expect(apart).toMatchObject({ code: 3, stdout: '' })
  expect(apart.stderr).toContain('site_not_adoptable')
  expect(apart.stderr).toMatch(/^ +server: It does not pass every request on to a backend\.$/m)
  expect(apart.stderr).toContain(`drawbridge adopt ${host} --config FILE`)
  const here = await command([...words, '--config', join(lab.state, 'drawbridge.yaml')])
  expect(here.stderr).toContain(`server, ${enabled}:1: `)
  expect(readFileSync(file, 'utf8')).toBe(text)
  const report = await command(['import', 'nginx', '--config', join(lab.state, 'drawbridge.yaml')])
  expect(report.stdout).not.toContain(`drawbridge adopt ${host}`)
})

test('nobody without the capability is told whether a host is as its plan says', async () => {
  const { host } = await written('private')
  const { planId } = expected(await planned(host), 201)
  expected(await adopted(planId), 200)
  editEntry(entryFile(primary(), host), host)
  const stranger = await runWith(lab, await granted(lab, planId, 'accept'), planId, 'release')
  expect([stranger.status, stranger.body.code]).toEqual([403, 'capability_invalid'])
  const capability = await granted(lab, planId, 'release')
  const differing = await runWith(lab, capability, planId, 'release')
  expect([differing.status, differing.body.code]).toEqual([409, 'changed_elsewhere'])
  expected(await run(lab, planId, 'repair', {}, { overwrite: true }), 200)
  // The refusal has not used it up.
  expected(await runWith(lab, capability, planId, 'release'), 200)
  const twice = await runWith(lab, capability, planId, 'release')
  expect([twice.status, twice.body.code]).toEqual([403, 'capability_used'])
})

/** Ten styles six times, or the two styles of HTTPS that are written most often. */
const MANY: readonly WantedSite[] = process.env.CAMPAIGN
  ? Array.from({ length: 60 }, (_, index) => ({ host: `many${index}.lab.test`, style: index % SITE_STYLES.length }))
  : [2, 3].map((style) => ({ host: `many${style}.lab.test`, style }))

test(`${MANY.length} sites are adopted and released under load, and answer as before`, {
  timeout: 900_000,
}, async () => {
  await writeSites(lab, MANY)
  const edges = Object.values(lab.description.edges)
  const sites = MANY.map((site) => ({ ...site, tls: SITE_STYLES[site.style]?.tls === true }))
  const table = async () => {
    const lines: Record<string, string[]> = {}
    for (const { host, tls } of sites) lines[host] = await answersOf(primary(), host, tls)
    return lines
  }
  const before = await table()
  const perSecond = process.env.CAMPAIGN ? 2 : 20
  const loads = edges.flatMap((edge) =>
    sites.map(({ host, tls }) => startLoad(edge, host, '/healthz', { tls, perSecond })),
  )
  const refusals: string[] = []
  const plans: string[] = []
  const told: string[] = []
  for (const { host } of sites) {
    const answer = await planned(host, { acceptLoss: true })
    if (answer.status === 201) {
      plans.push(answer.body.planId)
      const [{ changed }] = answer.body.checks.filter(({ name }: { name: string }) => name === 'proxy')
      for (const { sentence } of changed) told.push(`${host} ${sentence}`)
    } else refusals.push(`${host} ${answer.body.code}`)
  }
  await inGroups(plans, async (planId) => expected(await adopted(planId), 200))
  const during = await table()
  await inGroups(plans, async (planId) => expected(await run(lab, planId, 'release'), 200))
  const after = await table()
  const ended = await Promise.all(loads.map((load) => load.stop()))
  const failures = ended.flatMap((load) => load.failures)
  const served = ended.reduce((sum, load) => sum + load.served, 0)
  const questions = Object.values(after).flat().length
  if (process.env.CAMPAIGN)
    process.stdout.write(
      `${JSON.stringify({ sites: sites.length, adopted: plans.length, refusals, served, failures: failures.length, questions })}\n`,
    )
  expect(refusals).toEqual([])
  expect(failures).toEqual([])
  expect(served).toBeGreaterThan(0)
  expect(after).toEqual(during)
  // The plans have told how the hosts differ from their sites.
  const asTold = (host: string, line: string): string => {
    if (told.includes(`${host} HTTP is redirected to HTTPS with status 308.`)) return line.replace('| 301 |', '| 308 |')
    const isEverywhere = told.includes(`${host} The header is sent with errors, too.`)
    return isEverywhere ? line.replace('| 404 |  | text/plain |  |', '| 404 |  | text/plain | SAMEORIGIN |') : line
  }
  for (const { host } of sites) expect(after[host]).toEqual(before[host]?.map((line) => asTold(host, line)))
})

/** Some at once, as several people do. */
async function inGroups(planIds: readonly string[], act: (planId: string) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < planIds.length; first += 6) await Promise.all(planIds.slice(first, first + 6).map(act))
}

/** Whether the site, the entry and the released file of a host stand on an edge. */
const standing = (edge: EdgeDescription, host: string) => ({
  site: readFileSync(siteFile(edge, host), 'utf8').includes('server {'),
  entry: hasEntry(edge, host),
  released: existsSync(join(`${edge.folder}-released`, `${host}.conf`)),
})

/** What a run leaves of a site in the folders of nginx, beside the site itself. */
const leftBeside = (edge: EdgeDescription, host: string): string[] =>
  [dirname(edge.config), dirname(siteFile(edge, host))].flatMap((folder) =>
    readdirSync(folder).filter((name) => name.startsWith(SHADOW_PREFIX)),
  )

/** Exactly one of the three answers on each edge, no request is lost any more, and nothing is left behind. */
async function settled(host: string, planId: string, end: 'site' | 'entry' | 'released'): Promise<void> {
  const wanted = { site: false, entry: false, released: false, [end]: true }
  for (const edge of Object.values(lab.description.edges)) {
    const isSettled = () => JSON.stringify(standing(edge, host)) === JSON.stringify(wanted)
    await until(`${host} on edge ${edge.server} is ${end}`, async () => isSettled())
    await until('nothing is left', async () => leftBeside(edge, host).length === 0)
    // The record of a site that is back goes after the reload.
    const isRecorded = () => existsSync(join(`${edge.folder}-adopted`, planId))
    await until('the record is as expected', async () => isRecorded() === (end !== 'site'))
    // A worker of before may answer a while longer.
    await until('nginx answers', async () => (await visit(edge, { host, path: '/healthz' })).status === 200)
    for (let asked = 0; asked < 20; asked += 1) expect((await visit(edge, { host, path: '/healthz' })).status).toBe(200)
  }
  expect((await recordsOf(host)).length).toBe(end === 'entry' ? 2 : 1)
}

const isStopped = (pid: number): boolean => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

/** Lets a run that adopts stop when nginx has the entry, takes its backend away, and lets it go on to the verdict, which fails. */
async function adoptedInVain(planId: string, backend: SwitchedBackend, environment: Record<string, string>) {
  lab.setNextServiceEnvironment({ ...environment, DRAWBRIDGE_STOP_AT: 'apply proxy reloaded' })
  await lab.restartService()
  const { service } = lab.description.pids
  if (service === undefined) throw new Error('The lab has no service.')
  const answer = adopted(planId).catch(() => undefined)
  await until('the run has stopped', () => isStopped(service))
  await backend.stop()
  process.kill(service, 'SIGCONT')
  await answer
  await backend.start()
}

test('a backend that fails on the way puts the site back, to the byte', async () => {
  const host = 'vain.lab.test'
  // It fails as soon as the entry stands in the place of the site.
  const isSwapped = () => hasEntry(primary(), host)
  await using backend = await startWebBackend(lab, (_, response) => response.writeHead(isSwapped() ? 503 : 200).end())
  const [texts] = await writeSites(lab, [{ host, style: 0, port: backend.port }])
  const { planId } = expected(await planned(host), 201)
  const answer = await adopted(planId)
  expect([answer.status, answer.body.code]).toEqual([502, 'apply_failed'])
  await settled(host, planId, 'site')
  for (const edge of Object.values(lab.description.edges))
    expect(readFileSync(siteFile(edge, host), 'utf8')).toBe(texts?.[edge.server])
  expected(await planned(host), 201)
})

const isOfAdopt = (point: string) => /^apply (?:check|backup|proxy|dns|verify|run) /.test(point)
const POINTS = process.env.CAMPAIGN
  ? CRASH_POINTS.filter((point) => isOfAdopt(point) || (/^accept /.test(point) && !/und/.test(point)))
  : ['apply proxy swapped']

test.each(POINTS)('a kill at %s leaves one that answers, and nothing else', async (point) => {
  await using backend = await startSwitchedBackend(lab, 'ok')
  const host = `kill${POINTS.indexOf(point)}.lab.test`
  const [texts] = await writeSites(lab, [{ host, style: 0, port: backend.port }])
  const { planId } = expected(await planned(host), 201)
  const releases = point.startsWith('accept ')
  if (releases) expected(await adopted(planId), 200)
  const environment = { DRAWBRIDGE_CRASH_AT: point }
  if (/und/.test(point)) await adoptedInVain(planId, backend, environment)
  else {
    lab.setNextServiceEnvironment(environment)
    await lab.restartService()
    const death = lab.serviceRestarted()
    await (releases ? run(lab, planId, 'release') : adopted(planId)).catch(() => undefined)
    if (!process.env.CAMPAIGN) await death
  }
  // Not every point of the campaign lies on the way of every run.
  if (process.env.CAMPAIGN) await lab.restartService()
  const ends: Record<string, 'site' | 'entry' | 'released'> = releases
    ? { released: 'released', applied: 'entry' }
    : { applied: 'entry', rolled_back: 'site' }
  // A service that has just begun may be overloaded.
  const endOf = () =>
    planOf(lab, planId).then(
      ({ state }) => ends[state],
      () => undefined,
    )
  await until('the run has ended', async () => (await endOf()) !== undefined)
  const end = await endOf()
  if (end === undefined) throw new Error('The run has no end.')
  await settled(host, planId, end)
  if (end !== 'site') return
  for (const edge of Object.values(lab.description.edges))
    expect(readFileSync(siteFile(edge, host), 'utf8')).toBe(texts?.[edge.server])
})

test('withdraw releases adopted hosts, also one that was updated since, and removes the others', async () => {
  const hosts = ['stays', 'updated'].map((name) => `${name}.lab.test`)
  const plans: Record<string, unknown>[] = []
  await writeSites(
    lab,
    hosts.map((host) => ({ host, style: 0 })),
  )
  for (const host of hosts) {
    const { planId, request } = expected(await planned(host), 201)
    expected(await adopted(planId), 200)
    plans.push({ ...request, replaces: planId })
  }
  const { adopt: _site, ...request } = plans[1] ?? {}
  const update = expected(await lab.call({ path: '/api/deploy/plan', body: { ...request, note: 'Updated' } }), 201)
  expected(await run(lab, update.planId), 200)
  const other = await applied(lab, { subdomain: 'ours' })
  const { stdout } = await command([
    'withdraw',
    '--all',
    '--yes',
    '--json',
    '--config',
    join(lab.state, 'drawbridge.yaml'),
  ])
  const { removed, released, failed } = JSON.parse(stdout)
  expect(failed).toEqual([])
  expect(removed).toContain(other.host)
  expect(released).toEqual(expect.arrayContaining(hosts))
  expect(removed.filter((host: string) => hosts.includes(host))).toEqual([])
  for (const host of hosts) {
    expect((await visit(primary(), { host, path: '/healthz' })).status).toBe(200)
    expect((await recordsOf(host)).map(({ type }) => type)).toEqual(['A'])
  }
})
