import type { FileHandle } from 'node:fs/promises'
import type { NamedFile } from '../../runtime/named-file.ts'
import type { CopiedTable, CopyReport, RowPage, SnapshotContent } from '../../store/ports/copy.ts'
import { BadBackup } from './age-file.ts'
import { type BackedUpFile, type BackupHead, openBackup, readBackup } from './backup-file.ts'
import { placeOf, putBack, type StatePlaces, standing } from './state-files.ts'

export interface RestoreParts extends StatePlaces {
  /** Writes the rows into the empty store, in a new epoch. Rejects if the store is not empty; then nothing was written. */
  readonly restoreStore: (content: SnapshotContent) => Promise<CopyReport>
  /** Rejects with a sentence if the store has rows, cannot be used or cannot take this backup. Called before anything is written. */
  readonly assertCanRestore: (head: BackupHead) => Promise<void>
  /** Begins an epoch above those that agents tell. Resolves with it, and with the agents whose epoch is not known. */
  readonly riseAboveAgents: () => Promise<{ readonly epoch: number } & Pick<RestoreReport, 'silent'>>
  /** Writes the audit line. */
  readonly note: (report: RestoreReport) => Promise<void>
}

export interface RestoreReport {
  readonly file: string
  readonly madeAt: number
  readonly madeBy: string
  readonly storeId: string
  readonly epoch: { readonly from: number; readonly to: number }
  readonly tables: readonly CopiedTable[]
  readonly files: { readonly written: number; readonly same: number }
  /** Agents that did not tell their epoch, or one that is not believed. The reason is a sentence. */
  readonly silent: readonly { readonly server: string; readonly reason: string }[]
}

/** What a whole look at a backup has found. */
interface Checked {
  readonly head: BackupHead
  readonly tables: readonly CopiedTable[]
  readonly missing: number
  readonly same: number
}

/**
 * Restores a backup onto an empty machine. Reads the backup twice: first to check all of it, with every file that would be written,
 * then to write. Never overwrites a file with another content. Repeatable until the store is written, which comes last.
 */
export async function restore(
  source: NamedFile,
  passphrase: string | undefined,
  parts: RestoreParts,
): Promise<RestoreReport> {
  const file = await openBackup(source)
  return restoreOpened(file, source.path, passphrase, parts).finally(() => file.close())
}

async function restoreOpened(
  file: FileHandle,
  path: string,
  passphrase: string | undefined,
  parts: RestoreParts,
): Promise<RestoreReport> {
  const { head, tables, missing, same } = await check(file, passphrase, parts)
  await parts.assertCanRestore(head)
  for await (const line of readBackup(file, passphrase))
    if ('file' in line && standing(line.file, parts) === 'missing') await putBack(line.file, parts)
  const { epoch, storeId } = await parts.restoreStore({ ...head, tables, pages: pagesOf(file, passphrase) })
  const above = await parts.riseAboveAgents()
  const report: RestoreReport = {
    file: path,
    madeAt: head.at,
    madeBy: head.version,
    storeId,
    epoch: { from: epoch.from, to: above.epoch },
    tables,
    files: { written: missing, same },
    silent: above.silent,
  }
  await parts.note(report)
  return report
}

async function* pagesOf(file: FileHandle, passphrase: string | undefined): AsyncGenerator<RowPage> {
  for await (const line of readBackup(file, passphrase)) if ('page' in line) yield line.page
}

/** Reads a backup to its end. Changes nothing. Rejects if it is not whole, or if a file would have to be overwritten. */
async function check(file: FileHandle, passphrase: string | undefined, places: StatePlaces): Promise<Checked> {
  let head: BackupHead | undefined
  let end: { readonly tables: readonly CopiedTable[]; readonly files: number } | undefined
  const rows = new Map<string, number>()
  const files: Record<ReturnType<typeof standing>, string[]> = { missing: [], same: [], differs: [] }
  const see = (found: BackedUpFile) => files[standing(found, places)].push(placeOf(found.path, places))
  for await (const line of readBackup(file, passphrase)) {
    if (end) throw incomplete()
    if ('head' in line) head = line.head
    else if ('page' in line) rows.set(line.page.table, (rows.get(line.page.table) ?? 0) + line.page.rows.length)
    else if ('file' in line) see(line.file)
    else end = line.end
  }
  const count = files.missing.length + files.same.length + files.differs.length
  if (!head || !end || end.files !== count || end.tables.length !== rows.size) throw incomplete()
  if (end.tables.some((table) => rows.get(table.table) !== table.rows)) throw incomplete()
  if (files.differs.length > 0)
    throw new Error(
      `These files exist already and differ from the backup: ${files.differs.join(', ')}. Nothing was changed. ` +
        'Restore onto an empty state folder, or move them away.',
    )
  return { head, tables: end.tables, missing: files.missing.length, same: files.same.length }
}

const incomplete = (): Error => new BadBackup('The backup is not complete. Nothing of it was used.')
