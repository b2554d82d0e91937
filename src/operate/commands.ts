import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { type Configured, onThisMachine, withExample, withJson } from '../terminal/declare.ts'
import { print, standardOutput } from '../terminal/print.ts'
import type { ForeignHosts } from './import.ts'
import type { Machine } from './machine.ts'
import { configIn, configOnly } from './open-config.ts'

export function addServe(program: Command, machine: Machine): void {
  const command = onThisMachine(program.command('serve'))
    .description('run the service')
    .option('--check', 'only check the configuration')
    .action(async ({ config: file, check }: Configured & { check?: boolean }) => {
      const config = await configIn(file)
      if (check) return standardOutput().print(`${file} is valid.`)
      await machine.serve(config, file)
    })
  withExample(command, 'drawbridge serve --config /etc/drawbridge/drawbridge.yaml')
}

export function addReload(program: Command): void {
  const command = onThisMachine(program.command('reload'))
    .description('let the running service read its configuration again')
    .action(async ({ config, json }: Configured) => {
      const { reloadLines, reloadService } = await import('./reload.ts')
      const outcome = await reloadService((await configIn(config)).stateDir)
      print({ body: outcome, lines: () => reloadLines(outcome) }, json)
    })
  withExample(withJson(command), 'drawbridge reload --config /etc/drawbridge/drawbridge.yaml')
}

export function addDoctor(program: Command, machine: Machine): void {
  const command = onThisMachine(program.command('doctor'))
    .description('check everything that the service needs, and print how to fix each problem')
    .option('--fix', 'apply the safe fixes: create missing folders, remove permissions of other users')
    .action(async ({ config, fix, json }: Configured & { fix?: boolean }) => {
      const { doctor } = await import('./doctor/command.ts')
      print(await doctor(config, fix === true, machine.doctorParts), json)
    })
  withExample(withJson(command), 'drawbridge doctor --config /etc/drawbridge/drawbridge.yaml --fix')
}

/** What `show` prints without a configuration file. */
export interface HostView {
  readonly withOptions: (command: Command) => Command
  readonly show: (host: string, options: object) => Promise<void>
}

export function addShow(program: Command, machine: Machine, view: HostView): void {
  const command = view
    .withOptions(program.command('show <host>'))
    .description(
      'show a host, its plan and its runs; with --config, its nginx configuration as if the host stood alone',
    )
    .option('--config <file>', 'print the nginx configuration of the host instead, on the server')
    .option('--server <id>', 'with --config: the server whose edge is read (default: the Primary)')
    .action(async (host: string, options: Partial<Configured> & { server?: string }) => {
      const { config, server, json } = options
      if (config === undefined) return view.show(host, options)
      const { entryLines, showEntry } = await import('./show.ts')
      const opened = await edgeConfig(config, server)
      const entry = await showEntry(opened, { host, server }, machine.readEntry)
      const known = await isKnown(entry.host, config, machine)
      const shown = known === undefined ? entry : { ...entry, known }
      print({ body: shown, lines: () => entryLines(shown) }, json)
    })
  withExample(
    command,
    'drawbridge show app.example.com',
    'drawbridge show app.example.com --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge show app.example.com --server 73 --config /etc/drawbridge/drawbridge.yaml',
  )
}

/** An nginx of this machine is read with the rights of the caller. An agent is asked as the service does it. */
async function edgeConfig(file: string, server?: string): Promise<Config> {
  const config = await configOnly(file)
  return (server ?? config.servers.primary) in config.agents ? configIn(file) : config
}

/** Undefined if the store cannot be asked. */
async function isKnown(host: string, file: string, machine: Machine): Promise<boolean | undefined> {
  try {
    const store = await machine.openStore(await configIn(file))
    return await store
      .findExposure(host)
      .then((found) => found !== undefined)
      .finally(() => store.close())
  } catch {
    return undefined
  }
}

interface ReportOptions extends Configured {
  readonly output: string
  readonly test?: boolean
}

type ReadHosts = (config: Config, from: string | undefined, tests: boolean) => Promise<ForeignHosts>

