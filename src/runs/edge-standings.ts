import { EdgeFault } from '../edge/contract/fault.ts'
import { sentenceOf } from '../model/errors.ts'
import {
  type ComparedEdge,
  type EdgeStanding,
  isUnfit,
  type OutOfStep,
  type OutOfStepCause,
} from '../model/host-status.ts'

/** Why an edge could not be brought into step. */
export type Shortfall = Omit<OutOfStep, 'since'>

const CAUSES: Partial<Record<EdgeFault['kind'], OutOfStepCause>> = {
  away: 'away',
  config_broken: 'config_broken',
  unavailable: 'away',
  not_reloaded: 'away',
  write_failed: 'not_writable',
}

/** What a failed change says about its edge. */
export function shortfallOf(fault: unknown): Shortfall {
  const sentence = sentenceOf(fault)
  const edgeFault = edgeFaultIn(fault)
  const cause = (edgeFault && CAUSES[edgeFault.kind]) ?? 'other'
  const isFull = cause === 'not_writable' && /\((?:ENOSPC|EDQUOT)\)/.test(sentence)
  return { cause: isFull ? 'disk_full' : cause, sentence }
}

const edgeFaultIn = (fault: unknown): EdgeFault | undefined =>
  fault instanceof EdgeFault ? fault : fault instanceof Error ? edgeFaultIn(fault.cause) : undefined

/** What this instance knows about how far each edge is from the store. Runs and converge write it, everybody reads it. */
export class EdgeStandings {
  readonly #known = new Map<string, EdgeStanding>()
  readonly #now: () => number
  #revision = 0

  constructor(now: () => number) {
    this.#now = now
  }

  get all(): readonly EdgeStanding[] {
    return [...this.#known.values()]
  }

  /** Increases with every change. */
  get revision(): number {
    return this.#revision
  }

  /** Edges that cannot be brought into step before somebody acts. Public callers may read it, so it names no file. */
  get warnings(): readonly { readonly server: string; readonly sentence: string }[] {
    return this.all.flatMap(({ server, outOfStep }) =>
      outOfStep && (isUnfit(outOfStep) || ['removal_refused', 'restored'].includes(outOfStep.cause))
        ? [{ server, sentence: notInStep(server, outOfStep.cause) }]
        : [],
    )
  }

  of(server: string): EdgeStanding | undefined {
    return this.#known.get(server)
  }

  /** Why the edge takes no change now. Undefined: nothing is known against it. */
  unfit(server: string): OutOfStep | undefined {
    const outOfStep = this.of(server)?.outOfStep
    return outOfStep && isUnfit(outOfStep) ? outOfStep : undefined
  }

  /** Keeps the result of a comparison. */
  report(compared: ComparedEdge, shortfall?: Shortfall): EdgeStanding {
    const before = this.of(compared.server)?.outOfStep
    const outOfStep = shortfall && { ...shortfall, since: before?.since ?? this.#now() }
    const standing: EdgeStanding = { ...compared, outOfStep }
    if (JSON.stringify(this.of(compared.server)) !== JSON.stringify(standing)) this.#revision += 1
    this.#known.set(compared.server, standing)
    return standing
  }

  /** Notes that an edge has not made a change of a host. */
  note(server: string, host: string, shortfall: Shortfall): void {
    const { behind, ...known } = this.of(server) ?? NOTHING_KNOWN
    // Keep a known cause: that a run was late says less.
    const former = known.outOfStep
    const isKnown = former !== undefined && isUnfit(former) && !isUnfit({ ...shortfall })
    this.report(
      { ...known, server, behind: behind.includes(host) ? behind : [...behind, host] },
      isKnown ? former : shortfall,
    )
  }
}

const notInStep = (server: string, cause: OutOfStepCause): string =>
  `Edge ${server} cannot be brought into step with the store (${cause}). Retrying automatically. Run drawbridge status.`

/** Of an edge that was never compared. */
export const NOTHING_KNOWN: Omit<EdgeStanding, 'server'> = {
  entries: 0,
  behind: [],
  orphans: [],
  doubtful: [],
  unknown: [],
  stray: [],
}
