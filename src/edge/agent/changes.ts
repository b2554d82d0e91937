import type { Clock } from '../../primitives/clock.ts'
import { LruCache } from '../../primitives/lru-cache.ts'
import type { Change, EdgePoint } from '../contract/change.ts'
import type { Edge } from '../contract/edge.ts'
import { EdgeFault } from '../contract/fault.ts'
import type { WireChange, WireVerdict } from '../wire/verbs.ts'
import type { Acceptance } from './acceptance.ts'

const MOST_KNOWN = 20_000
/** How long a request for a verdict waits for a change in progress. */
const WAIT_MS = 10_000

/** The lease of the run has ended: another instance may have taken the run over. */
class Late extends Error {}

interface ChangesParts {
  readonly edge: Pick<Edge, 'change'>
  readonly acceptance: Pick<Acceptance, 'assertAcceptable'>
  readonly onUnexpected: (error: unknown) => void
  readonly clock: Clock
}

/**
 * Carries out each change once, even if the connection is lost. A sender that has lost the answer asks for the verdict. A change
 * whose verdict was asked for before it arrived is refused, so a change that its sender gave up never takes effect.
 */
export class Changes {
  readonly #parts: ChangesParts
  readonly #known = new LruCache<string, Promise<WireVerdict>>(MOST_KNOWN)
  readonly #withdrawn = new LruCache<string, true>(MOST_KNOWN)

  constructor(parts: ChangesParts) {
    this.#parts = parts
  }

  carryOut(change: WireChange, onCrashPoint: (point: EdgePoint) => void): Promise<WireVerdict> {
    const known = this.#known.get(change.id)
    if (known) return known
    const verdict = this.#carryOut(change, onCrashPoint).then(
      (hosts): WireVerdict => ({ state: 'done', hosts }),
      (error: unknown): WireVerdict => this.#refusal(error),
    )
    this.#known.set(change.id, verdict)
    return verdict
  }

  /** Refuses the change if it is not entered yet. Resolves with its verdict. */
  withdraw(id: string): Promise<WireVerdict> {
    if (this.#known.get(id)) this.#withdrawn.set(id, true)
    return this.verdictOf(id)
  }

  async verdictOf(id: string): Promise<WireVerdict> {
    const known = this.#known.get(id)
    if (!known) {
      this.#known.set(id, Promise.resolve(WITHDRAWN))
      return { state: 'unknown' }
    }
    const { promise: waited, resolve } = Promise.withResolvers<WireVerdict>()
    const timer = this.#parts.clock.after(WAIT_MS, () => resolve({ state: 'running' }))
    const verdict = await Promise.race([known, waited]).finally(() => timer.cancel())
    return verdict === WITHDRAWN ? { state: 'unknown' } : verdict
  }

  async #carryOut(change: WireChange, onCrashPoint: (point: EdgePoint) => void): Promise<DoneHosts> {
    const { id, items, run, settles, floor, heldForMs } = change
    const { edge, acceptance, clock } = this.#parts
    const endsAt = clock.monotonic() + (heldForMs ?? Number.POSITIVE_INFINITY)
    // Its verb defines the shape, and the acceptance checks every value.
    const asked = { items, run, settles, floor } as Change
    await acceptance.assertAcceptable(asked.items)
    const verdicts = await edge.change(asked, {
      assertHeld: () => {
        if (this.#withdrawn.get(id)) throw GIVEN_UP
        if (clock.monotonic() >= endsAt) throw new Late()
      },
      onCrashPoint,
    })
    return verdicts.map((one) =>
      one.state === 'serving'
        ? { ...one }
        : { host: one.host, state: 'refused', fault: { kind: one.fault.kind, sentence: one.fault.message } },
    )
  }

  #refusal(error: unknown): WireVerdict {
    if (error instanceof Late) return { state: 'late' }
    if (error instanceof EdgeFault) return { state: 'refused', fault: { kind: error.kind, sentence: error.message } }
    this.#parts.onUnexpected(error)
    const sentence = 'The agent failed in a change. Its log says why.'
    return { state: 'refused', fault: { kind: 'not_reloaded', sentence } }
  }
}

const GIVEN_UP = new EdgeFault('change_invalid', 'The sender of this change has given it up.')
const WITHDRAWN: WireVerdict = { state: 'refused', fault: { kind: GIVEN_UP.kind, sentence: GIVEN_UP.message } }

type DoneHosts = Extract<WireVerdict, { state: 'done' }>['hosts']
