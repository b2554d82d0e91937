import type { Clock } from '../primitives/clock.ts'
import type { Log } from './log.ts'

/** What a program that runs for long needs of its process. */
export interface OwnProcess {
  /** Resolves with the signal that asks it to end. */
  readonly ended: () => Promise<string>
  readonly exit: (code: number) => void
}

export const ownProcess: OwnProcess = {
  ended: () =>
    new Promise((end) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(signal))
    }),
  exit: (code) => process.exit(code),
}

interface Ending {
  readonly log: Log
  readonly clock: Clock
  readonly exit: OwnProcess['exit']
}

/** Ends the process even if work, a disk or a connection hangs. What is not finished by then is left to the next start. */
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
