import type { Command } from 'commander'
import type { Health } from '../../client/bodies.ts'
import type { DrawbridgeClient } from '../../client/client.ts'
import { BADGE_GRAMMAR } from '../../model/badge.ts'
import { UsageError, withExample } from '../../terminal/declare.ts'
import { print, printAs, standardOutput } from '../../terminal/print.ts'
import type { Screen } from '../../terminal/screen.ts'
import { type ApiOptions, apiClient, formatOf, type OutputOptions, withApiOptions, withOutput } from '../api-client.ts'
import { parseDuration } from '../duration.ts'
import { EXIT, exitCodeOfRun } from '../exit-codes.ts'
import { namedHost } from '../exposure-options.ts'
import type { LinesHere } from '../views/drift.ts'
import { diffFile, type FileOptions, withFile } from './exposures.ts'

interface StatusOptions extends OutputOptions {
  readonly search?: string
  badge?: string
  readonly server?: string
  readonly limit?: string
  readonly watch?: boolean
}

export function addStatus(program: Command): void {
  const command = withOutput(program.command('status [host]'))
    .description(
      'list every host, the worst first, or show one; exit code 1 unless that one is RUNNING and not blocked',
    )
    .option('--search <text>', 'only hosts whose name contains this text')
    .option('--badge <badges>', 'only these states, such as "DOWN,HTTP 502"')
    .option('--server <id>', 'only hosts on this server')
    .option('--limit <count>', 'show at most this many hosts (default: all)')
    .option('--watch', 'keep running and show changes as they happen')
    .action(async (host: string | undefined, { url, json, output, watch, ...query }: StatusOptions) => {
      const format = formatOf({ ...(output && { output }), ...(json && { json }) })
      const options = url === undefined ? {} : { url }
      if (host !== undefined) return showHealth(host, { ...options, ...(format && { output: format }) })
      const { statusLines, worstFirst } = await import('../views/status.ts')
      if (query.badge !== undefined) query.badge = badgesIn(query.badge, '--badge')
      const api = await apiClient(options)
      if (watch) {
        const { watchHosts } = await import('../watch.ts')
        return watchHosts(api, { sort: 'badge', ...query }, format === 'json')
      }
      const found = await api.allHosts({ sort: 'badge', ...query })
      const hosts = { ...found, hosts: worstFirst(found.hosts) }
      const names = hosts.hosts.map((row) => row.host)
      await printAs({ body: hosts, names, lines: (screen) => statusLines(hosts, screen) }, format)
    })
  withExample(
    command,
    'drawbridge status --badge "DOWN,HTTP 502"',
    'drawbridge status -o wide',
    'drawbridge status --watch',
  )
}

const BADGES = new RegExp(`^${BADGE_GRAMMAR}(?:, ?${BADGE_GRAMMAR})*$`)

/** Refuses a state that no host can have: a filter would find nothing, and a wait would never end. */
function badgesIn(text: string, option: string): string {
  const badges = text.trim().toUpperCase()
  if (BADGES.test(badges)) return badges
  throw new UsageError(
    `${option} ${text} is not a state. States: RUNNING, "HTTP 502" with any status, DOWN, "NO DNS", CERT, DRIFT, PENDING.`,
  )
}

export function addHealth(program: Command): void {
  const command = withOutput(program.command('health <host>', { hidden: true }))
    .description('the same as status HOST')
    .action(showHealth)
  withExample(command, 'drawbridge health hello.example.test')
}

async function showHealth(host: string, options: OutputOptions): Promise<void> {
  const { healthLines, isWell } = await import('../views/status.ts')
  const api = await apiClient(options)
  const health = await healthOf(api, host)
  const exitCode = isWell(health) ? EXIT.ok : EXIT.notWell
  const lines = (screen: Screen) => healthLines(health, screen, api.clock.now())
  await printAs({ body: health, names: [health.host], lines, exitCode }, formatOf(options))
}

async function healthOf(api: DrawbridgeClient, text: string): Promise<Health> {
  const { suggesting } = await import('../../client/did-you-mean.ts')
  const host = await namedHost(api, text)
  return suggesting(api, host, api.health(host))
}

/** `drawbridge show HOST` without a configuration file: all that the service knows about a host. */
export async function showHost(host: string, options: OutputOptions): Promise<void> {
  const { healthLines } = await import('../views/status.ts')
  const { planLines, runLines } = await import('../views/plan.ts')
  const api = await apiClient(options)
  const health = await healthOf(api, host)
  const plan = health.planId === undefined ? undefined : await api.getPlan(health.planId)
  const lines = (screen: Screen) => [
    ...healthLines(health, screen, api.clock.now()),
    ...(plan ? ['', ...planLines(plan, screen, api.clock.now()), ...runLines(plan.runs ?? [], screen)] : []),
  ]
  await printAs({ body: { ...health, plan: plan ?? null }, names: [health.host], lines }, formatOf(options))
}

