import { lstat, readFile, stat } from 'node:fs/promises'
import type { LoadState } from './contract.ts'
import { refusalAfter } from './error-log.ts'
import { masterIn, servingWorkers } from './nginx-workers.ts'
import type { EdgeSettings } from './settings.ts'

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10
/** What the clocks of files and of processes may be apart. */
const SLACK_MS = 100

/**
 * What the running nginx can have read: its workers hold the configuration as it was when they came. A file that was put
 * there or changed later cannot be what they run.
 */
export async function loadState(settings: EdgeSettings, paths: readonly string[]): Promise<LoadState> {
  const master = await masterIn(settings.pidFile)
  const workers = master === undefined ? [] : await servingWorkers(master)
  const starts = (await Promise.all(workers.map(startOf))).filter((at) => at !== undefined)
  const loadedAt = starts.length === 0 ? null : Math.max(...starts)
  const changes = await Promise.all(paths.map(async (path) => [path, await changedAt(path)] as const))
  return {
    isRunning: master !== undefined,
    younger:
      loadedAt === null
        ? null
        : changes.flatMap(([path, at]) => (at !== undefined && at > loadedAt + SLACK_MS ? [path] : [])),
    refusal: (await refusalAfter(settings.errorLog, secondOf(loadedAt ?? 0), master)) ?? null,
  }
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

/** The time of the last change to what it holds or to its place: a file that is moved or copied there may look older than that. */
async function changedAt(path: string): Promise<number | undefined> {
  const found = await Promise.all([lstat, stat].map((look) => look(path).catch(() => undefined)))
  const times = found.flatMap((file) => (file ? [file.ctimeMs] : []))
  return times.length === 0 ? undefined : Math.max(...times)
}

const secondOf = (at: number): number => Math.floor(at / 1000) * 1000
