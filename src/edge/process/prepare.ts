import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { adoptedFolder, FOLDERS, isSecret, parsePath, SHADOW_PREFIX, SITE_RECORD, STAGING } from '../config/layout.ts'
import { EdgeFault, type EdgeFile } from '../contract.ts'
import { withEdgeFaults } from '../files/files.ts'
import type { GenerationEngine } from '../generations/engine.ts'
import type { PresentGeneration } from '../generations/present.ts'
import type { FirstLayout } from '../generations/refresh.ts'
import { isLiveMarker, pointTo, removeLeft } from '../generations/stage.ts'
import { readMainFile } from '../reading/main-file.ts'
import type { EdgeSettings } from '../settings.ts'
import type { Nginx } from './nginx.ts'

interface Prepared {
  readonly present: PresentGeneration
  readonly engine: GenerationEngine
  /** Rejects if our servers cannot listen beside those of others. */
  readonly listening: () => Promise<unknown>
  readonly nginx: Pick<Nginx, 'isRunning' | 'answers' | 'reload'>
  /** Folders of others in which a change writes drafts. */
  readonly draftFolders: () => ReadonlySet<string>
  /** Runs `work` while no agent owns the folder. */
  readonly locked: (work: () => Promise<void>) => Promise<void>
}

/** Changes nothing before it has checked that the administrator's configuration includes the folder and has a place for our servers. */
export async function prepareEdge(
  settings: EdgeSettings,
  { present, engine, listening, nginx, locked, draftFolders }: Prepared,
  signal?: AbortSignal,
): Promise<void> {
  const { folder } = settings
  await readMainFile(settings)
  await listening()
  for (const { path, mode } of FOLDERS) await makeFolder(join(folder, path), mode)
  await locked(() => removeLeftOvers(settings, present.number, draftFolders()))
  const first = present.number === undefined ? firstLayout(folder) : NOTHING
  const hasChanged = await engine.refresh(first, nginx.isRunning(), signal)
  await removeFirstLayout(folder, first)
  if (present.number !== undefined) pointTo(folder, present.number)
  if (!hasChanged && nginx.isRunning() && !(await nginx.answers(signal))) await nginx.reload(signal)
}

const NOTHING: FirstLayout = { files: [], others: new Map(), isUpToDate: () => true }

/** What nginx includes in the first layout, in which every host and every certificate had files of its own. */
function firstLayout(folder: string): FirstLayout {
  const files: EdgeFile[] = []
  const others = new Map<string, string>()
  for (const path of firstPaths(folder)) {
    const content = textAt(join(folder, path))
    if (content === null) continue
    if (isOurs(path)) files.push({ path, content, secret: isSecret(path) })
    else if (/^hosts\/[^.].*\.conf$/.test(path)) others.set(`blocks/kept-${path.slice('hosts/'.length)}`, content)
  }
  const isUpToDate = () => {
    const now = firstLayout(folder)
    return JSON.stringify([now.files, [...now.others]]) === JSON.stringify([files, [...others]])
  }
  return { files, others, isUpToDate }
}

const FIRST_FOLDERS = ['hosts', 'tls/hosts', 'tls/certificates', 'tls/keys', 'tls/more']

const firstPaths = (folder: string): string[] =>
  FIRST_FOLDERS.flatMap((path) => namesIn(join(folder, path)).map((name) => `${path}/${name}`))

const isOurs = (path: string): boolean => {
  try {
    return parsePath(path) !== undefined
  } catch {
    return false
  }
}

/** Also what an earlier start did not get to. What is not of the first layout stays, and so do the folders of it. */
async function removeFirstLayout(folder: string, { others }: FirstLayout): Promise<void> {
  const isCarried = (path: string) => isOurs(path) || others.has(`blocks/kept-${path.slice('hosts/'.length)}`)
  for (const path of firstPaths(folder).filter(isCarried)) await rm(join(folder, path), { force: true })
  for (const path of [...FIRST_FOLDERS, 'tls']) await rmdir(join(folder, path)).catch(() => undefined)
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Follows links, as nginx does. */
const textAt = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
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
    ...drafts.filter((name) => !isLiveMarker(name)).map((name) => join(folder, STAGING, name)),
    ...[dirname(config), ...folders].flatMap((place) =>
      namesIn(place)
        .filter(isDeadShadow)
        .map((name) => join(place, name)),
    ),
    // A process that lives may be writing one.
    ...(drafts.some(isLiveMarker) ? [] : unfinishedSites(folder)),
  ]
  for (const path of leftOvers) await withEdgeFaults(path, () => rm(path, { recursive: true, force: true }))
}

/** The texts of sites that a crash kept from being taken out: the record comes last. */
function unfinishedSites(folder: string): string[] {
  const places = namesIn(adoptedFolder(folder)).map((name) => join(adoptedFolder(folder), name))
  return places.filter((place) => !existsSync(join(place, SITE_RECORD)))
}

/** That of a process that lives may be tested now. */
function isDeadShadow(name: string): boolean {
  if (!name.startsWith(SHADOW_PREFIX)) return false
  const [, pid] = /^(\d+)-/.exec(name.slice(SHADOW_PREFIX.length)) ?? []
  return pid === undefined || !existsSync(`/proc/${pid}`)
}
