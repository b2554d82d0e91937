import { lstat, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LoadState } from '../../edge/contract/edge.ts'
import { CURRENT, GENERATIONS } from '../../edge/layout.ts'
import { type LoggedRefusal, lastRefusal } from '../../estate/reading/error-log.ts'
import { refusalSentence } from '../../estate/reading/refusal.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { kernelTime } from '../../primitives/clock.ts'
import { masterPid, servingWorkers } from './nginx-workers.ts'

/** The unit of process start times in /proc. */
const TICK_MS = 10
/** The possible difference between the clock of the file system and the start time of a process. */
const SLACK_MS = 100
/** The resolution of the times in nginx's log. */
const SECOND_MS = 1000

/**
 * The workers run the configuration that was on disk when they started. A file that was created or changed later is not
 * part of the running configuration.
 */
export async function loadState(settings: EdgeSettings, paths: readonly string[]): Promise<LoadState> {
  const master = masterPid(settings.pidFile)
  const workers = master === undefined ? [] : servingWorkers(master)
  const starts = (await Promise.all(workers.map(startOf))).filter((at) => at !== undefined)
  const loadedAt = starts.length === 0 ? null : Math.max(...starts)
  const [changes, refusal] = await Promise.all([
    Promise.all(paths.map(async (path) => ({ path, at: await changedAt(settings, path) }))),
    lastRefusal(settings.errorLog, master),
  ])
  return {
    changedSinceLoad:
      loadedAt === null ? null : changes.filter(({ at }) => at > loadedAt + SLACK_MS).map(({ path }) => path),
    refusal: refusal && (await isCurrent(settings, refusal, loadedAt)) ? refusalSentence(refusal) : null,
  }
}

/** False when nginx has loaded a configuration since, or when the file at fault has changed since. */
async function isCurrent(
  settings: EdgeSettings,
  { at, file }: LoggedRefusal,
  loadedAt: number | null,
): Promise<boolean> {
  if (at + SECOND_MS <= (loadedAt ?? 0)) return false
  if (file === undefined) return at > (loadedAt ?? 0)
  const changed = await changedAt(settings, file)
  return changed > (loadedAt ?? 0) && changed < at + SECOND_MS
}

async function startOf(pid: number): Promise<number | undefined> {
  const [stat, uptime] = await Promise.all(
    [`/proc/${pid}/stat`, '/proc/uptime'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  // The program name is in brackets and may contain anything. The start time is the twentieth word after it.
  const ticks = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const upMs = Number(uptime?.split(' ')[0]) * 1000
  const start = kernelTime() - upMs + ticks * TICK_MS
  return Number.isFinite(start) ? start : undefined
}

/**
 * The time of the last change of content or location (ctime): a moved or copied file may keep an older mtime. In a generation it is the
 * time of the content (mtime): each further generation that has the same file changes its ctime. 0 when the file does not exist.
 */
async function changedAt({ folder }: EdgeSettings, path: string): Promise<number> {
  const isGathered = [CURRENT, GENERATIONS].some((name) => path.startsWith(join(folder, name, '/')))
  const found = await Promise.all([lstat, stat].map((read) => read(path).catch(() => undefined)))
  return Math.max(0, ...found.flatMap((file) => (file ? [isGathered ? file.mtimeMs : file.ctimeMs] : [])))
}
