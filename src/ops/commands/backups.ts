import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { withParts } from './parts.ts'

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
  const restore = onThisMachine(backups.command('restore <runId>'))
    .description("put the Primary's files back as they stood before that run; DNS is not touched")
    .action((runId: string, { config, json }: Configured) =>
      withParts(config, async (parts) => {
        const { restoreBackup } = await import('../backups.ts')
        const sentence = await restoreBackup(runId, parts)
        tell({ body: { runId, done: sentence }, lines: () => [sentence] }, json)
      }),
    )
  withExample(withJson(restore), 'drawbridge backups restore run_4f… --config /etc/drawbridge/drawbridge.yaml')
}
