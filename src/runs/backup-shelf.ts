import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { EdgeFile } from '../edge/contract.ts'
import { Fault } from '../model/errors.ts'
import { type BackupManifest, linkIn } from '../model/receipt.ts'
import { createFileInBackground, errorCode, replaceFile, syncFolder } from '../primitives/durable-file.ts'
import { hashOf } from './file-hash.ts'

/**
 * Stores backups. `keep` is durable when it resolves. It removes the oldest backups beyond the configured number, but never
 * one whose run is blocked or not finished.
 */
export interface BackupShelf {
  keep(about: Pick<BackupManifest, 'runId' | 'host' | 'server'>, files: readonly EdgeFile[]): Promise<BackupManifest>
  /** Removes the rest of a backup that a crash interrupted. */
  tidy(runId: string): Promise<void>
  /** Removes the backup of a run that changed nothing. */
  discard(runId: string): Promise<void>
  /** Newest first. */
  list(): Promise<readonly BackupManifest[]>
  /** The files of one backup. Rejects if a hash does not match. */
  load(runId: string): Promise<readonly EdgeFile[]>
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
  const list = async (): Promise<readonly BackupManifest[]> => {
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
    async keep(about, files) {
      const manifest = { ...about, at: new Date(now()).toISOString(), files: files.map(describe) }
      await write(folder, manifest, files).catch((error: unknown) => {
        throw new Fault(`The backup could not be written (${errorCode(error) ?? 'unknown reason'}).`)
      })
      // Not awaited: a backup that could not be removed now is removed after the next run.
      letGo().catch(() => undefined)
      return manifest
    },
    async tidy(runId) {
      if (!(await readManifest(folder, runId))) await discard(runId)
    },
    async load(runId) {
      const manifest = await readManifest(folder, runId)
      if (!manifest) throw new Fault(`There is no backup of run ${runId}.`)
      return Promise.all(manifest.files.map((file, i) => loadFile(folder, runId, file, i)))
    },
  }
}

const describe = (file: EdgeFile): BackupManifest['files'][number] => ({ ...hashOf(file), secret: file.secret })

/** The manifest is written last, by rename: a backup with a manifest is complete. */
async function write(folder: string, manifest: BackupManifest, files: readonly EdgeFile[]): Promise<void> {
  const target = join(folder, manifest.runId)
  // A crash in an earlier attempt may have left some of the files.
  await rm(target, { recursive: true, force: true })
  await mkdir(target, { recursive: true, mode: 0o700 })
  await Promise.all(
    files.map(async ({ content }, i) => {
      if (content !== null) await createFileInBackground(join(target, String(i)), content, 0o600)
    }),
  )
  await replaceFile(join(target, 'manifest.json'), JSON.stringify(manifest, null, 2), 0o600)
  await syncFolder(folder)
}

async function readManifest(folder: string, runId: string): Promise<BackupManifest | undefined> {
  if (!/^run_[0-9a-f]+$/.test(runId)) return undefined
  const text = await readFile(join(folder, runId, 'manifest.json'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as BackupManifest)
}

async function loadFile(
  folder: string,
  runId: string,
  file: BackupManifest['files'][number],
  i: number,
): Promise<EdgeFile> {
  const { path, hash, secret } = file
  const link = linkIn(hash)
  if (hash === null || link !== undefined) return { path, content: null, secret, ...(link !== undefined && { link }) }
  const content = await readFile(join(folder, runId, String(i)), 'utf8').catch(() => undefined)
  if (content === undefined) throw new Fault(`The backup of ${path} in ${runId} is missing.`)
  const kept = { path, content, secret }
  if (hashOf(kept).hash !== hash) throw new Fault(`The backup of ${path} in ${runId} is damaged.`)
  return kept
}