interface WaitOptions extends OutputOptions {
  readonly for: string
  readonly timeout: string
}

export function addWait(program: Command): void {
  const command = withOutput(program.command('wait <host>'))
    .description('wait until a host has a state; exit code 1 if it does not get it in time')
    .option('--for <badge>', 'the state to wait for, such as RUNNING or "HTTP 502"', 'RUNNING')
    .option('--timeout <duration>', 'how long to wait, such as 90s or 5m', '5m')
    .action(async (host: string, options: WaitOptions) => {
      const { healthLines } = await import('../views/status.ts')
      const limitMs = parseDuration(options.timeout, '--timeout') * 1000
      const api = await apiClient(options)
      const name = await namedHost(api, host)
      const { reached, health } = await api.waitForHost(name, {
        badge: badgesIn(options.for, '--for'),
        timeoutMs: limitMs,
      })
      if (!health)
        throw new Error(`${name} is not exposed after ${options.timeout}. drawbridge status lists every host.`)
      if (!reached)
        process.stderr.write(`${health.host} is ${health.badge} after ${options.timeout}, not ${options.for}.\n`)
      const exitCode = reached ? EXIT.ok : EXIT.notWell
      const lines = (screen: Screen) => healthLines(health, screen, api.clock.now())
      await printAs({ body: health, names: [health.host], lines, exitCode }, formatOf(options))
    })
  withExample(command, 'drawbridge wait hello.example.test --for RUNNING --timeout 2m')
}

interface EventsOptions extends OutputOptions {
  readonly follow?: boolean
  readonly limit: string
  readonly host?: string
  readonly type?: string
}

export function addEvents(program: Command): void {
  const command = withOutput(program.command('events'))
    .description('list recent events, or follow them as they happen (internal network only)')
    .option('--follow', 'keep running and show events as they happen')
    .option('--limit <count>', 'show at most this many past events', '20')
    .option('--host <host>', 'only events of this host')
    .option('--type <types>', 'only these types, such as "exposure.applied,host.badge"')
    .action(async ({ follow, limit, host, type, ...options }: EventsOptions) => {
      const { eventLines } = await import('../views/events.ts')
      const api = await apiClient(options)
      const name = host === undefined ? undefined : await namedHost(api, host)
      const query = { ...(name !== undefined && { host: name.toLowerCase() }), ...(type !== undefined && { type }) }
      const { events, head } = await api.recentEvents({ ...query, limit })
      const format = formatOf(options)
      if (!follow) {
        const names = events.map(({ id }) => id)
        await printAs({ body: { events }, names, lines: (screen) => eventLines(events, screen) }, format)
        return
      }
      const screen = standardOutput()
      const show = (event: (typeof events)[number]) =>
        screen.print(...(format === 'json' ? [JSON.stringify(event)] : eventLines([event], screen)))
      for (const event of events) show(event)
      for await (const event of api.events(query, { lastEventId: String(head) })) show(event)
    })
  withExample(command, 'drawbridge events --limit 50', 'drawbridge events --follow --host hello.example.test')
}

export function addDiagnose(program: Command): void {
  const command = withApiOptions(program.command('diagnose <host>'))
    .description(
      'check every link from the visitor to the backend and name the cause; exit code 1 unless the host is healthy',
    )
    .action(async (host: string, options: ApiOptions) => {
      const { diagnosisLines } = await import('../views/diagnosis.ts')
      const { diagnosisIn } = await import('../../client/advice.ts')
      const { commandsFor } = await import('../next-action.ts')
      const api = await apiClient(options)
      const { suggesting } = await import('../../client/did-you-mean.ts')
      const name = await namedHost(api, host)
      const told = await suggesting(api, name, api.diagnose(name))
      const diagnosis = diagnosisIn(told, commandsFor(told.host))
      const exitCode = diagnosis.cause.level === 'good' ? EXIT.ok : EXIT.notWell
      print({ body: diagnosis, lines: (screen) => diagnosisLines(diagnosis, screen), exitCode }, options.json)
    })
  withExample(command, 'drawbridge diagnose hello.example.test')
}

interface DiffOptions extends FileOptions {
  readonly all?: boolean
  readonly config?: string
}

