import type { BackupManifest, BackupShelf } from '../apply/backups.ts'
import type { Turns } from '../apply/turns.ts'
import type { Edge } from '../edge/contract.ts'

/** One line for each backup, newest first. */
export const backupLines = (manifests: readonly BackupManifest[]): string[] =>
  manifests.length === 0
    ? ['There are no backups yet.']
    : manifests.map(({ runId, at, host, server, files }) => {
        const stood = files.filter(({ hash }) => hash !== null).map(({ path }) => path)
        return `${runId}  ${at}  ${host} on ${server}  ${stood.join(', ')}`
      })

interface RestoreParts {
  readonly shelf: BackupShelf
  readonly primary: Edge | undefined
  readonly turns: Turns
}

/** Puts the Primary's files back as they stood before a run: validated first, proven to run after. DNS is not touched. */
export async function restoreBackup(runId: string, { shelf, primary, turns }: RestoreParts): Promise<string> {
  if (!primary) throw new Error('no edge is configured for the Primary')
  const files = await shelf.load(runId)
  return turns.alone(primary, async () => {
    const change = { files, expected: await primary.look(files.map(({ path }) => path)) }
    await primary.validate(change)
    await primary.swap(change)
    await primary.reload()
    return `Put back on ${primary.server}: ${files.map(({ path, content }) => (content === null ? `no ${path}` : path)).join(', ')}.`
  })
}
