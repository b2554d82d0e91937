import type { Command } from 'commander'
import { UsageError, withExample } from '../../terminal/declare.ts'
import { print } from '../../terminal/print.ts'
import { type ApiOptions, apiClient, withApiOptions } from '../api-client.ts'
import { EXIT } from '../exit-codes.ts'
import { diffFile, type FileOptions, withFile } from './exposures.ts'

interface StatusOptions extends ApiOptions {
  readonly search?: string
  readonly badge?: string
  readonly server?: string
  readonly limit?: string
  readonly watch?: boolean
}

export function addStatus(program: Command): void {
  const command = withApiOptions(program.command('status'))
    .description('list every host and its state')
    .option('--search <text>', 'only hosts whose name contains this text')
    .option('--badge <badges>', 'only these states, such as "DOWN,HTTP 502"')
    .option('--server <id>', 'only hosts on this server')
    .option('--limit <count>', 'show at most this many hosts (default: all)')
    .option('--watch', 'keep running and show changes as they happen')
    .action(async ({ url, json, watch, ...query }: StatusOptions) => {
      const { statusLines } = await import('../views/status.ts')
      const api = await apiClient(url === undefined ? {} : { url })
      if (watch) {
        const { watchHosts } = await import('../watch.ts')
        return watchHosts(api, query, json === true)
      }
      const hosts = await api.allHosts(query)
      print({ body: hosts, lines: (screen) => statusLines(hosts, screen) }, json)
    })
  withExample(command, 'drawbridge status --badge "DOWN,HTTP 502"', 'drawbridge status --watch')
}

export function addHealth(program: Command): void {
  const command = withApiOptions(program.command('health <host>'))
    .description('show the last check, the server and the configuration file of a host; exit code 1 unless RUNNING')
    .action(async (host: string, options: ApiOptions) => {
      const { healthLines } = await import('../views/status.ts')
      const health = await (await apiClient(options)).health(host)
      const exitCode = health.badge === 'RUNNING' ? EXIT.ok : EXIT.notWell
      print({ body: health, lines: (screen) => healthLines(health, screen, Date.now()), exitCode }, options.json)
    })
  withExample(command, 'drawbridge health hello.example.test')
}

export function addDiagnose(program: Command): void {
  const command = withApiOptions(program.command('diagnose <host>'))
    .description('check every link from the visitor to the backend and name the cause; exit code 1 unless RUNNING')
    .action(async (host: string, options: ApiOptions) => {
      const { diagnosisLines } = await import('../views/diagnosis.ts')
      const { diagnosisIn } = await import('../../client/advice.ts')
      const { commandsFor } = await import('../next-action.ts')
      const told = await (await apiClient(options)).diagnose(host)
      const diagnosis = diagnosisIn(told, commandsFor(told.host))
      const exitCode = diagnosis.badge === 'RUNNING' ? EXIT.ok : EXIT.notWell
      print({ body: diagnosis, lines: (screen) => diagnosisLines(diagnosis, screen), exitCode }, options.json)
    })
  withExample(command, 'drawbridge diagnose hello.example.test')
}

interface DiffOptions extends FileOptions {
  readonly all?: boolean
}

export function addDiff(program: Command): void {
  const command = withFile(withApiOptions(program.command('diff [host]')))
    .description('compare exposures with files, DNS and certificate; exit code 1 if something differs')
    .option('--all', 'compare every exposure')
    .action(async (host: string | undefined, { all, json, ...options }: DiffOptions) => {
      const { file, prune } = options
      if (file !== undefined && host === undefined && !all) return diffFile(file, { ...options, json })
      if (file !== undefined || prune) throw new UsageError('Pass -f without a host and without --all.')
      const { driftLines, readDrifts } = await import('../views/drift.ts')
      const drifts = await readDrifts(await apiClient(options), host, all === true)
      const exitCode = drifts.every(({ differences }) => differences.length === 0) ? EXIT.ok : EXIT.notWell
      print({ body: { drifts }, lines: (screen) => driftLines(drifts, screen), exitCode }, json)
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
  const command = withApiOptions(program.command('plans'))
    .description('list recent plans, newest first (internal network only)')
    .option('--limit <count>', 'show at most this many plans', '50')
    .option('--cursor <place>', 'continue after the last page')
    .action(async ({ limit, cursor, ...options }: ApiOptions & { limit: string; cursor?: string }) => {
      const { plansLines } = await import('../views/plan.ts')
      const page = await (await apiClient(options)).listPlans({ limit, ...(cursor !== undefined && { cursor }) })
      print({ body: page, lines: (screen) => plansLines(page, screen) }, options.json)
    })
  withExample(command, 'drawbridge plans --limit 10')
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
