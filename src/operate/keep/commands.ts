import type { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import type { Receipt } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { NamedFile } from '../../runtime/named-file.ts'
import { type Configured, confirm, onThisMachine, UsageError, withExample, withJson } from '../../terminal/declare.ts'
import { print, standardOutput } from '../../terminal/print.ts'
import { configIn } from '../open-config.ts'
import type { BackupReport } from './backup.ts'
import type { Findings, RebuildOptions, RebuildReport } from './rebuild.ts'
import type { RestoreReport } from './restore.ts'

/** The parts of these commands. Every member loads its code when it is called. */
export interface KeepMachine {
  readonly clock: Clock
  /** Writes everything that a restore needs into one new file. A service may run meanwhile. */
  backup(config: Config, file: NamedFile, passphrase: string | undefined): Promise<BackupReport>
  /** Restores a backup into an empty store. No service may run on it. */
  restore(config: Config, file: NamedFile, passphrase: string | undefined): Promise<RestoreReport>
  /** Enters what edges, zones and certificates tell into the store, once that is confirmed. No service may run on it. */
  rebuild(config: Config, options: RebuildOptions): Promise<RebuildReport>
}

interface RestoreOptions extends Configured {
  readonly passphraseFile?: string
}

interface BackupOptions extends RestoreOptions {
  readonly unencrypted?: boolean
}

const PASSPHRASE = '--passphrase-file <file>'

export function addBackup(program: Command, machine: KeepMachine): void {
  const command = onThisMachine(program.command('backup <file>'))
    .description('write the store, its key and the issued certificates to one new file; the service may run')
    .option(PASSPHRASE, 'encrypt the backup with the first line of this file')
    .option('--unencrypted', 'do not encrypt the backup: whoever reads it has every key')
    .action(async (file: string, { config, json, passphraseFile, unencrypted }: BackupOptions) => {
      if ((passphraseFile === undefined) !== (unencrypted === true))
        throw new UsageError(
          'A backup has every key of the installation. Pass --passphrase-file FILE to encrypt it, or --unencrypted.',
        )
      const { passphraseIn } = await import('./passphrase.ts')
      const { NamedFile } = await import('../../runtime/named-file.ts')
      // A command of root reads it as root: the user of the service may not.
      const passphrase = await passphraseIn(passphraseFile, machine.clock)
      const target = new NamedFile(file)
      const report = await machine.backup(await configIn(config, () => target.createAsRoot()), target, passphrase)
      print({ body: { ...report, at: instant(report.at) }, lines: () => backupLines(report) }, json)
    })
  withExample(
    withJson(command),
    'drawbridge backup /var/backups/drawbridge-1.backup --passphrase-file /root/backup.pass --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge backup today.backup --unencrypted --config /etc/drawbridge/drawbridge.yaml',
  )
}

export function addRestore(program: Command, machine: KeepMachine): void {
  const command = onThisMachine(program.command('restore <file>'))
    .description('restore a backup onto an empty machine, while no service runs')
    .option(PASSPHRASE, 'the passphrase of an encrypted backup is the first line of this file')
    .action(async (file: string, { config, json, passphraseFile }: RestoreOptions) => {
      const { passphraseIn } = await import('./passphrase.ts')
      const { NamedFile } = await import('../../runtime/named-file.ts')
      // A command of root reads it as root: the user of the service may not.
      const passphrase = await passphraseIn(passphraseFile, machine.clock)
      const source = new NamedFile(file)
      const report = await machine.restore(await configIn(config, () => source.openAsRoot()), source, passphrase)
      print({ body: { ...report, madeAt: instant(report.madeAt) }, lines: () => restoreLines(report) }, json)
    })
  withExample(
    withJson(command),
    'drawbridge restore /var/backups/drawbridge-1.backup --config /etc/drawbridge/drawbridge.yaml',
  )
}

interface RebuildFlags extends Configured {
  readonly fromWorld?: boolean
  readonly dryRun?: boolean
  readonly otherEpochs?: boolean
  readonly exposures?: string
  readonly yes?: boolean
}

export function addRebuild(program: Command, machine: KeepMachine): void {
  const command = onThisMachine(program.command('rebuild'))
    .description('the store is lost: manage again what edges, DNS and certificates show, while no service runs')
    .option('--from-world', 'look at the edges, the owner marks in DNS and the certificates on disk')
    .option('--dry-run', 'only show what was found and what is missing')
    .option('--other-epochs', 'also adopt hosts that a store of an older epoch has changed last')
    .option('--exposures <file>', 'take health paths and ends from a file that drawbridge export has printed')
    .option('--yes', 'do not ask for confirmation')
    .action((options: RebuildFlags) => rebuild(options, machine))
  withExample(
    withJson(command),
    'drawbridge rebuild --from-world --dry-run --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge rebuild --from-world --config /etc/drawbridge/drawbridge.yaml',
  )
}

/** Shows what was found, asks, and enters it into the store. */
async function rebuild(options: RebuildFlags, machine: KeepMachine): Promise<void> {
  const { config, json, fromWorld, dryRun, otherEpochs, exposures, yes } = options
  if (!fromWorld) throw new UsageError('Pass --from-world. There is no other source to rebuild from.')
  const remembered = exposures === undefined ? new Map() : await rememberedIn(exposures, machine.clock.now())
  const report = await machine.rebuild(await configIn(config), {
    otherEpochs: otherEpochs === true,
    remembered,
    confirm: async (found) => {
      if (!json) standardOutput().print(...foundLines(found))
      if (dryRun || found.adoptions.length === 0) return false
      const action = `adopt ${found.adoptions.length} hosts`
      await confirm({ question: `Adopt ${found.adoptions.length} hosts?`, action, yes })
      return true
    },
  })
  print({ body: rebuildBody(report), lines: () => rebuiltLines(report) }, json)
}

/** An end that is over says nothing: the exposure was prolonged, or it would be gone. */
async function rememberedIn(file: string, now: number): Promise<RebuildOptions['remembered']> {
  const { readExposures } = await import('../../config/exposures-file.ts')
  return new Map(
    readExposures(file).map(({ host, health, expiresAt }) => {
      const isKnown = expiresAt === undefined || expiresAt > now
      return [host, { health, ...(isKnown && { expiresAt }) }]
    }),
  )
}

const rebuildBody = ({ adoptions, left, known, silent, epoch }: RebuildReport) => ({
  adopted: epoch !== undefined,
  epoch: epoch ?? null,
  found: adoptions.map(({ host, plan, receipt, expiresAt, guessed }) => ({
    host,
    planId: plan.planId,
    exposureId: plan.exposureId,
    request: plan.request,
    certificate: receipt.certificate?.fingerprint ?? null,
    expiresAt: expiresAt === undefined ? null : instant(expiresAt),
    guessed,
  })),
  left: left.map(({ host, reason }) => ({ host, reason })),
  known,
  silent,
})

function foundLines({ adoptions, left, known, silent }: Findings): string[] {
  const count = (hosts: number) => `${hosts} ${hosts === 1 ? 'host' : 'hosts'}`
  return [
    ...silent.map((server) => `Edge ${server} cannot be read. Hosts that only this edge has are not found.`),
    ...(known > 0 ? [`The store has ${count(known)} of the edges already.`] : []),
    `Found ${count(adoptions.length)} that can be managed again:`,
    ...adoptions.map(({ host, plan: { request }, receipt }) => {
      const { server, port, health, tls } = request
      const how = tls ? `https, ${renewalOf(receipt)}` : 'http'
      return `  ${host}  server ${server}, port ${port}, health ${health}, ${how}`
    }),
    ...(left.length > 0 ? [`Left as they are, ${count(left.length)}:`] : []),
    ...left.map(({ host, reason }) => `  ${host}  ${reason}`),
    ...(adoptions.some(({ guessed }) => guessed.length > 0)
      ? [
          'Nothing in the world tells health paths, expiries, notes of who planned what, or the history. ' +
            'The health path is the first of /healthz, /health and / that answers. No host expires: set ends again with drawbridge up.',
        ]
      : []),
  ]
}

const renewalOf = ({ certificate }: Receipt): string =>
  certificate?.pairOnEdge
    ? 'certificate and key stay on the edge until the next one is ordered'
    : certificate?.ours
      ? 'renewed here'
      : 'certificate placed by hand'

const rebuiltLines = ({ adoptions, epoch }: RebuildReport): string[] =>
  epoch === undefined
    ? ['Nothing was changed.']
    : [
        `${adoptions.length === 1 ? '1 host is' : `${adoptions.length} hosts are`} in the store, which begins epoch ${epoch}.`,
        'Start the service. Then see what waits for you: drawbridge reconcile. And compare: drawbridge diff --all',
      ]

const instant = (at: number): string => new Date(at).toISOString()

const rowsIn = ({ tables }: Pick<BackupReport, 'tables'>): number => tables.reduce((sum, { rows }) => sum + rows, 0)

const backupLines = (report: BackupReport): string[] => [
  `${report.file} has ${rowsIn(report)} rows of ${report.storeId} and ${report.files} files (${report.bytes} bytes).`,
  report.isEncrypted
    ? 'It is encrypted. Nobody can restore it without the passphrase.'
    : 'It is not encrypted and contains private keys: whoever reads it can act as this installation.',
]

const restoreLines = (report: RestoreReport): string[] => [
  `Restored ${rowsIn(report)} rows of ${report.storeId} and ${report.files.written} files from ${instant(report.madeAt)}.`,
  `The store begins epoch ${report.epoch.to}: edges refuse changes from the store that was backed up.`,
  ...report.silent.map(({ server, reason }) => `The epoch of edge ${server} is not known. ${reason}`),
  'Start the service. It writes the hosts to edges that do not have them. Do not start a service on the former store again.',
]
