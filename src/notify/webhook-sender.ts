import type { Lease } from '../store/ports/leases.ts'
import { WebhookQueue, type WebhookQueueParts } from './webhook-queue.ts'
import type { Hook } from './webhook-request.ts'

export interface WebhookSenderParts extends WebhookQueueParts {
  readonly instance: string
  /** How long the lease of the delivering instance lasts without renewal. Then another instance delivers. */
  readonly leaseMs: number
}

const ROUND_MS = 250
/** How long `stop` waits for running deliveries. */
const STOP_MS = 3_000

/** Delivers events to every webhook, from one instance at a time. No other part of the service waits for it. */
export class WebhookSender {
  readonly #parts: WebhookSenderParts
  readonly #hooks: () => readonly Hook[]
  /** Those of the present hooks. */
  #queues: readonly WebhookQueue[] = []
  readonly #end = new AbortController()
  /** Aborts running deliveries. */
  readonly #gone = new AbortController()
  #lease: Lease | undefined
  /** When the lease ends by the monotonic clock: the time of the day may be set back here, and others go by theirs. */
  #leaseEnds = 0
  #working: Promise<void> | undefined

  /** `hooks` are read in each round: a reload may change them. */
  constructor(hooks: () => readonly Hook[], parts: WebhookSenderParts) {
    this.#parts = parts
    this.#hooks = hooks
  }

  start(): void {
    this.#working ??= this.#work()
  }

  /** Waits a short time for running deliveries, then aborts them. The next delivering instance sends them again. */
  async stop(): Promise<void> {
    this.#end.abort()
    // A round that is under way may itself wait for deliveries of former hooks.
    const ended = Promise.all([this.#working, ...this.#queues.map((queue) => queue.end())])
    await Promise.race([ended, this.#parts.clock.sleep(STOP_MS, { ref: false })])
    this.#gone.abort()
    await ended
    const { store } = this.#parts
    if (this.#lease) await store.releaseLease(this.#lease).catch(() => undefined)
  }

  async #work(): Promise<void> {
    const { log, clock } = this.#parts
    const { signal } = this.#end
    while (!signal.aborted) {
      await this.#round().catch((error: unknown) =>
        log.error({ event: 'webhook_round_failed', err: error }, 'Webhook round failed; retrying.'),
      )
      await clock.sleep(this.#lease ? ROUND_MS : 4 * ROUND_MS, { signal })
    }
  }

  async #round(): Promise<void> {
    await this.#takeHooks()
    if (this.#end.signal.aborted) return
    if (this.#queues.length === 0 || !(await this.#holdsLease())) return
    const head = await this.#parts.store.eventHead()
    for (const queue of this.#queues) await queue.round(head, this.#gone.signal)
  }

  /** A hook that has changed waits until what is under way to the former receiver has ended: it would be sent twice. */
  async #takeHooks(): Promise<void> {
    const hooks = this.#hooks()
    const isPresent = ({ hook }: WebhookQueue) => hooks.includes(hook)
    if (this.#queues.length === hooks.length && this.#queues.every(isPresent)) return
    const leaving = this.#queues.filter((queue) => !isPresent(queue))
    this.#queues = this.#queues.filter(isPresent)
    await Promise.all(leaving.map((queue) => queue.end()))
    const known = new Map(this.#queues.map((queue) => [queue.hook, queue]))
    this.#queues = hooks.map((hook) => known.get(hook) ?? new WebhookQueue(hook, this.#parts, () => this.#assertHeld()))
  }

  #assertHeld(): void {
    if (this.#leaseLeftMs() <= 0)
      throw new Error('The lease of webhooks was lost. Another instance may deliver by now.')
  }

  #leaseLeftMs(): number {
    const { clock } = this.#parts
    return this.#lease ? Math.min(this.#lease.expiresAt - clock.now(), this.#leaseEnds - clock.monotonic()) : 0
  }

  /** One instance delivers, because two would send the events of a host out of order. */
  async #holdsLease(): Promise<boolean> {
    const { store, instance, leaseMs, clock } = this.#parts
    if (this.#leaseLeftMs() > leaseMs / 2) return true
    const had = this.#lease
    this.#leaseEnds = clock.monotonic() + leaseMs
    this.#lease = await store.takeLease('webhooks', instance, clock.now(), leaseMs)
    // A gap in the fencing numbers means that another instance delivered in between.
    if (this.#lease?.fence !== (had?.fence ?? 0) + 1) for (const queue of this.#queues) queue.resetPosition()
    return this.#lease !== undefined
  }
}
