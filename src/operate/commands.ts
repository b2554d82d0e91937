import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { sentenceOf } from '../model/errors.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { Hook } from '../notify/webhook-request.ts'
import type { ResolveParts } from '../runs/engine/resolve.ts'
import type { CopyProgress, CopyReport } from '../store/ports/copy.ts'
import type { Store } from '../store/ports/store.ts'
import { type Configured, confirm, onThisMachine, UsageError, withExample, withJson } from '../terminal/declare.ts'
import { print, standardOutput } from '../terminal/print.ts'
import type { RestoreParts } from './backups.ts'
import type { ConvergeParts } from './converge.ts'
import type { DoctorParts } from './doctor/doctor.ts'
import type { ForeignHosts } from './import.ts'
import type { EntryOf } from './show.ts'
import type { WithdrawParts } from './withdraw.ts'

/**
 * The parts that the commands on this machine use. Every member loads its code when it is called, so `--help` loads nothing.
 */
export interface Machine {
  /** Runs the service until SIGTERM or SIGINT. SIGHUP reads the file again. */
  serve(config: Config, file: string): Promise<void>
  /** Opens the parts of the service without listening, and closes them after `work`. A service may run beside it. */
  withParts<T>(config: Config, work: (parts: MachineParts) => Promise<T>): Promise<T>
  /** Opens only the store. The caller closes it. Never upgrades its schema. */
  openStore(config: Config): Promise<Store>
  /** The entry of a host on an edge of this machine; undefined when it has none. */
  readonly readEntry: EntryOf
  /**
   * The sites of a folder, or of the Primary's nginx, and what becomes of them. Changes nothing. `tests`: nginx tests its
   * configuration without each site that could be adopted.
   */
  nginxSites(config: Config, folder: string | undefined, tests: boolean): Promise<ForeignHosts>
  /** The same for the database of Nginx Proxy Manager. */
  proxyManagerHosts(config: Config, file: string): Promise<ForeignHosts>
  /** What `doctor` inspects. */
  doctorParts(config: Config): Promise<DoctorParts>
  /** Copies the store of one configuration to that of another, which must be empty. No service may run on either. */
  copyStore(from: Config, to: Config, onProgress: (progress: CopyProgress) => void): Promise<CopyReport>
  /** Seals the secrets in the store with a new key. `lost`: deletes those that no key of the key file opens. */
  rotateKeys(config: Config, lost: boolean): Promise<KeyRotation>
  /** Writes the key of the ACME account to a new file of mode 0600. */
  exportAccountKey(config: Config, file: string): Promise<void>
}

/** What a rotation has done. `lost`: the names of secrets that were deleted. */
export interface KeyRotation {
  readonly from: string | undefined
  readonly to: string
  readonly sealed: number
  readonly lost: readonly string[]
}

interface MachineParts extends RestoreParts, ConvergeParts, Omit<ResolveParts, 'store'>, Omit<WithdrawParts, 'store'> {
  readonly store: Store
  readonly hooks: readonly Hook[]
  readonly webhookReport: () => Promise<readonly WebhookReport[]>
  readonly now: () => number
}

export async function configIn(file: string): Promise<Config> {
  const { loadConfig } = await import('../config/config.ts')
  return loadConfig(file, process.env)
}

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
      const entry = await showEntry(await configIn(config), { host, server }, machine.readEntry)
      print({ body: entry, lines: () => entryLines(entry) }, json)
    })
  withExample(
    command,
    'drawbridge show app.example.com',
    'drawbridge show app.example.com --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge show app.example.com --server 73 --config /etc/drawbridge/drawbridge.yaml',
  )
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
        const config = await configIn(file)
        const isServed = command.name() === 'nginx' && from === undefined
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

interface RestoreOptions extends Configured {
  readonly show?: boolean
  readonly yes?: boolean
  readonly offAir?: string
}

