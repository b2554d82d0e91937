/** What a script can tell an ending by. Stable: `docs/cli.md` documents the table and a test holds the two together. */
export const EXIT = {
  /** Done, and well. */
  ok: 0,
  /** What was looked at is not well, or something failed that has no code of its own. */
  notWell: 1,
  /** The command was not understood. */
  usage: 2,
  /** The service said no, and will say no again to the same. */
  refused: 3,
  /** The service said no for now: the same may work later. */
  notNow: 4,
  /** A run failed and everything was put back. */
  putBack: 5,
  /** Putting back failed too: the host is frozen until `drawbridge resolve`. */
  blocked: 6,
  /** No service answers at that address. */
  unreachable: 7,
  /** You said no. */
  declined: 8,
} as const

const OWN: Readonly<Record<string, number>> = {
  apply_failed: EXIT.putBack,
  remove_failed: EXIT.putBack,
  renew_failed: EXIT.putBack,
  rollback_blocked: EXIT.blocked,
}

export const exitCodeOf = ({ code, retryable }: { readonly code: string; readonly retryable: boolean }): number =>
  OWN[code] ?? (retryable ? EXIT.notNow : EXIT.refused)
