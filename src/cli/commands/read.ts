import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/escape-text.ts'
import { type Connected, reach, throughApi } from '../api-client.ts'
import { EXIT } from '../exit-codes.ts'

interface StatusOptions extends Connected {
  readonly search?: string
  readonly badge?: string
  readonly server?: string
  readonly limit?: string
  readonly watch?: boolean
}

export function addStatus(program: Command): void {
  const command = throughApi(program.command('status'))
    .description('every host and how it does')
    .option('--search <text>', 'only hosts with this in their name')
    .option('--badge <badges>', 'only these states, such as "DOWN,HTTP 502"')
    .option('--server <id>', 'only hosts on this server')
    .option('--limit <count>', 'show at most so many; left out, all')
    .option('--watch', 'stay, and show changes as they come')
    .action(async ({ url, json, watch, ...query }: StatusOptions) => {
      const { statusLines } = await import('../views/status.ts')
      const api = await reach(url === undefined ? {} : { url })
      if (watch) {
        const { watchHosts } = await import('../watch.ts')
        return watchHosts(api, query, json === true)
      }
      const hosts = await api.allHosts(query)
      tell({ body: hosts, lines: (screen) => statusLines(hosts, screen) }, json)
    })
  withExample(command, 'drawbridge status --badge "DOWN,HTTP 502"', 'drawbridge status --watch')
}

export function addHealth(program: Command): void {
  const command = throughApi(program.command('health <host>'))
    .description("a host's last check, its server and the path of its configuration file; ends with 1 unless RUNNING")
    .action(async (host: string, options: Connected) => {
      const { healthLines } = await import('../views/status.ts')
      const health = await (await reach(options)).health(host)
      const exitCode = health.badge === 'RUNNING' ? EXIT.ok : EXIT.notWell
      tell({ body: health, lines: (screen) => healthLines(health, screen, Date.now()), exitCode }, options.json)
    })
  withExample(command, 'drawbridge health hello.example.test')
}

export function addDiagnose(program: Command): void {
  const command = throughApi(program.command('diagnose <host>'))
    .description('walk from the visitor to the backend and name the one cause; ends with 1 unless RUNNING')
    .action(async (host: string, options: Connected) => {
      const { diagnosisLines } = await import('../views/diagnosis.ts')
      const diagnosis = await (await reach(options)).diagnose(host)
      const exitCode = diagnosis.badge === 'RUNNING' ? EXIT.ok : EXIT.notWell
      tell({ body: diagnosis, lines: (screen) => diagnosisLines(diagnosis, screen), exitCode }, options.json)
    })
  withExample(command, 'drawbridge diagnose hello.example.test')
}

export function addPolicy(program: Command): void {
  const command = throughApi(program.command('policy'))
    .description('what is allowed here, and what you may do')
    .action(async (options: Connected) => {
      const { policyLines } = await import('../views/policy.ts')
      const api = await reach(options)
      const policy = await api.policy()
      tell({ body: policy, lines: (screen) => policyLines(policy, api.baseUrl, screen) }, options.json)
    })
  withExample(command, 'drawbridge policy --url http://192.168.45.23:8045')
}

export function addPlans(program: Command): void {
  const command = throughApi(program.command('plans'))
    .description('recent plans, newest first (inside only)')
    .option('--limit <count>', 'at most so many', '50')
    .option('--cursor <place>', 'go on from where the last page ended')
    .action(async ({ limit, cursor, ...options }: Connected & { limit: string; cursor?: string }) => {
      const { plansLines } = await import('../views/plan.ts')
      const page = await (await reach(options)).listPlans({ limit, ...(cursor !== undefined && { cursor }) })
      tell({ body: page, lines: (screen) => plansLines(page, screen) }, options.json)
    })
  withExample(command, 'drawbridge plans --limit 10')
}

export function addAudit(program: Command): Command {
  const command = throughApi(program.command('audit'))
    .description('who did what, with which outcome (inside only)')
    .option('--limit <count>', 'at most so many lines', '50')
    .option('--after <line>', 'lines after this one; left out, the newest')
    .action(async ({ limit, after, ...options }: Connected & { limit: string; after?: string }) => {
      const { auditLines } = await import('../views/audit.ts')
      const page = await (await reach(options)).allAudit({ limit, ...(after !== undefined && { after }) })
      tell({ body: page, lines: (screen) => auditLines(page, screen) }, options.json)
    })
  return withExample(command, 'drawbridge audit --limit 20')
}