export function addBackups(program: Command, machine: Machine): void {
  const backups = program.command('backups').description("backups of the edge's files from before each run")
  const list = onThisMachine(backups.command('list'))
    .description('list the backups, newest first')
    .action(async ({ config, json }: Configured) =>
      machine.withParts(await configIn(config), async ({ shelf }) => {
        const { backupLines } = await import('./backups.ts')
        const manifests = await shelf.list()
        print({ body: { backups: manifests }, lines: () => backupLines(manifests) }, json)
      }),
    )
  withExample(withJson(list), 'drawbridge backups list --config /etc/drawbridge/drawbridge.yaml')
  const command = onThisMachine(backups.command('restore <runId>'))
    .description("restore the Primary's files from before that run; does not change DNS")
    .option('--show', 'only show which files would be created, changed and removed')
    .option('--yes', 'do not ask for confirmation')
    .option('--off-air <host>', 'restore even though this live host goes offline')
    .action((runId: string, options: RestoreOptions) => restore(runId, options, machine))
  withExample(
    withJson(command),
    'drawbridge backups restore run_4f… --config /etc/drawbridge/drawbridge.yaml --show',
    'drawbridge backups restore run_4f… --config /etc/drawbridge/drawbridge.yaml',
  )
}

/** Shows the preview, asks for confirmation and restores. */
async function restore(runId: string, options: RestoreOptions, machine: Machine): Promise<void> {
  const { config, json, show, yes, offAir } = options
  await machine.withParts(await configIn(config), async (parts) => {
    const { offAirSentence, previewLines, previewRestore, restoreBackup } = await import('./backups.ts')
    const preview = await previewRestore(runId, parts)
    const body = { runId, server: preview.server, differences: preview.differences, offAir: preview.offAir }
    const nothingToDo = preview.differences.length === 0
    if (show || nothingToDo) {
      return print({ body: { ...body, restored: false }, lines: () => previewLines(preview) }, json)
    }
    if (preview.offAir !== null && offAir !== preview.offAir) throw new UsageError(offAirSentence(preview.offAir))
    if (!json) standardOutput().print(...previewLines(preview))
    const question = `Restore ${preview.differences.length} files on ${preview.server}?`
    await confirm({ question, action: 'restore', yes })
    const sentence = await restoreBackup(preview, parts)
    print({ body: { ...body, restored: true }, lines: () => [sentence] }, json)
  })
}

interface ResolveOptions {
  readonly show?: boolean
  readonly accept?: boolean
}

export function addResolve(program: Command, machine: Machine): void {
  const command = onThisMachine(program.command('resolve <planId>'))
    .description('show what a blocked plan has left, and finish its rollback')
    .option('--show', 'only show what is left')
    .option('--accept', 'finish nothing: leave everything as it is, and stop managing the host')
    .action(async (planId: string, { config, show, accept, json }: Configured & ResolveOptions) =>
      machine.withParts(await configIn(config), async (parts) => {
        const { acceptBlocked, leftOvers, resolve } = await import('../runs/engine/resolve.ts')
        const left = (await leftOvers(parts.store, planId)).map(({ step, detail }) => ({
          step,
          detail: detail ?? null,
        }))
        const standing = left.map(({ step, detail }) => `Left: ${step}${detail ? ` (${detail})` : ''}`)
        if (show) return print({ body: { planId, left, resolved: false }, lines: () => standing }, json)
        const { outcome, run, afters } = await (accept ? acceptBlocked : resolve)(planId, parts)
        const stuck = outcome.kind === 'blocked' ? outcome.rollback.at(-1) : undefined
        if (stuck) throw new Error(`The plan is still blocked at ${stuck.name}: ${stuck.detail}`)
        if (accept && outcome.kind !== 'succeeded')
          throw new Error(`The plan is still blocked: ${sentenceOf(outcome.fault)}`)
        const file = afters.proxy?.released
        const sentence = accept
          ? `${run.host} stays as it is and is not managed any more.${file ? ` Its configuration is in ${file}.` : ''}`
          : `The rollback of ${run.host} is finished. The host is no longer blocked.`
        print({ body: { planId, left, resolved: true }, lines: () => [...standing, sentence] }, json)
      }),
    )
  withExample(withJson(command), 'drawbridge resolve plan_4c7p… --config /etc/drawbridge/drawbridge.yaml --show')
}

interface ConvergeOptions extends Configured {
  readonly confirmRemoval?: boolean
  readonly yes?: boolean
}

/** `drawbridge edge` itself runs an agent: see edge/commands.ts. */
export function addEdge(program: Command, machine: Machine): Command {
  const edge = program.command('edge')
  const command = onThisMachine(edge.command('converge'))
    .description('show which hosts the edges have otherwise than the store says, and change nothing')
    .option('--confirm-removal', 'take hosts off the Secondary whose plans have ended, however many there are')
    .option('--yes', 'do not ask for confirmation')
    .action((options: ConvergeOptions) => converge(options, machine))
  withExample(
    withJson(command),
    'drawbridge edge converge --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge edge converge --confirm-removal --config /etc/drawbridge/drawbridge.yaml',
  )
  return edge
}

