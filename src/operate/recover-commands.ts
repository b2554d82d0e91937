import type { Command } from 'commander'
import { type Configured, confirm, onThisMachine, UsageError, withExample, withJson } from '../terminal/declare.ts'
import { print, standardOutput } from '../terminal/print.ts'
import { withOperations } from './control/with-operations.ts'
import type { Machine } from './machine.ts'
import { configIn } from './open-config.ts'

interface RestoreOptions extends Configured {
  readonly show?: boolean
  readonly yes?: boolean
  readonly offAir?: string
}

export function addBackups(program: Command, machine: Machine): void {
  const backups = program.command('backups').description('entries of hosts from before each run')
  const list = onThisMachine(backups.command('list'))
    .description('list the backups, newest first')
    .action(async ({ config, json }: Configured) =>
      withOperations(await configIn(config), machine, async (operate) => {
        const { backupLines } = await import('./backups.ts')
        const manifests = await operate('listBackups', {})
        print({ body: { backups: manifests }, lines: () => backupLines(manifests) }, json)
      }),
    )
  withExample(withJson(list), 'drawbridge backups list --config /etc/drawbridge/drawbridge.yaml')
  const command = onThisMachine(backups.command('restore <runId>'))
    .description("restore the host's entry on the Primary from before that run; does not change DNS")
    .option('--show', 'only show whether the entry would be created, changed or removed')
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
  await withOperations(await configIn(config), machine, async (operate) => {
    const { offAirSentence, previewLines } = await import('./backups.ts')
    const preview = await operate('previewRestore', { runId })
    const body = { runId, server: preview.server, differences: preview.differences, offAir: preview.offAir }
    const nothingToDo = preview.differences.length === 0
    if (show || nothingToDo) {
      return print({ body: { ...body, restored: false }, lines: () => previewLines(preview) }, json)
    }
    if (preview.offAir !== null && offAir !== preview.offAir) throw new UsageError(offAirSentence(preview.offAir))
    if (!json) standardOutput().print(...previewLines(preview))
    const question = `Restore the entry of ${preview.host} on ${preview.server}?`
    await confirm({ question, action: 'restore', yes })
    const sentence = await operate('restore', { runId, seen: preview.seen })
    print({ body: { ...body, restored: true }, lines: () => [sentence] }, json)
  })
}

interface ResolveOptions extends Configured {
  readonly show?: boolean
  readonly accept?: boolean
  readonly repair?: boolean
  readonly remove?: boolean
}

export function addResolve(program: Command, machine: Machine): void {
  const command = onThisMachine(program.command('resolve <planId>'))
    .description('show what a blocked plan has left, and finish its rollback')
    .option('--show', 'only show what is left')
    .option('--accept', 'finish nothing: leave everything as it is, and stop managing the host')
    .option('--repair', 'after a restore: serve the host as it was before the run')
    .option('--remove', 'after a restore: take the host off the air')
    .action((planId: string, options: ResolveOptions) => resolve(planId, options, machine))
  withExample(withJson(command), 'drawbridge resolve plan_4c7p… --config /etc/drawbridge/drawbridge.yaml --show')
}

