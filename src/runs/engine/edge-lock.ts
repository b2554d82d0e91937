import type { Edge } from '../../edge/contract.ts'
import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { poll } from '../../primitives/retry.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'
import { HeldLease } from './lease.ts'
import { StepFault } from './step.ts'

const PATIENCE = { firstMs: 20, withinMs: 120_000 }

/** A place in an edge's order of edgeLock: the next, while nobody had a turn or waited for one. */
export interface LockMark {
  /** EdgeLock that were asked for so far. */
  readonly asked: number
  /** Of this instance's last turn. */
  readonly fence: number
}

export interface LockTurn {
  /** Whether nobody, of this or another instance, had a turn between the mark and this one. */
  isNextAfter(mark: LockMark): boolean
}

/**
 * Applies of different hosts are never refused because of each other: they wait for their turn at the edge, or at the
 * certificate that they share, here and across instances.
 */
export class EdgeLock {
  readonly #store: LeaseStore
  readonly #instance: string
  readonly #leaseMs: number
  readonly #queues = new Map<string, Queue>()
  readonly #waiting = new KeyedQueue()

  constructor(store: LeaseStore, instance: string, leaseMs: number) {
    this.#store = store
    this.#instance = instance
    this.#leaseMs = leaseMs
  }

  hold<T>(edge: Edge, work: (turn: LockTurn) => Promise<T>): Promise<T> {
    return this.#inTurn(placeOf(edge), work)
  }

  /** Nobody else orders a certificate for these names meanwhile. */
  holdOrder<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.#inTurn(`certificate:${names.join(',')}`, work)
  }

  #inTurn<T>(place: string, work: (turn: LockTurn) => Promise<T>): Promise<T> {
    const queue = this.#queueAt(place)
    queue.asked += 1
    queue.waiting += 1
    const number = queue.asked
    const turn = this.#waiting.run(place, () => this.#underLease(place, queue, number, work))
    return turn.finally(() => {
      queue.waiting -= 1
    })
  }

  /** The next place, for the first who asks for it: of any number only one can be next. Undefined for all others. */
  markNext(edge: Edge): LockMark | undefined {
    const queue = this.#queueAt(placeOf(edge))
    const { asked, waiting, fence } = queue
    if (waiting > 0 || fence === undefined || queue.marked === asked) return undefined
    queue.marked = asked
    return { asked, fence }
  }

  #queueAt(place: string): Queue {
    const queue = this.#queues.get(place) ?? {
      asked: 0,
      waiting: 0,
      fence: undefined,
      marked: undefined,
    }
    this.#queues.set(place, queue)
    return queue
  }

  async #underLease<T>(place: string, queue: Queue, number: number, work: (turn: LockTurn) => Promise<T>): Promise<T> {
    const lease = await this.#take(place)
    queue.fence = lease.fence
    const held = new HeldLease(this.#store, lease, this.#leaseMs, Date.now)
    // The fence counts the edgeLock of all instances: one more than our last is nobody's in between.
    const isNextAfter = ({ asked, fence }: LockMark) => number === asked + 1 && lease.fence === fence + 1
    return work({ isNextAfter }).finally(async () => {
      held.stop()
      // One that cannot be released runs out; that is no reason to call the work a failure.
      await this.#store.releaseLease(lease).catch(() => undefined)
    })
  }

  async #take(place: string): Promise<Lease> {
    const lease = await poll(
      () => this.#store.takeLease(place, this.#instance, Date.now(), this.#leaseMs),
      (taken) => taken !== undefined,
      PATIENCE,
    )
    if (lease) return lease
    throw new StepFault(`Timed out after ${PATIENCE.withinMs / 1000} s waiting for the lock of ${place}.`, {
      transient: true,
    })
  }
}

const placeOf = ({ server }: Edge): string => `edge ${server}`

interface Queue {
  asked: number
  waiting: number
  fence: number | undefined
  /** The place that was marked last. */
  marked: number | undefined
}
