import type { Edge } from '../../edge/contract/edge.ts'
import { hostsOutOfStep } from '../../model/host-status.ts'
import type { EdgeVerdict, SecondaryVerdict } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import { FairClock } from '../../primitives/fair-clock.ts'
import { type EdgeStandings, shortfallOf } from '../edge-standings.ts'
import { StepFault } from '../engine/step.ts'

/** How long a run waits for the Secondary when everything else is done. */
const SECONDARY_WAIT_MS = 2_000

/** What became of the Secondary. */
export type SecondaryReport = Omit<EdgeVerdict, 'server'>

/** Resolves when the edge runs the change. When the signal aborts, a change that the edge has not entered is left out. */
type ChangeSecondary = (edge: Edge, signal: AbortSignal) => Promise<unknown>

interface WorkParts {
  readonly edge: Edge
  /** The host of the run. */
  readonly host: string
  readonly standings: EdgeStandings
  readonly waitMs?: number
  readonly clock: Clock
}

/**
 * The work of one run on the Secondary. It is reported and never decides. The run waits for it only for a moment, and not at all
 * while the edge is known to take no change. What has not begun by then is left out, and what has begun is finished under the
 * fence of the run; in both cases a later converge brings the edge into step.
 */
export class SecondaryWork {
  readonly #parts: Required<WorkParts>
  #ending = new AbortController()
  #changing: Promise<SecondaryReport> | undefined
  #judging: Promise<SecondaryReport> | undefined

  constructor(parts: WorkParts) {
    this.#parts = { waitMs: SECONDARY_WAIT_MS, ...parts }
  }

  /** Begins a change. `judge` asks the edge after it. */
  begin(change: ChangeSecondary, judge?: (edge: Edge) => Promise<SecondaryReport>): void {
    const { edge } = this.#parts
    this.#ending = new AbortController()
    this.#changing = this.#change(change)
    this.#judging = judge ? this.#changing.then((report) => (report.ok ? judge(edge) : report)) : this.#changing
    this.#judging.catch(() => undefined)
  }

  /** What became of the last change. `judge` asks the edge where this process made none: an earlier one did. */
  report(judge?: (edge: Edge) => Promise<SecondaryReport>): Promise<SecondaryReport> {
    const { edge } = this.#parts
    return this.#inTime(this.#judging ?? judge?.(edge) ?? Promise.resolve(DONE))
  }

  /** Makes a change, waits for it and reports it. */
  async make(change: ChangeSecondary): Promise<SecondaryReport> {
    this.begin(change)
    return this.#inTime(this.#changing ?? Promise.resolve(DONE))
  }

  /** Resolves when the change that was begun, if any, is entered or cannot be entered any more. */
  async end(): Promise<void> {
    this.#ending.abort(new StepFault('The run was undone.'))
    await this.#changing
  }

  /** What the receipt says of the Secondary. */
  verdict(report: SecondaryReport): SecondaryVerdict {
    const { edge, standings } = this.#parts
    const standing = standings.of(edge.server)
    const { outOfStep } = standing ?? {}
    return {
      server: edge.server,
      ...report,
      optional: true,
      inStep: report.ok && outOfStep === undefined,
      ...(standing &&
        outOfStep && {
          outOfStep: {
            cause: outOfStep.cause,
            since: new Date(outOfStep.since).toISOString(),
            hosts: hostsOutOfStep(standing),
          },
        }),
    }
  }

  async #change(change: ChangeSecondary): Promise<SecondaryReport> {
    const { edge, host, standings } = this.#parts
    const known = standings.unfit(edge.server)
    if (known) {
      standings.note(edge.server, host, known)
      const since = new Date(known.since).toISOString()
      return { ok: false, detail: `The Secondary has taken no change since ${since}: ${known.sentence} ${LATER}` }
    }
    const { signal } = this.#ending
    return change(edge, signal).then(
      () => DONE,
      (error: unknown) => {
        if (signal.aborted) return LATE
        const shortfall = shortfallOf(error)
        standings.note(edge.server, host, shortfall)
        return { ok: false, detail: `The Secondary could not be changed: ${shortfall.sentence}` }
      },
    )
  }

  async #inTime(work: Promise<SecondaryReport>): Promise<SecondaryReport> {
    const { edge, host, standings, waitMs, clock } = this.#parts
    const late = Promise.withResolvers<SecondaryReport>()
    // Time in which this process was stalled does not count.
    using fair = new FairClock(clock)
    fair.limit(waitMs, () => {
      this.#ending.abort(new StepFault(LATE.detail))
      standings.note(edge.server, host, { cause: 'catching_up', sentence: LATE.detail })
      late.resolve(LATE)
    })
    return await Promise.race([work, late.promise])
  }
}

const LATER = 'It is brought into step automatically.'
const DONE: SecondaryReport = { ok: true, detail: 'The Secondary has the same entry and runs it.' }
const LATE: SecondaryReport = {
  ok: false,
  detail: `The Secondary did not make the change within ${SECONDARY_WAIT_MS / 1000} s. ${LATER}`,
}
