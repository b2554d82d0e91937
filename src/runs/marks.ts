import { createHash } from 'node:crypto'
import { Problem } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import { marksPlan, markText, recordsOf, type ZoneRecord } from '../model/receipt.ts'
import { type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { RunResult } from './engine/ending.ts'

export interface MarksParts {
  readonly store: Pick<ExposureStore, 'listExposures'>
  readonly exposer: {
    /** Gives the owner mark of an applied plan the text that `markFor` tells. */
    rewriteMark(planId: string): Promise<{ readonly result: Promise<RunResult> }>
  }
}

/** The hosts whose owner marks were rewritten, and those whose marks still name a plan. */
export interface Remarked {
  readonly rewritten: readonly string[]
  readonly failed: readonly string[]
}

/**
 * The owner mark of a plan whose exposure has no id of its own. It always is the same for the same plan, so an attempt that was
 * interrupted is finished by the next one. The id of the plan cannot be computed from it.
 */
export const markFor = ({ planId, exposureId }: Pick<Plan, 'planId' | 'exposureId'>): string =>
  markText(exposureId?.startsWith('exposure_') ? exposureId : `exposure_${hashOf(planId)}`)

const hashOf = (planId: string): string =>
  createHash('sha256').update(`exposure of ${planId}`).digest('hex').slice(0, 32)

/** The records that the apply of a plan adds. Plans that an earlier version made name themselves in their owner mark. */
export const recordsToClaim = (plan: Plan): readonly ZoneRecord[] =>
  recordsOf(plan, undefined).map((record) => (marksPlan(record) ? { ...record, value: markFor(plan) } : record))

/** Rewrites owner marks of earlier versions, which hold the id of a plan: everybody can read it in DNS, and it opens the plan. */
export async function rewriteMarks({ store, exposer }: MarksParts): Promise<Remarked> {
  const rewritten: string[] = []
  const failed: string[] = []
  for await (const { host, planId, receipt } of eachExposure(store)) {
    if (!receipt?.records.some(marksPlan)) continue
    const isRewritten = await exposer.rewriteMark(planId).then(
      ({ result }) =>
        result.then(
          ({ outcome }) => outcome.kind === 'succeeded',
          // The run itself logs why it did not end. Recovery finishes it.
          () => false,
        ),
      (fault: unknown) => {
        // Another run changes the host, or it was removed in the meantime. The next call tells.
        if (fault instanceof Problem) return false
        throw fault
      },
    )
    ;(isRewritten ? rewritten : failed).push(host)
  }
  return { rewritten, failed }
}
