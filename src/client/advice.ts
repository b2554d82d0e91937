import type { Diagnosis } from './bodies.ts'

/** What Drawbridge can do about a cause, in the words of one interface. */
export interface ActWords {
  /** Something that was applied is missing: a repair writes it again. */
  readonly repair: string
  /** Somebody changed something: a repair discards the change, an accept keeps it. */
  readonly overwriteOrAccept: string
  /** The same where nobody can want to keep the change. */
  readonly overwrite: string
  readonly renew: string
  /** Words before the command that a person runs on the server. */
  readonly beforeResolve?: string
}

/** The advice of a cause. The API words it as HTTP calls; an interface with words of its own uses those. */
export function adviceIn({ acts, advice }: Diagnosis['cause'], words: ActWords): string {
  if (acts.includes('resolve')) return `${words.beforeResolve ?? ''}${advice}`
  if (acts.includes('overwrite')) return acts.includes('accept') ? words.overwriteOrAccept : words.overwrite
  if (acts.includes('repair')) return words.repair
  return acts.includes('renew') ? words.renew : advice
}

/** The diagnosis with its advice in the words of an interface. */
export const diagnosisIn = (diagnosis: Diagnosis, words: ActWords): Diagnosis => ({
  ...diagnosis,
  cause: { ...diagnosis.cause, advice: adviceIn(diagnosis.cause, words) },
})
