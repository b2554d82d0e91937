// Loaded into the service by `--import`. A timer of 5 ms notes for how long the event loop had other work before its turn came, less
// the time for which the thread had no processor. SIGUSR2: writes what was noted since the last SIGUSR2 to the file of LOOP_PROBE_FILE.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const BEAT_MS = 5
/** The unit of /proc/stat. */
const TICK_MS = 10

const file = process.env.LOOP_PROBE_FILE
if (isMainThread && file !== undefined) watch(file)

function watch(target: string): void {
  let lateMs: number[] = []
  let last = momentNow()
  setInterval(() => {
    const now = momentNow()
    // In the rest of the time there was nothing to do, and the kernel called late.
    const busyMs = now.at - last.at - (now.idleMs - last.idleMs)
    const lateness = Math.min(now.at - last.at - BEAT_MS, busyMs)
    const stolen = (now.stolen.get(now.cpu) ?? 0) - (last.stolen.get(now.cpu) ?? 0)
    lateMs.push(Math.max(0, lateness - (now.waitedMs - last.waitedMs) - stolen))
    last = now
  }, BEAT_MS).unref()
  process.on('SIGUSR2', () => {
    writeFileSync(`${target}.new`, JSON.stringify(lateMs))
    renameSync(`${target}.new`, target)
    lateMs = []
  })
}

/** See `schedstat`, `stat` and `pid_stat` in proc(5). */
function momentNow() {
  const ofProcess = readFileSync('/proc/self/stat', 'utf8')
  return {
    at: performance.now(),
    idleMs: performance.eventLoopUtilization().idle,
    /** For how long the main thread was ready but had no processor. */
    waitedMs: Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6,
    /** The processor of the main thread. Its fields are counted after the name of the program. */
    cpu: `cpu${ofProcess.slice(ofProcess.lastIndexOf(')')).split(' ')[37]}`,
    /** For how long each processor was not there, because the machine is a virtual one. */
    stolen: new Map(
      readFileSync('/proc/stat', 'utf8')
        .split('\n')
        .filter((line) => /^cpu\d/.test(line))
        .map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[8]) * TICK_MS]),
    ),
  }
}
