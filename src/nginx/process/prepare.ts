import { existsSync, readdirSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { withEdgeFaults } from '../../edge/faults.ts'
import { FOLDERS, STAGING } from '../../edge/layout.ts'
import { adoptedFolder, SHADOW_PREFIX, SITE_RECORD } from '../../estate/layout.ts'
import { readMainFile } from '../../estate/reading/main-file.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import type { PresentGeneration } from '../generations/present.ts'
import { pointTo, removeLeft } from '../generations/stage.ts'
import type { Nginx } from './nginx.ts'

interface Prepared {
  readonly present: PresentGeneration
  /** See `GenerationEngine`. */
  readonly refresh: (isRunning: boolean, signal?: AbortSignal) => Promise<boolean>
  /** Rejects if our servers cannot listen beside those of others. */
  readonly listening: () => Promise<unknown>
  readonly nginx: Pick<Nginx, 'isRunning' | 'answers' | 'reload'>
  /** Folders of others in which a change writes drafts. */
  readonly draftFolders: () => ReadonlySet<string>
  /** Runs `work` while nothing is staged. Rejects if another process owns the folder. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
}

/** Changes nothing before it has checked that the administrator's configuration includes the folder and has a place for our servers. */
export async function prepareEdge(
  settings: EdgeSettings,
  { present, refresh, listening, nginx, alone, draftFolders }: Prepared,
  signal?: AbortSignal,
): Promise<void> {
  const { folder } = settings
  await readMainFile(settings)
  await listening()
  for (const { path, mode } of FOLDERS) await makeFolder(join(folder, path), mode)
  await alone(() => removeLeftOvers(settings, present.number, draftFolders()))
  const hasChanged = await refresh(nginx.isRunning(), signal)
  if (present.number !== undefined) pointTo(folder, present.number)
  if (!hasChanged && nginx.isRunning() && !(await nginx.answers(signal))) await nginx.reload(signal)
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

async function makeFolder(path: string, mode: number): Promise<void> {
  const made = await withEdgeFaults(path, () => mkdir(path, { recursive: true }))
  if (made) await withEdgeFaults(path, () => chmod(path, mode))
  const found = await withEdgeFaults(path, () => lstat(path))
  if (!found.isDirectory()) throw new EdgeFault('unavailable', `${path} must be a folder and not a link.`)
  const wider = found.mode & ~mode & 0o077
  if (wider === 0) return
  throw new EdgeFault(
    'unavailable',
    `${path} is open to other users. Run: chmod ${mode.toString(8).padStart(4, '0')} ${path}`,
  )
}

/** Removes what a crash during a test or a swap left behind. */
async function removeLeftOvers(
  { config, folder }: EdgeSettings,
  present: number | undefined,
  folders: ReadonlySet<string>,
): Promise<void> {
  await removeLeft(folder, present)
  const drafts = await withEdgeFaults(STAGING, () => readdir(join(folder, STAGING)))
  const leftOvers = [
    ...drafts.map((name) => join(folder, STAGING, name)),
    ...[dirname(config), ...folders].flatMap((place) =>
      namesIn(place)
        .filter(isDeadShadow)
        .map((name) => join(place, name)),
    ),
    ...unfinishedSites(folder),
  ]
  for (const path of leftOvers) await withEdgeFaults(path, () => rm(path, { recursive: true, force: true }))
}

/** The texts of sites that a crash kept from being taken out: the record comes last. */
function unfinishedSites(folder: string): string[] {
  const places = namesIn(adoptedFolder(folder)).map((name) => join(adoptedFolder(folder), name))
  return places.filter((place) => !existsSync(join(place, SITE_RECORD)))
}

/** That of a process that lives may be tested now: commands test beside the owner. */
function isDeadShadow(name: string): boolean {
  if (!name.startsWith(SHADOW_PREFIX)) return false
  const [, pid] = /^(\d+)-/.exec(name.slice(SHADOW_PREFIX.length)) ?? []
  return pid === undefined || !existsSync(`/proc/${pid}`)
}
