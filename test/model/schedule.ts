import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { type Clock as GivenClock, systemClock } from '../../src/primitives/clock.ts'

/**
 * What happens to an operation at a point. `crash`: its process dies. `pause`: its process stops until it is woken. `slow`:
 * only this operation waits; the timers and the other operations of its process continue. `outage`: the store does not take
 * the call. `lost`: the store takes the call, and its answer is lost.
 */
export type Trouble = 'crash' | 'pause' | 'slow' | 'outage' | 'lost'

/** The trouble comes at the point after this many points, or at the first point with these words. */
export type Stop = { readonly how: Trouble } & ({ readonly after: number } | { readonly at: string })

/** Thrown in a transaction whose process dies, so that the store rolls the transaction back. */
export class PowerLoss extends Error {}

interface Context {
  readonly operation: Operation<unknown>
  readonly isTimer: boolean
}

const contexts = new AsyncLocalStorage<Context>()

/** The operation that the calling code belongs to. */
export const currentOperation = (): Operation<unknown> | undefined => contexts.getStore()?.operation

/** Code in an operation passes a point. It waits here while its operation or its process is held. Resolves with the trouble. */
export async function point(name: string): Promise<Trouble | undefined> {
  const context = contexts.getStore()
  const trouble = context?.isTimer ? undefined : context?.operation.pass(name)
  await context?.operation.gate(context.isTimer)
  return trouble
}

/** A crash point of the engine, which cannot wait. It is part of the next point: nothing can happen between the two. */
export const passCrashPoint = (name: string): void => currentOperation()?.passCrashPoint(name)

/** The same inside a transaction. Only a crash takes effect here: a stopped transaction would lock out everybody else. */
export function passInTransaction(name: string): void {
  const operation = currentOperation()
  operation?.pass(`in transaction: ${name}`)
  if (operation?.process.isDead) throw new PowerLoss()
}

/** One process of an instance, from its start until it dies. */
export class Process {
  readonly instance: string
  readonly clock: Clock
  readonly operations: Operation<unknown>[] = []
  /** Whether it was paused at any time. */
  wasPaused = false
  #state: 'awake' | 'paused' | 'firing' | 'dead' = 'awake'
  #woken = Promise.withResolvers<void>()

  constructor(instance: string, clock: Clock) {
    this.instance = instance
    this.clock = clock
  }