export function addDiff(program: Command, linesHere: LinesHere): void {
  const command = withFile(withApiOptions(program.command('diff [host]')))
    .description('compare exposures with files, DNS and certificate; exit code 1 if something differs')
    .option('--all', 'compare every exposure')
    .option('--config <file>', 'on the machine of an edge: the configuration with which its lines are read')
    .action(async (host: string | undefined, { all, json, config, ...options }: DiffOptions) => {
      const { file, prune } = options
      if (file !== undefined && host === undefined && !all) return diffFile(file, { ...options, json })
      if (file !== undefined || prune) throw new UsageError('Pass -f without a host and without --all.')
      const { driftLines, nextLines, readDrifts, readStray, strayLines, withLines } = await import('../views/drift.ts')
      const api = await apiClient(options)
      const compared = await readDrifts(api, host && (await namedHost(api, host)), all === true)
      const { drifts, notes } = all
        ? { drifts: compared, notes: [] }
        : await withLines(compared, api, linesHere, config)
      const edges = all ? await readStray(api) : []
      const isSame =
        edges.length === 0 && drifts.every(({ differences, isBlocked }) => differences.length === 0 && !isBlocked)
      const exitCode = isSame ? EXIT.ok : EXIT.notWell
      const lines = (screen: Screen) => [
        ...driftLines(drifts, screen, api.clock.now()),
        ...(all ? [] : nextLines(drifts, screen, notes)),
        ...strayLines(edges),
      ]
      print({ body: { drifts, ...(all && { edges }) }, lines, exitCode }, json)
    })
  withExample(
    command,
    'drawbridge diff hello.example.test',
    'drawbridge diff --all',
    'drawbridge diff -f exposures.yaml',
  )
}

export function addPolicy(program: Command): void {
  const command = withApiOptions(program.command('policy'))
    .description('show what the service allows, and what you may do')
    .action(async (options: ApiOptions) => {
      const { policyLines } = await import('../views/policy.ts')
      const api = await apiClient(options)
      const policy = await api.policy()
      print({ body: policy, lines: (screen) => policyLines(policy, api.baseUrl, screen) }, options.json)
    })
  withExample(command, 'drawbridge policy --url http://192.168.45.23:8045')
}

export function addPlans(program: Command): void {
  const command = withOutput(program.command('plans'))
    .description('list recent plans, newest first (internal network only)')
    .option('--limit <count>', 'show at most this many plans', '50')
    .option('--cursor <place>', 'continue after the last page')
    .action(async ({ limit, cursor, ...options }: OutputOptions & { limit: string; cursor?: string }) => {
      const { plansLines } = await import('../views/plan.ts')
      const page = await (await apiClient(options)).listPlans({ limit, ...(cursor !== undefined && { cursor }) })
      const names = page.plans.map(({ planId }) => planId)
      await printAs({ body: page, names, lines: (screen) => plansLines(page, screen) }, formatOf(options))
    })
  withExample(command, 'drawbridge plans --limit 10')
  const show = withOutput(command.command('show <planOrHost>'))
    .description('show a plan with its runs, or follow the run that is in progress')
    .option('--follow', 'show the steps of the newest run until it ends, and end with its exit code')
    .action(async (planOrHost: string, { follow, ...options }: OutputOptions & { follow?: boolean }) => {
      const { planLines, runLines } = await import('../views/plan.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const api = await apiClient(options)
      const planId = await planIdOf(api, planOrHost)
      const format = formatOf(options)
      if (follow) {
        const { followLive } = await import('../live-run.ts')
        await api.getPlan(planId)
        await followLive(api, planId, format !== undefined)
      }
      const plan = await api.getPlan(planId)
      const exitCode = follow ? exitCodeOfRun(plan) : EXIT.ok
      const lines = (screen: Screen) => [
        ...planLines(plan, screen, api.clock.now()),
        ...runLines(plan.runs ?? [], screen),
      ]
      await printAs({ body: plan, names: [plan.planId], lines, exitCode }, format)
    })
  withExample(show, 'drawbridge plans show plan_4c7p0wq9d2f6h8k1m3n5r7t9v0', 'drawbridge plans show hello.example.test')
}

export function addAudit(program: Command): Command {
  const command = withApiOptions(program.command('audit'))
    .description('list who did what, with which outcome (internal network only)')
    .option('--limit <count>', 'show at most this many lines', '50')
    .option('--after <line>', 'show the lines after this one (default: the newest lines)')
    .action(async ({ limit, after, ...options }: ApiOptions & { limit: string; after?: string }) => {
      const { auditLines } = await import('../views/audit.ts')
      const page = await (await apiClient(options)).allAudit({ limit, ...(after !== undefined && { after }) })
      print({ body: page, lines: (screen) => auditLines(page, screen) }, options.json)
    })
  return withExample(command, 'drawbridge audit --limit 20')
}
