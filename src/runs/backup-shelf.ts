import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Entry } from '../edge/record/entry.ts'
import { Fault } from '../model/errors.ts'
import type { BackupManifest } from '../model/receipt.ts'
import { errorCode, replaceFile, syncFolder } from '../primitives/durable-file.ts'

/** A backup, with the entry that stood before the run. */
export interface Backup extends BackupManifest {
  /** Null: the edge had none. */
  readonly entry: Entry | null
}

/**
 * Stores backups. `keep` is durable when it resolves. It removes the oldest backups beyond the configured number, but never
 * one whose run is blocked or not finished.
 */
export interface BackupShelf {
  keep(backup: Omit<Backup, 'at'>): Promise<Backup>
  /** Removes the rest of a backup that a crash interrupted. */
  tidy(runId: string): Promise<void>
  /** Removes the backup of a run that changed nothing. */
  discard(runId: string): Promise<void>
  /** Newest first. */
  list(): Promise<readonly Backup[]>
  /** Rejects if there is none, or if it is damaged. */
  load(runId: string): Promise<Backup>
}

/** After this many new backups the oldest are removed: finding them reads all manifests. */
const AT_ONCE = 20

/**
 * Backups in the state folder, one folder per run, readable by the owner only. Keeps at least the newest `keepRuns` and all
 * `needed`: a run that is blocked or not finished may still have to be undone.
 */
export function backupShelf(
  folder: string,
  keepRuns: number,
  now: () => number,
  needed: () => Promise<ReadonlySet<string>>,
): BackupShelf {
  const list = async (): Promise<readonly Backup[]> => {
    const names = await readdir(folder).catch(() => [])
    const manifests = await Promise.all(
      names.filter((name) => name.startsWith('run_')).map((name) => readManifest(folder, name)),
    )
    return manifests.filter((manifest) => manifest !== undefined).toSorted((a, b) => b.at.localeCompare(a.at))
  }
  const discard = (runId: string) => rm(join(folder, runId), { recursive: true, force: true })
  let added = AT_ONCE
  const letGo = async () => {
    added += 1
    if (added < AT_ONCE) return
    added = 0
    const present = (await readdir(folder)).length
    if (present < keepRuns + AT_ONCE) {
      added = present - keepRuns
      return
    }
    const spared = await needed()
    for (const { runId } of (await list()).slice(keepRuns)) if (!spared.has(runId)) await discard(runId)
  }
  return {
    list,
    discard,
    async keep(kept) {
      const backup = { ...kept, at: new Date(now()).toISOString() }
      await write(folder, backup).catch((error: unknown) => {
        throw new Fault(`The backup could not be written (${errorCode(error) ?? 'unknown reason'}).`)
      })
      // Not awaited: a backup that could not be removed now is removed after the next run.
      letGo().catch(() => undefined)
      return backup
    },
    async tidy(runId) {
      if (!(await readManifest(folder, runId))) await discard(runId)
    },
    async load(runId) {
      const backup = await readManifest(folder, runId)
      if (!backup) throw new Fault(`There is no backup of run ${runId} that this version can read.`)
      return backup
    },
  }
}

/** By rename: a backup with a manifest is complete. */
async function write(folder: string, backup: Backup): Promise<void> {
  const target = join(folder, backup.runId)
  await mkdir(target, { recursive: true, mode: 0o700 })
  await replaceFile(join(target, 'manifest.json'), JSON.stringify(backup, null, 2), 0o600)
  await syncFolder(folder)
}

/** Undefined for what is no backup of this version. */
async function readManifest(folder: string, runId: string): Promise<Backup | undefined> {
  if (!/^run_[0-9a-f]+$/.test(runId)) return undefined
  try {
    const backup = JSON.parse(await readFile(join(folder, runId, 'manifest.json'), 'utf8')) as Backup
    return backup.entry === undefined ? undefined : backup
  } catch {
    return undefined
  }
}
