import type { Command } from 'commander'
import type { Clock } from '../primitives/clock.ts'
import type { CopyProgress } from '../store/ports/copy.ts'
import { type Configured, onThisMachine, withExample, withJson } from '../terminal/declare.ts'
import { print } from '../terminal/print.ts'
import { screenOn } from '../terminal/screen.ts'
import type { KeyRotation, Machine, StoreCopied } from './machine.ts'
import { configIn, configsIn } from './open-config.ts'

export function addStore(program: Command, machine: Machine): void {
  const store = program.command('store').description('the database of the service')
  const copy = onThisMachine(store.command('copy'))
    .description('copy the store to an empty one, from SQLite to PostgreSQL or back, while no service runs')
    .requiredOption('--to <file>', 'a configuration file whose store is the target')
    .action(async ({ config, to, json }: Configured & { to: string }) => {
      const [source, target] = await configsIn(config, to)
      const report = await machine.copyStore(source, target, progressOnErrors(machine.clock))
      print({ body: { ...report, to }, lines: () => copyLines(report, to) }, json)
    })
  withExample(
    withJson(copy),
    'drawbridge store copy --config /etc/drawbridge/drawbridge.yaml --to /etc/drawbridge/postgres.yaml',
  )
}

export function addKeys(program: Command, machine: Machine): void {
  const keys = program.command('keys').description('the key of the secrets in the store')
  const rotate = onThisMachine(keys.command('rotate'))
    .description('seal all secrets in the store with a new key; services may run')
    .option('--lost', 'the key file is lost: delete the secrets that cannot be opened')
    .action(async ({ config: file, json, lost }: Configured & { lost?: boolean }) => {
      const config = await configIn(file)
      const rotation = await machine.rotateKeys(config, lost === true)
      const body = { ...rotation, from: rotation.from ?? null, file: config.storeKeyFile }
      print({ body, lines: () => rotationLines(rotation, config.storeKeyFile) }, json)
    })
  withExample(withJson(rotate), 'drawbridge keys rotate --config /etc/drawbridge/drawbridge.yaml')
}

const rotationLines = ({ from, to, sealed, lost }: KeyRotation, file: string): string[] => [
  `${sealed} ${sealed === 1 ? 'secret is' : 'secrets are'} sealed with ${to}${from === undefined ? '' : ` instead of ${from}`}.`,
  ...lost.map((name) => `Deleted, because no key opens it: ${name}`),
  `The new key is in ${file}. Keep a copy of it beside the backups of the store: it opens no earlier backup, and no other key opens a later one.`,
]

const EVERY_MS = 1_000

/** At most one line a second, so that a short copy prints none. */
function progressOnErrors(clock: Clock): (progress: CopyProgress) => void {
  const screen = screenOn(process.stderr, process.env)
  let printedAt = clock.monotonic()
  return ({ table, rows, of }) => {
    if (clock.monotonic() - printedAt < EVERY_MS) return
    printedAt = clock.monotonic()
    screen.print(`Copying ${table}: ${rows} of ${of} rows.`)
  }
}

function copyLines({ tables, storeId, epoch, unknownEpochs }: StoreCopied, to: string): string[] {
  const width = Math.max(...tables.map(({ table }) => table.length))
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return [
    ...tables.map(
      ({ table, rows, hash }) => `${table.padEnd(width)}  ${String(rows).padStart(8)}  ${hash.slice(0, 16)}`,
    ),
    '',
    `Copied ${rows} rows of ${storeId}. Counts and hashes of all tables are the same in both stores.`,
    `The copy begins epoch ${epoch.to}: as soon as a service on it has reached an edge, the edge refuses changes from the former store.`,
    ...unknownEpochs.map(
      ({ server, reason }) =>
        `Edge ${server} was not asked for its epoch: ${reason} The former service did not use it.`,
    ),
    `Start the service with --config ${to}, and do not start it on the former store again.`,
  ]
}
