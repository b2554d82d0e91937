/** Stable: scripts depend on these codes. A test compares them with the table in `docs/cli.md`. */
export const EXIT = {
  /** Success. */
  ok: 0,
  /** The inspected host has a problem, or the command failed in a way that has no code of its own. */
  notWell: 1,
  /** The command line is invalid. */
  usage: 2,
  /** The service refused the request; the same request will be refused again. */
  refused: 3,
  /** The service refused the request; the same request may succeed later. */
  notNow: 4,
  /** A run failed and its changes were undone. */
  putBack: 5,
  /** A run failed and undoing it failed too: the host is blocked until `drawbridge resolve`. */
  blocked: 6,
  /** No Drawbridge service answers at the address. */
  unreachable: 7,
  /** The person answered no. */
  declined: 8,
  /** The file and the service differ: there is something to apply. */
  differs: 9,
} as const

const BY_ERROR_CODE: Readonly<Record<string, number>> = {
  apply_failed: EXIT.putBack,
  remove_failed: EXIT.putBack,
  repair_failed: EXIT.putBack,
  accept_failed: EXIT.putBack,
  renew_failed: EXIT.putBack,
  rollback_blocked: EXIT.blocked,
}

export const exitCodeOf = ({ code, retryable }: { readonly code: string; readonly retryable: boolean }): number =>
  BY_ERROR_CODE[code] ?? (retryable ? EXIT.notNow : EXIT.refused)

const BY_RUN_STATE: Readonly<Record<string, number>> = {
  rolled_back: EXIT.putBack,
  blocked: EXIT.blocked,
  // The service ended the stream before the run.
  running: EXIT.notNow,
}

/** How the newest run of a plan ended. Callers outside see only how the plan stands since. */
export const exitCodeOfRun = ({ state, runs = [] }: PlanAndRuns): number =>
  BY_RUN_STATE[runs.at(-1)?.state ?? state] ?? EXIT.ok

interface PlanAndRuns {
  readonly state: string
  readonly runs?: readonly { readonly state: string }[] | undefined
}
