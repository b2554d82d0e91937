/** The result of one check, and how to fix it. */
export interface Finding {
  /** What was checked, in two or three words: `edge 23`, `zone lab.test`. */
  readonly subject: string
  /** `warning`: Drawbridge works, but not fully. `fault`: an operation would fail. */
  readonly status: 'ok' | 'warning' | 'fault'
  readonly sentence: string
  /** What the administrator must do. Present unless the status is `ok`. */
  readonly fix?: string
  /** Applies the fix, if it is safe: it only creates Drawbridge's folders and removes permissions of other users. */
  readonly repair?: () => void
}

export const ok = (subject: string, sentence: string): Finding => ({ subject, status: 'ok', sentence })

export const warning = (subject: string, sentence: string, fix: string): Finding => ({
  subject,
  status: 'warning',
  sentence,
  fix,
})

export const fault = (subject: string, sentence: string, fix: string, repair?: () => void): Finding => ({
  subject,
  status: 'fault',
  sentence,
  fix,
  ...(repair && { repair }),
})

/** The message of an error. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
