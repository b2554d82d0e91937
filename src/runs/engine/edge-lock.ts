import type { Edge } from '../../edge/contract.ts'
import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { poll } from '../../primitives/retry.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'
import { HeldLeases } from './lease.ts'
import { StepFault } from './step.ts'

const PATIENCE = { firstMs: 20, withinMs: 120_000 }

/** A mark in the sequence of turns of an edge. It says which turn would be the next if no other caller asks before. */
export interface LockMark {
  /** The number of turns that were asked for. */
  readonly asked: number
  /** The fence of this instance's last turn. */
  readonly fence: number
}

export interface LockTurn {
  /** Throws if another instance may hold the lock by now. Called directly before every effect. */
  assertHeld(): void
  /** Whether no other caller, in any instance, had a turn between the mark and this one. */
  isNextAfter(mark: LockMark): boolean
}

/**
 * One lock per edge, and one per set of certificate names, across all instances. Callers wait for the lock instead of being
 * refused: applies of different hosts never refuse each other.
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

  /** Holds the lock for ordering a certificate with these names. */
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

  /** The next turn, for the first caller that asks for it. Undefined for all others: only one caller can be next. */
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
    const held = new HeldLeases(this.#store, [lease], this.#leaseMs, Date.now)
    // The fence counts the turns of all instances: if it grew by one, no other turn lies between.
    const isNextAfter = ({ asked, fence }: LockMark) => number === asked + 1 && lease.fence === fence + 1
    return work({ isNextAfter, assertHeld: () => held.assertHeld() }).finally(async () => {
      held.stop()
      // A lease that cannot be released runs out. The work itself did not fail.
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
  /** The turn that was marked last. */
  marked: number | undefined
}
