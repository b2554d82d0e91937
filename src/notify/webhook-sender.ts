import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease } from '../store/ports/leases.ts'
import { Courier, type CourierParts } from './webhook-queue.ts'
import type { Hook } from './webhook-request.ts'

export interface DelivererParts extends CourierParts {
  readonly instance: string
  /** How long an instance may give no sign of life before another one delivers. */
  readonly leaseMs: number
}

const LOOK_MS = 250
const LAST_MS = 3_000

/** Delivers events to every webhook, from one instance at a time. It runs beside everything else: nobody waits for it. */
export class Deliverer {
  readonly #parts: DelivererParts
  readonly #couriers: readonly Courier[]
  readonly #end = new AbortController()
  /** Breaks off what is still on its way. */
  readonly #gone = new AbortController()
  #lease: Lease | undefined
  #working: Promise<void> | undefined

  constructor(hooks: readonly Hook[], parts: DelivererParts) {
    this.#parts = parts
    this.#couriers = hooks.map((hook) => new Courier(hook, parts))
  }

  start(): void {
    if (this.#couriers.length > 0) this.#working ??= this.#work()
  }

  /** What is on its way is given a moment; what has not arrived then is sent again by whoever delivers next. */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#working
    const settled = Promise.all(this.#couriers.map((courier) => courier.settled()))
    await Promise.race([settled, sleep(LAST_MS, undefined, { ref: false })])
    this.#gone.abort()
    await settled
    const { store } = this.#parts
    if (this.#lease) await store.releaseLease(this.#lease).catch(() => undefined)
  }

  async #work(): Promise<void> {
    const { log } = this.#parts
    const { signal } = this.#end
    while (!signal.aborted) {
      await this.#round().catch((error: unknown) =>
        log.error({ err: error }, 'Webhooks could not be looked after; it is tried again'),
      )
      await sleep(this.#lease ? LOOK_MS : 4 * LOOK_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async #round(): Promise<void> {
    if (!(await this.#isOurs())) return
    const head = await this.#parts.store.eventHead()
    for (const courier of this.#couriers) await courier.round(head, this.#gone.signal)
  }

  /** One instance delivers: two would send the events of a host past each other. */
  async #isOurs(): Promise<boolean> {
    const { store, instance, leaseMs, now } = this.#parts
    if (this.#lease && now() < this.#lease.expiresAt - leaseMs / 2) return true
    const had = this.#lease
    this.#lease = undefined
    this.#lease = await store.takeLease('webhooks', instance, now(), leaseMs)
    // Another fence than the next one: somebody else delivered in between.
    if (this.#lease?.fence !== (had?.fence ?? 0) + 1) for (const courier of this.#couriers) courier.forget()
    return this.#lease !== undefined
  }
}
