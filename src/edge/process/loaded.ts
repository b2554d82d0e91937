import { lstat, readFile, stat } from 'node:fs/promises'
import type { LoadState } from '../contract.ts'
import { type LoggedRefusal, lastRefusal } from '../reading/error-log.ts'
import { refusalSentence } from '../reading/refusal.ts'
import type { EdgeSettings } from '../settings.ts'
import { masterPid, servingWorkers } from './nginx-workers.ts'

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10
/** What the clocks of files and of processes may be apart. */
const SLACK_MS = 100
/** The log tells no smaller times. */
const SECOND_MS = 1000

/**
 * What the running nginx can have read: its workers hold the configuration as it was when they came. A file that was put
 * there or changed later cannot be what they run.
 */
export async function loadState(settings: EdgeSettings, paths: readonly string[]): Promise<LoadState> {
  const master = masterPid(settings.pidFile)
  const workers = master === undefined ? [] : servingWorkers(master)
  const starts = (await Promise.all(workers.map(startOf))).filter((at) => at !== undefined)
  const loadedAt = starts.length === 0 ? null : Math.max(...starts)
  const [changes, refusal] = await Promise.all([
    Promise.all(paths.map(async (path) => ({ path, at: await changedAt(path) }))),
    lastRefusal(settings.errorLog, master),
  ])
  return {
    changedSinceLoad:
      loadedAt === null ? null : changes.filter(({ at }) => at > loadedAt + SLACK_MS).map(({ path }) => path),
    refusal: refusal && (await isCurrent(refusal, loadedAt)) ? refusalSentence(refusal) : null,
  }
}

/** Not once nginx has loaded something since, nor once the file that was at fault is another. */
async function isCurrent({ at, file }: LoggedRefusal, loadedAt: number | null): Promise<boolean> {
  if (at + SECOND_MS <= (loadedAt ?? 0)) return false
  if (file === undefined) return at > (loadedAt ?? 0)
  const changed = await changedAt(file)
  return changed > (loadedAt ?? 0) && changed < at + SECOND_MS
}

async function startOf(pid: number): Promise<number | undefined> {
  const [stat, uptime] = await Promise.all(
    [`/proc/${pid}/stat`, '/proc/uptime'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  // The program's name stands in brackets and may hold anything; the start is the twentieth word behind it.
  const ticks = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const upMs = Number(uptime?.split(' ')[0]) * 1000
  const start = Date.now() - upMs + ticks * TICK_MS
  return Number.isFinite(start) ? start : undefined
}

/** When what it holds, or where it stands, changed last: a file that is moved or copied there may say that it is older. 0: it is gone. */
async function changedAt(path: string): Promise<number> {
  const found = await Promise.all([lstat, stat].map((look) => look(path).catch(() => undefined)))
  return Math.max(0, ...found.flatMap((file) => (file ? [file.ctimeMs] : [])))
}
