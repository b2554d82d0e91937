import type { Clock } from '../primitives/clock.ts'
import { whenWritesAreLost } from '../primitives/durable-file.ts'
import type { Log } from './log.ts'

/** The process functions that a long-running program needs. */
export interface OwnProcess {
  /** Resolves with the signal that asks it to end. */
  readonly ended: () => Promise<string>
  readonly exit: (code: number) => void
  /** Ends at once, like a power loss: closes nothing and writes nothing more. */
  readonly kill: () => void
}

export const ownProcess: OwnProcess = {
  ended: () =>
    new Promise((end) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(signal))
    }),
  exit: (code) => process.exit(code),
  kill: () => process.kill(process.pid, 'SIGKILL'),
}

interface Ending {
  readonly log: Log
  readonly clock: Clock
  readonly exit: OwnProcess['exit']
}

/** Ends the process even if work, a disk or a connection hangs. The next start completes unfinished work. */
export function endWithin(limitMs: number, { log, clock, exit }: Ending): void {
  const end = () => {
    log.error(
      { event: 'shutdown_overdue', seconds: limitMs / 1000 },
      'Shutdown did not finish in time; the process ends now. The next start recovers unfinished runs and changes.',
    )
    exit(1)
  }
  clock.after(limitMs, end, { ref: false })
}

/**
 * From now on the process ends when the disk fails to store written data. An orderly exit would close the database, and would copy
 * into it from a write-ahead log that may not be on the disk. The service manager restarts the process, and the start reads what
 * the disk has.
 */
export function endOnLostWrites(log: Log, { kill }: Pick<OwnProcess, 'kill'>): void {
  whenWritesAreLost(({ path, reason }) => {
    log.fatal(
      { event: 'writes_lost', path, reason },
      `The disk did not take what was written to ${path} (${reason}). The process ends now, and its next start recovers. Check the disk.`,
    )
    kill()
  })
}
