import type { Command } from 'commander'
import { insistOn } from '../../cli/ask.ts'
import { UsageError } from '../../cli/usage.ts'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { standardOutput, tell } from '../../terminal/told.ts'
import { withParts } from './parts.ts'

interface RestoreOptions extends Configured {
  readonly show?: boolean
  readonly yes?: boolean
  readonly offAir?: string
}

export function addBackups(program: Command): void {
  const backups = program.command('backups').description("the edge's files as they stood before each run")
  const list = onThisMachine(backups.command('list'))
    .description('show them, newest first')
    .action(({ config, json }: Configured) =>
      withParts(config, async ({ shelf }) => {
        const { backupLines } = await import('../backups.ts')
        const manifests = await shelf.list()
        tell({ body: { backups: manifests }, lines: () => backupLines(manifests) }, json)
      }),
    )
  withExample(withJson(list), 'drawbridge backups list --config /etc/drawbridge/drawbridge.yaml')
  const command = onThisMachine(backups.command('restore <runId>'))
    .description("put the Primary's files back as they stood before that run; DNS is not touched")
    .option('--show', 'only show which files would appear, change and vanish')
    .option('--yes', 'do not ask')
    .option('--off-air <host>', 'restore although that host, which is live, is taken off the air')
    .action(restore)
  withExample(
    withJson(command),
    'drawbridge backups restore run_4f… --config /etc/drawbridge/drawbridge.yaml --show',
    'drawbridge backups restore run_4f… --config /etc/drawbridge/drawbridge.yaml',
  )
}

/** Shows what it would do, asks, and does it. */
function restore(runId: string, { config, json, show, yes, offAir }: RestoreOptions): Promise<void> {
  return withParts(config, async (parts) => {
    const { offAirSentence, previewLines, previewRestore, restoreBackup } = await import('../backups.ts')
    const preview = await previewRestore(runId, parts)
    const body = { runId, server: preview.server, differences: preview.differences, offAir: preview.offAir }
    const nothingToDo = preview.differences.length === 0
    if (show || nothingToDo) {
      return tell({ body: { ...body, restored: false }, lines: () => previewLines(preview) }, json)
    }
    if (preview.offAir !== null && offAir !== preview.offAir) throw new UsageError(offAirSentence(preview.offAir))
    if (!json) standardOutput().say(...previewLines(preview))
    await insistOn(`Restore ${preview.differences.length} files on ${preview.server}?`, yes)
    const sentence = await restoreBackup(preview, parts)
    tell({ body: { ...body, restored: true }, lines: () => [sentence] }, json)
  })
}
