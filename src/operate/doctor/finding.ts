/** One thing that was looked at, and what to do about it. */
export interface Finding {
  /** What was looked at, in two or three words: `edge 23`, `zone lab.test`. */
  readonly subject: string
  /** `warning`: Drawbridge works, but not as well as it could. `fault`: something would fail. */
  readonly status: 'ok' | 'warning' | 'fault'
  readonly sentence: string
  /** What the administrator does about it. Present unless the status is `ok`. */
  readonly fix?: string
  /** Does it, where it is safe: it only makes folders of ours and takes rights away from others. */
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

/** Only a Fault's sentence is meant for people; of anything else the kind is told. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
