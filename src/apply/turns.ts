import { setTimeout as sleep } from 'node:timers/promises'
import type { Edge } from '../edge/contract.ts'
import type { Lease, Store } from '../store/contract.ts'
import { HeldLease } from './held-lease.ts'
import { StepFault } from './step.ts'

const PATIENCE_MS = 120_000
const PAUSE_MS = 20

/** Applies of different hosts are never refused because of each other: they wait for their turn at the edge, here and across instances. */
export class Turns {
  readonly #store: Store
  readonly #instance: string
  readonly #leaseMs: number
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor(store: Store, instance: string, leaseMs: number) {
    this.#store = store
    this.#instance = instance
    this.#leaseMs = leaseMs
  }

  alone<T>({ server }: Edge, work: () => Promise<T>): Promise<T> {
    const previous = this.#queues.get(server) ?? Promise.resolve()
    const turn = previous.then(() => this.#underLease(server, work))
    this.#queues.set(
      server,
      turn.catch(() => undefined),
    )
    return turn
  }

  async #underLease<T>(server: string, work: () => Promise<T>): Promise<T> {
    const lease = await this.#take(server)
    const held = new HeldLease(this.#store, lease, this.#leaseMs, Date.now)
    return work().finally(async () => {
      held.stop()
      // One that cannot be released runs out; that is no reason to call the work a failure.
      await this.#store.releaseLease(lease).catch(() => undefined)
    })
  }

  async #take(server: string): Promise<Lease> {
    const deadline = Date.now() + PATIENCE_MS
    while (Date.now() < deadline) {
      const lease = await this.#store.takeLease(`edge ${server}`, this.#instance, Date.now(), this.#leaseMs)
      if (lease) return lease
      await sleep(PAUSE_MS)
    }
    throw new StepFault(`The edge on server ${server} was busy for two minutes.`, { passing: true })
  }
}