  get isAwake(): boolean {
    return this.#state === 'awake'
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  /** Whether its timers fire. */
  get hasTimers(): boolean {
    return this.isAwake || this.#state === 'firing'
  }

  pause(): void {
    this.#state = 'paused'
    this.wasPaused = true
  }

  /** Fires the timers that became due during a pause, before anything else continues. */
  async fireTimers(): Promise<void> {
    if (this.#state === 'paused') this.#state = 'firing'
    await this.clock.advance(0)
  }

  die(): void {
    this.#state = 'dead'
    this.clock.drop(this)
  }

  /** Continues everything that is held in this process. */
  wake(): void {
    if (this.isDead) return
    this.#state = 'awake'
    this.#woken.resolve()
    this.#woken = Promise.withResolvers()
    for (const operation of this.operations) operation.release()
  }

  /** Resolves at once in a process that is awake, and never in a dead one. */
  async awake(isTimer = false): Promise<void> {
    while (!(isTimer ? this.hasTimers : this.isAwake)) await this.#woken.promise
  }
}

export type Ended<T> = { readonly value: T } | { readonly error: unknown }

/** One thing that a process does: a request, a recovery or a resolve. */
export class Operation<T> {
  readonly process: Process
  /** The points that it passed. */
  readonly passed: string[] = []
  /** The trouble that it had. */
  readonly troubles: string[] = []
  /** The run that it executes, under which fence. */
  run: { readonly runId: string; readonly fence: number } | undefined
  ended: Ended<T> | undefined
  #stop: Stop | undefined
  #released: PromiseWithResolvers<void> | undefined
  #settled = Promise.withResolvers<void>()
  #waits = false
  #crashPoints: string[] = []

  constructor(process: Process, stop: Stop | undefined, work: () => Promise<T>) {
    this.process = process
    this.#stop = stop
    process.operations.push(this)
    contexts.run({ operation: this, isTimer: false }, () => void this.#execute(work))
  }

  /** True as well for an operation that was answered while one of its steps hangs. */
  get isHeld(): boolean {
    return this.#waits
  }

  /** Further trouble, counted from here. */
  stopAgain(stop: Stop): void {
    this.#stop = 'after' in stop ? { ...stop, after: this.passed.length + stop.after } : stop
  }

  /** Resolves when it has ended or is held. */
  async settle(): Promise<void> {
    await this.#settled.promise
  }

  release(): void {
    if (!this.ended) this.#settled = Promise.withResolvers()
    this.#waits = false
    this.#released?.resolve()
    this.#released = undefined
  }

  passCrashPoint(name: string): void {
    this.#crashPoints.push(name)
  }

  pass(name: string): Trouble | undefined {
    const label = [...this.#crashPoints, name].join(', ')
    this.passed.push(label)
    this.#crashPoints = []
    const stop = this.#stop
    const isReached = stop && ('after' in stop ? this.passed.length > stop.after : label.includes(stop.at))
    if (!isReached || !this.process.isAwake) return undefined
    const { how } = stop
    this.#stop = undefined
    this.troubles.push(`${how} at "${label}"`)
    if (how === 'crash') this.process.die()
    if (how === 'pause') this.process.pause()
    if (how === 'slow') this.#released = Promise.withResolvers()
    return how
  }

  async gate(isTimer: boolean): Promise<void> {
    if (!isTimer && (this.#released || !this.process.isAwake)) this.#wait()
    if (!isTimer) await this.#released?.promise
    await this.process.awake(isTimer)
  }

  #wait(): void {
    this.#waits = true
    this.#settled.resolve()
  }

  async #execute(work: () => Promise<T>): Promise<void> {
    const ended = await work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    this.pass('end')
    // An answer does not wait for a step that hangs.
    if (!this.process.isAwake) this.#wait()
    await this.process.awake()
    this.ended = ended
    this.#settled.resolve()
  }
}

interface Timer {
  readonly context: Context
  readonly callback: () => void
  readonly everyMs: number | undefined
  dueAt: number
}

/** The clock that all processes share. It moves only when the model advances it, and then fires the timers that are due. */
export class Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(now: number) {
    this.#now = now
  }

  now = (): number => this.#now

  add(context: Context, callback: () => void, ms: number, everyMs: number | undefined): Timer {
    const timer = { context, callback, everyMs, dueAt: this.#now + ms }
    this.#timers.add(timer)
    return timer
  }

  remove(timer: Timer): void {
    this.#timers.delete(timer)
  }

  drop(process: Process): void {
    for (const timer of this.#timers) if (timer.context.operation.process === process) this.#timers.delete(timer)
  }

  /** Timers of a paused process wait until it is awake, and then fire once. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ context, dueAt }) => context.operation.process.hasTimers && dueAt <= end)
        .toSorted((a, b) => a.dueAt - b.dueAt)
      if (!next) break
      this.#now = Math.max(this.#now, next.dueAt)
      this.#fire(next)
      await quiet()
    }
    this.#now = end
  }

  #fire(timer: Timer): void {
    if (timer.everyMs === undefined) this.#timers.delete(timer)
    else timer.dueAt = this.#now + timer.everyMs
    contexts.run({ ...timer.context, isTimer: true }, timer.callback)
  }
}

/** Calls of the store that have not been answered. */
let underWay = 0

/** Counts a call of the store, so that `quiet` waits for its answer. */
export async function counted<T>(call: () => Promise<T>): Promise<T> {
  underWay += 1
  return call().finally(() => {
    underWay -= 1
  })
}

/** Resolves when nothing runs any more: everything has ended, is held or waits for a timer. */
export async function quiet(): Promise<void> {
  do await nextIteration()
  while (underWay > 0)
}

/**
 * What the code of an instance is given. Timers that are set in an operation are those of its process. A sleep only lets others
 * work: no time of the model passes in it. Code outside operations has the timers of the machine.
 */
export function modelClock(now: () => number): GivenClock {
  const start =
    (real: GivenClock['after'], repeats: boolean): GivenClock['after'] =>
    (ms, callback, options) => {
      const context = contexts.getStore()
      if (!context) return real(ms, callback, options)
      const { clock } = context.operation.process
      const timer = clock.add(context, callback, ms, repeats ? ms : undefined)
      return { cancel: () => clock.remove(timer) }
    }
  return {
    ...systemClock,
    now,
    after: start(systemClock.after, false),
    every: start(systemClock.every, true),
    sleep: async () => nextIteration(),
  }
}