/** Reports of what could be adopted, below the command that reads exposures from a file. */
export function addForeignImports(importing: Command, machine: Machine): void {
  const report = (command: Command, what: string, read: ReadHosts) =>
    onThisMachine(command)
      .description(`report which hosts of ${what} could be adopted; changes nothing`)
      .option('-o, --output <form>', 'table, yaml (a file for apply -f) or json', 'table')
      .action(async (from: string | undefined, { config: file, output, test = false }: ReportOptions) => {
        const { formOf, importReport } = await import('./import.ts')
        const form = formOf(output)
        const isServed = command.name() === 'nginx' && from === undefined
        const config = isServed ? await edgeConfig(file) : await configOnly(file)
        print(importReport(config, await read(config, from, test), form, isServed), form === 'json')
      })
  const nginx = report(
    importing.command('nginx [folder]'),
    "nginx, or of a folder of nginx's files",
    machine.nginxSites,
  )
  withExample(
    nginx.option('--test', 'let nginx test what is left of its configuration without each site'),
    'drawbridge import nginx --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge import nginx /etc/nginx/sites-enabled -o yaml --config /etc/drawbridge/drawbridge.yaml > exposures.yaml',
  )
  const npm = report(importing.command('npm <database>'), 'Nginx Proxy Manager', (config, from = '') =>
    machine.proxyManagerHosts(config, from),
  )
  withExample(npm, 'drawbridge import npm /data/database.sqlite --config /etc/drawbridge/drawbridge.yaml')
}

export function addAcme(program: Command, machine: Machine): void {
  const acme = program.command('acme').description('the ACME account at the certificate authority')
  const exporting = onThisMachine(acme.command('export-account'))
    .description('write the account key to a new file that only its owner may read')
    .requiredOption('--to <file>', 'the path of the new file; it must not exist')
    .action(async ({ config: file, json, to }: Configured & { to: string }) => {
      const { NamedFile } = await import('../runtime/named-file.ts')
      const target = new NamedFile(to)
      const config = await configIn(file, () => target.createAsRoot())
      const { directory } = config.acme
      await machine.exportAccountKey(config, target)
      const sentence = `${to} contains the account key for ${directory}. Anybody who has this key can order certificates: keep it safe.`
      print({ body: { directory, file: to }, lines: () => [sentence] }, json)
    })
  withExample(withJson(exporting), 'drawbridge acme export-account --config FILE --to account.key')
}

export function addWebhooks(program: Command, machine: Machine): void {
  const webhooks = program.command('webhooks').description('show and retry webhook deliveries')
  const list = onThisMachine(webhooks.command('list'))
    .description('list webhooks with their state and dead letters')
    .action(async ({ config, json }: Configured) =>
      machine.withParts(await configIn(config), async ({ webhookReport }) => {
        const { webhookLines } = await import('./webhooks.ts')
        const reports = await webhookReport()
        print({ body: { webhooks: reports }, lines: () => webhookLines(reports) }, json)
      }),
    )
  withExample(withJson(list), 'drawbridge webhooks list --config /etc/drawbridge/drawbridge.yaml')
  const retry = onThisMachine(webhooks.command('retry <name>'))
    .description('retry all pending and dead deliveries of a webhook now')
    .action(async (name: string, { config, json }: Configured) =>
      machine.withParts(await configIn(config), async ({ hooks, store, clock }) => {
        const { retryWebhook } = await import('./webhooks.ts')
        const sentence = await retryWebhook(name, hooks, store, clock.now())
        print({ body: { name, done: sentence }, lines: () => [sentence] }, json)
      }),
    )
  withExample(withJson(retry), 'drawbridge webhooks retry chat --config /etc/drawbridge/drawbridge.yaml')
}

/** `audit` reads through the API. `audit verify` reads the whole chain from the store. */
export function addAuditVerify(audit: Command, machine: Machine): void {
  const command = onThisMachine(audit.command('verify'))
    .description('verify the audit chain on the server; finds changed and missing lines')
    .action(async ({ config, json }: Configured) => {
      const { auditReport, verifyAudit } = await import('./verify/audit.ts')
      const store = await machine.openStore(await configIn(config))
      const verdict = await verifyAudit(store).finally(() => store.close())
      print({ body: verdict, lines: () => [auditReport(verdict)], exitCode: verdict.ok ? 0 : 1 }, json)
    })
  withExample(withJson(command), 'drawbridge audit verify --config /etc/drawbridge/drawbridge.yaml')
}