async function converge({ config, json, confirmRemoval: isConfirmed, yes }: ConvergeOptions, machine: Machine) {
  await machine.withParts(await configIn(config), async (parts) => {
    const { comparedLines, confirmRemoval, nextLines, toConfirm } = await import('./converge.ts')
    const edges = await parts.converge.compare()
    const going = toConfirm(edges)
    const body = { edges, confirmed: false }
    if (!isConfirmed || going.length === 0)
      return print({ body, lines: () => [...comparedLines(edges), ...nextLines(going)] }, json)
    if (!json) standardOutput().print(...comparedLines(edges))
    const count = going.reduce((sum, { doubtful }) => sum + doubtful.length, 0)
    const where = going.map(({ server }) => server).join(', ')
    await confirm({ question: `Take ${count} hosts off edge ${where}?`, action: 'remove them', yes })
    await confirmRemoval(going, parts)
    const sentence = `${count} hosts were taken off edge ${where}.`
    print({ body: { ...body, confirmed: true }, lines: () => [sentence] }, json)
  })
}

interface WithdrawOptions extends Configured {
  readonly all?: boolean
  readonly show?: boolean
  readonly yes?: boolean
}

/** For the end of an installation: a purge of the package calls it. */
export function addWithdraw(program: Command, machine: Machine): void {
  const command = onThisMachine(program.command('withdraw'))
    .description('take every exposed name out of DNS and off the edges')
    .option('--show', 'only list the names')
    .option('--all', 'required to withdraw them')
    .option('--yes', 'do not ask for confirmation')
    .action((options: WithdrawOptions) => withdraw(options, machine))
  withExample(
    withJson(command),
    'drawbridge withdraw --show --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge withdraw --all --config /etc/drawbridge/drawbridge.yaml',
  )
}

async function withdraw({ config, json, all, show, yes }: WithdrawOptions, machine: Machine): Promise<void> {
  if (!all && !show) throw new UsageError('Pass --show to list the names, or --all to withdraw them.')
  await machine.withParts(await configIn(config), async (parts) => {
    const { exposedNames, nameLines, otherServices, otherServicesSentence, withdrawAll, withdrawnLines } = await import(
      './withdraw.ts'
    )
    const names = await exposedNames(parts)
    if (show || names.length === 0) return print({ body: { names }, lines: () => nameLines(names) }, json)
    const others = await otherServices(parts)
    if (others.length > 0) {
      const sentence = otherServicesSentence(others)
      return print({ body: { names, services: others }, lines: () => [sentence], exitCode: 3 }, json)
    }
    if (!json) standardOutput().print(...nameLines(names))
    await confirm({ question: `Withdraw ${names.length} names?`, action: 'withdraw them', yes })
    const withdrawn = await withdrawAll(parts)
    const exitCode = withdrawn.failed.length === 0 ? 0 : 1
    print({ body: withdrawn, lines: () => withdrawnLines(withdrawn), exitCode }, json)
  })
}

export function addAcme(program: Command, machine: Machine): void {
  const acme = program.command('acme').description('the ACME account at the certificate authority')
  const exporting = onThisMachine(acme.command('export-account'))
    .description('write the account key to a new file that only its owner may read')
    .requiredOption('--to <file>', 'the path of the new file; it must not exist')
    .action(async ({ config: file, json, to }: Configured & { to: string }) => {
      const config = await configIn(file)
      const { directory } = config.acme
      await machine.exportAccountKey(config, to)
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
      machine.withParts(await configIn(config), async ({ hooks, store, now }) => {
        const { retryWebhook } = await import('./webhooks.ts')
        const sentence = await retryWebhook(name, hooks, store, now())
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
      const { auditReport, verifyAudit } = await import('./audit-verify.ts')
      const store = await machine.openStore(await configIn(config))
      const verdict = await verifyAudit(store).finally(() => store.close())
      print({ body: verdict, lines: () => [auditReport(verdict)], exitCode: verdict.ok ? 0 : 1 }, json)
    })
  withExample(withJson(command), 'drawbridge audit verify --config /etc/drawbridge/drawbridge.yaml')
}
