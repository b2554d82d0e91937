// Loaded into the service by `--import`. A timer of 5 ms notes how late it is, less the time that the kernel kept the thread
// waiting for a processor. SIGUSR2: writes what was noted since the last SIGUSR2 to the file of LOOP_PROBE_FILE.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const BEAT_MS = 5

const file = process.env.LOOP_PROBE_FILE
if (isMainThread && file !== undefined) watch(file)

function watch(target: string): void {
  let lateMs: number[] = []
  let last = { at: performance.now(), waitedMs: waitedMs() }
  setInterval(() => {
    const beat = { at: performance.now(), waitedMs: waitedMs() }
    lateMs.push(Math.max(0, beat.at - last.at - BEAT_MS - (beat.waitedMs - last.waitedMs)))
    last = beat
  }, BEAT_MS).unref()
  process.on('SIGUSR2', () => {
    writeFileSync(`${target}.new`, JSON.stringify(lateMs))
    renameSync(`${target}.new`, target)
    lateMs = []
  })
}

/** The second field of `schedstat` in proc(5): nanoseconds for which the main thread was ready but had no processor. */
function waitedMs(): number {
  return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
}