async function resolve(planId: string, options: ResolveOptions, machine: Machine): Promise<void> {
  const { config, json, show } = options
  const given = (['accept', 'repair', 'remove'] as const).filter((decision) => options[decision])
  if (given.length > 1) throw new UsageError(`Pass only one of --${given.join(' and --')}.`)
  const [by = 'undo'] = given
  await withOperations(await configIn(config), machine, async (operate) => {
    const left = await operate('leftOvers', { planId })
    const standing = left.map(({ step, detail }) => `Left: ${step}${detail ? ` (${detail})` : ''}`)
    if (show) return print({ body: { planId, left, resolved: false }, lines: () => standing }, json)
    const { host, released } = await operate('resolve', { planId, by })
    const sentences = {
      undo: `The rollback of ${host} is finished. The host is no longer blocked.`,
      accept: `${host} stays as it is and is not managed any more.${released ? ` Its configuration is in ${released}.` : ''}`,
      repair: `${host} is served as it was before the run. The host is no longer blocked.`,
      remove: `${host} is off the air: its records and its entries on the edges are removed.`,
    }
    print({ body: { planId, left, resolved: true }, lines: () => [...standing, sentences[by]] }, json)
  })
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

async function converge(options: ConvergeOptions, machine: Machine) {
  const { config, json, confirmRemoval: isConfirmed, yes } = options
  await withOperations(await configIn(config), machine, async (operate) => {
    const { comparedLines, nextLines, toConfirm } = await import('./converge.ts')
    const { edges, seen } = await operate('compareEdges', {})
    const going = toConfirm(edges)
    const body = { edges, confirmed: false }
    if (!isConfirmed || going.length === 0)
      return print({ body, lines: () => [...comparedLines(edges), ...nextLines(going)] }, json)
    if (!json) standardOutput().print(...comparedLines(edges))
    const count = going.reduce((sum, { doubtful }) => sum + doubtful.length, 0)
    const where = going.map(({ server }) => server).join(', ')
    await confirm({ question: `Take ${count} hosts off edge ${where}?`, action: 'remove them', yes })
    await operate('confirmRemoval', { seen })
    const sentence = `${count} hosts were taken off edge ${where}.`
    print({ body: { ...body, confirmed: true }, lines: () => [sentence] }, json)
  })
}

interface ReconcileOptions extends Configured {
  readonly all?: boolean
  readonly yes?: boolean
}

export function addReconcile(program: Command, machine: Machine): void {
  const command = onThisMachine(program.command('reconcile [host]'))
    .description(
      'after a restore or rebuild: show which hosts wait and why; with a host or --all, confirm what the store says',
    )
    .option('--all', 'confirm every host that waits')
    .option('--yes', 'do not ask for confirmation')
    .action((host: string | undefined, options: ReconcileOptions) => reconcile(host, options, machine))
  withExample(
    withJson(command),
    'drawbridge reconcile --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge reconcile app.example.com --config /etc/drawbridge/drawbridge.yaml',
  )
}

async function reconcile(host: string | undefined, options: ReconcileOptions, machine: Machine): Promise<void> {
  const { config, json, all, yes } = options
  if (host !== undefined && all) throw new UsageError('Name a host, or pass --all.')
  await withOperations(await configIn(config), machine, async (operate) => {
    const { waitingLines } = await import('./converge.ts')
    const { waiting, seen } = await operate('waiting', { ...(host !== undefined && { host }) })
    const hosts = waiting.map((one) => one.host)
    const lines = waitingLines(waiting.map((one) => ({ ...one, edge: one.edge ?? undefined })))
    const isOnlyShown = (host === undefined && !all) || hosts.length === 0
    if (isOnlyShown) return print({ body: { waiting, settled: [] }, lines: () => lines }, json)
    if (!json) standardOutput().print(...lines)
    const question = `Enforce what the store says of ${host ?? `these ${hosts.length} hosts`}?`
    await confirm({ question, action: 'confirm', yes })
    await operate('settle', { ...(host !== undefined && { host }), seen })
    const sentence =
      'Confirmed: ends are enforced and certificates renewed again. A newer entry of an edge stays until you repair, change or remove its host.'
    print({ body: { waiting: [], settled: hosts }, lines: () => [sentence] }, json)
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
  await withOperations(await configIn(config), machine, async (operate) => {
    const { nameLines, otherServicesSentence, withdrawnLines } = await import('./withdraw.ts')
    const { names, services: others } = await operate('exposedNames', {})
    if (show || names.length === 0) return print({ body: { names }, lines: () => nameLines(names) }, json)
    if (others.length > 0) {
      const sentence = otherServicesSentence(others)
      return print({ body: { names, services: others }, lines: () => [sentence], exitCode: 3 }, json)
    }
    if (!json) standardOutput().print(...nameLines(names))
    await confirm({ question: `Withdraw ${names.length} names?`, action: 'withdraw them', yes })
    const withdrawn = await operate('withdraw', {})
    const exitCode = withdrawn.failed.length === 0 ? 0 : 1
    print({ body: withdrawn, lines: () => withdrawnLines(withdrawn), exitCode }, json)
  })
}
