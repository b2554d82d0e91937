import type { StepName } from '../../src/model/run.ts'
import {
  type Answer,
  answerIn,
  type Books,
  CAPABILITY_MS,
  Cluster,
  type Credential,
  type Instance,
  LEASE_MS,
  type Removal,
  type Stores,
} from './harness.ts'
import { assertAgreement, assertEnd, assertFreeze, InvariantBroken } from './invariants.ts'
import { type Operation, quiet, type Stop } from './schedule.ts'
import type { Breakage } from './steps.ts'
import type { Part } from './world.ts'

export type InstanceName = 'a' | 'b'

/** `one` and `two` claim the host. `oneB` replaces `one`, `oneC` replaces `oneB`, `twoB` replaces `two`. */
export const PLANS = ['one', 'two', 'oneB', 'oneC', 'twoB'] as const
type PlanName = (typeof PLANS)[number]
const REPLACES: Partial<Record<PlanName, PlanName>> = { oneB: 'one', oneC: 'oneB', twoB: 'two' }

/** What a request shows: a capability of its own, the one that was shown last, or one that was issued for something else. */
export const CREDENTIALS = ['own', 'again', 'otherPlan', 'otherAction', 'otherAddress', 'otherDigest', 'old'] as const
type CredentialKind = (typeof CREDENTIALS)[number]

const WAITS = { moment: 6_000, lease: LEASE_MS, capability: CAPABILITY_MS, step: 15 * 60_000 + 5_000 } as const

export type Command =
  | {
      readonly do: 'apply' | 'remove'
      readonly by: InstanceName
      readonly plan: PlanName
      readonly shows?: CredentialKind | undefined
      readonly stop?: Stop | undefined
    }
  | { readonly do: 'recover'; readonly by: InstanceName; readonly stop?: Stop | undefined }
  | { readonly do: 'resolve'; readonly by: InstanceName; readonly plan: PlanName; readonly stop?: Stop | undefined }
  /** The process dies, if it lives, and a new one recovers what it finds. */
  | { readonly do: 'restart'; readonly by: InstanceName; readonly stop?: Stop | undefined }
  /** What is held in the process continues. `timersFirst`: its timers fire before. */
  | { readonly do: 'wake'; readonly by: InstanceName; readonly stop?: Stop | undefined; readonly timersFirst?: boolean }
  | { readonly do: 'wait'; readonly how: keyof typeof WAITS }
  | { readonly do: 'break'; readonly step: StepName; readonly how: Breakage }
  | { readonly do: 'mend' }
  | { readonly do: 'edit'; readonly part: Part }

export type History = readonly Command[]

/** One request and what came of it. */
interface Request {
  readonly capability: string
  readonly shows: CredentialKind
  readonly operation: Operation<Answer>
}

/** Everything that the invariants judge. */
export interface Played {
  readonly cluster: Cluster
  readonly requests: readonly Request[]
  readonly operations: readonly Operation<Answer>[]
  readonly eventsBefore: number
}

/** The time that every command takes. */
const COMMAND_MS = 10

/** Plays one history on the engine. */
class Play {
  readonly lines: string[] = []
  readonly #cluster: Cluster
  readonly #instances = new Map<string, Instance>()
  readonly #planIds = new Map<PlanName, string>()
  readonly #requests: Request[] = []
  readonly #operations: Operation<Answer>[] = []
  #eventsBefore = 0
  #shown: string | undefined

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  async play(history: History): Promise<void> {
    await this.#begin(history)
    await this.#conclude()
  }

  /** The points that the last operation of a history passes. */
  async points(history: History): Promise<readonly string[]> {
    await this.#begin(history)
    return this.#operations.at(-1)?.passed ?? []
  }

  async #begin(history: History): Promise<void> {
    for (const name of ['a', 'b']) this.#start(name)
    this.#eventsBefore = await this.#cluster.eventHead()
    for (const command of history) await this.#execute(command)
  }

  /** Repairs what was broken, recovers, wakes what is still held, and judges the end. */
  async #conclude(): Promise<void> {
    const { clock, world } = this.#cluster
    this.#cluster.broken = new Map()
    await clock.advance(LEASE_MS)
    const last = this.#start('c')
    await this.#until(last.recover(true), 'c recovers at its start')
    for (const name of ['a', 'b']) await this.#wake(name)
    await assertAgreement(this.#played)
    const blocked = (await this.#cluster.books()).runs.at(-1)
    if (blocked?.state === 'blocked') {
      await assertFreeze(this.#played, (action, planId) => this.#request(last, action, planId, 'own'))
      world.restore()
      await this.#until(last.resolve(blocked.planId), 'c resolves')
      await assertAgreement(this.#played)
    }
    world.restore()
    await this.#assertUsable(last)
    await assertEnd(this.#played)
  }

  /** What a history leaves behind must not hinder the next request. */
  async #assertUsable(instance: Instance): Promise<void> {
    await this.#cluster.clock.advance(COMMAND_MS)
    const { exposure } = await this.#cluster.books()
    const planId = exposure?.planId ?? (await this.#cluster.newPlan())
    const operation = await this.#request(instance, exposure ? 'remove' : 'apply', planId, 'own')
    const answer = answerIn(operation.ended)
    if (answer?.kind !== 'succeeded')
      throw new InvariantBroken('the host is usable in the end', `the next request got ${JSON.stringify(answer)}`)
    await assertAgreement(this.#played)
  }

  get #played(): Played {
    return {
      cluster: this.#cluster,
      requests: this.#requests,
      operations: this.#operations,
      eventsBefore: this.#eventsBefore,
    }
  }

  async #execute(command: Command): Promise<void> {
    await this.#cluster.clock.advance(COMMAND_MS)
    switch (command.do) {
      case 'wait':
        this.lines.push(`${WAITS[command.how] / 1000} s pass`)
        return this.#cluster.clock.advance(WAITS[command.how])
      case 'break':
        this.lines.push(`step ${command.step} breaks (${command.how})`)
        this.#cluster.broken = new Map([...this.#cluster.broken, [command.step, command.how]])
        return
      case 'mend':
        this.lines.push('all steps work again')
        this.#cluster.broken = new Map()
        return
      case 'edit':
        this.lines.push(`somebody else overwrites the ${command.part}`)
        return this.#cluster.world.edit(command.part)
      case 'wake':
        return this.#wake(command.by, command.stop, command.timersFirst)
      case 'restart':
        return this.#restart(command.by, command.stop)
      default:
        return this.#operate(command)
    }
  }

  async #restart(name: InstanceName, stop?: Stop): Promise<void> {
    this.#instances.get(name)?.process.die()
    await this.#until(this.#start(name).recover(true, stop), `${name} restarts and recovers`)
  }

  /** A process that is paused or dead does nothing. */
  async #operate(command: Extract<Command, { do: 'apply' | 'remove' | 'recover' | 'resolve' }>): Promise<void> {
    const instance = this.#instances.get(command.by)
    if (!instance?.process.isAwake) return
    const { stop } = command
    if (command.do === 'recover') return this.#until(instance.recover(false, stop), `${command.by} recovers`)
    const planId = await this.#idOf(command.plan)
    if (command.do === 'resolve')
      return this.#until(instance.resolve(planId, stop), `${command.by} resolves ${command.plan}`)
    await this.#request(instance, command.do, planId, command.shows ?? 'own', stop)
  }

  async #request(
    instance: Instance,
    action: 'apply' | 'remove',
    planId: string,
    shows: CredentialKind,
    stop?: Stop,
  ): Promise<Operation<Answer>> {
    const credential = await this.#credential(instance, action, planId, shows)
    this.#shown = credential.capability
    const operation = instance.request(action, planId, credential, stop)
    this.#requests.push({ capability: credential.capability, shows, operation })
    const [name] = [...this.#planIds].find(([, id]) => id === planId) ?? ['a new plan']
    const shown = shows === 'own' ? '' : ` with a capability: ${shows}`
    await this.#until(operation, `${instance.process.instance} gets ${action} ${name}${shown}`)
    return operation
  }

  async #credential(
    instance: Instance,
    action: 'apply' | 'remove',
    planId: string,
    shows: CredentialKind,
  ): Promise<Credential> {
    if (shows === 'again' && this.#shown !== undefined)
      return { capability: this.#shown, address: ADDRESS, otherDigest: false }
    const otherPlan = this.#planIds.get('two') === planId ? 'one' : 'two'
    const otherAction = action === 'apply' ? 'remove' : 'apply'
    const capability = await instance.grant(
      shows === 'otherPlan' ? await this.#idOf(otherPlan) : planId,
      shows === 'otherAction' ? otherAction : action,
    )
    if (shows === 'old') await this.#cluster.clock.advance(CAPABILITY_MS)
    const address = shows === 'otherAddress' ? '192.168.45.11' : ADDRESS
    return { capability, address, otherDigest: shows === 'otherDigest' }
  }

  /** Continues what is held. What lost its run meanwhile may change nothing. */
  async #wake(name: string, stop?: Stop, timersFirst = false): Promise<void> {
    const process = this.#instances.get(name)?.process
    const held = this.#operations.filter((operation) => operation.process === process && operation.isHeld)
    if (!process || process.isDead || held.length === 0) return
    const before = await this.#snapshot()
    const mayAct = !held.every((operation) => hasLostRun(operation, before.books))
    if (stop) for (const operation of held) operation.stopAgain(stop)
    if (timersFirst) await process.fireTimers()
    const waking = held.map((operation) => ({ operation, known: operation.troubles.length }))
    process.wake()
    for (const { operation, known } of waking) await this.#until(operation, `${name} continues`, known)
    await quiet()
    if (mayAct) return
    const after = await this.#snapshot()
    if (JSON.stringify(after.seen) !== JSON.stringify(before.seen))
      throw new InvariantBroken('an instance that wakes after a takeover changes nothing', 'store or world changed')
  }

  async #snapshot(): Promise<{ books: Books; seen: unknown }> {
    const books = await this.#cluster.books()
    const { plans, runs, journals, exposure } = books
    const lease = await this.#cluster.leaseOf()
    const seen = [[...plans.values()], runs, [...journals.values()], exposure, lease, this.#cluster.world.parts]
    return { books, seen }
  }

  async #until(operation: Operation<Answer>, line: string, knownTroubles = 0): Promise<void> {
    if (!this.#operations.includes(operation)) this.#operations.push(operation)
    const { troubles } = operation
    await operation.settle()
    const answer = operation.ended ? [told(answerIn(operation.ended))] : []
    this.lines.push(`${line}: ${[...troubles.slice(knownTroubles), ...answer].join(', ')}`)
  }

  #start(name: string): Instance {
    const instance = this.#cluster.startInstance(name)
    this.#instances.set(name, instance)
    return instance
  }

  /** A plan is made when it is named first. */
  async #idOf(name: PlanName): Promise<string> {
    const former = REPLACES[name]
    const planId = this.#planIds.get(name) ?? (await this.#cluster.newPlan(former && (await this.#idOf(former))))
    this.#planIds.set(name, planId)
    return planId
  }
}

const ADDRESS = '192.168.45.10'

/** Whether another holder continues the run of this operation, or has ended it. */
function hasLostRun({ run }: Operation<Answer>, { runs }: Books): boolean {
  const stored = runs.find(({ runId }) => runId === run?.runId)
  return run !== undefined && stored !== undefined && (stored.fence > run.fence || stored.state !== 'running')
}

function told(answer: Answer | undefined): string {
  if (!answer || answer.kind === 'nothing') return 'done'
  return 'reason' in answer ? `${answer.kind} (${answer.reason})` : answer.kind
}

/** The points that the last operation of a history passes on an engine with all its guards. */
export const pointsOf = (history: History, stores: Stores): Promise<readonly string[]> =>
  new Play(new Cluster(stores, {})).points(history)

/** A history that breaks an invariant: what happened, line by line. */
export interface Counterexample {
  readonly invariant: string
  readonly detail: string
  readonly lines: readonly string[]
  readonly history: History
}

/** Plays a history, and finds the invariant that it breaks. */
export async function findBroken(
  history: History,
  stores: Stores,
  removal: Removal = {},
): Promise<Counterexample | undefined> {
  const play = new Play(new Cluster(stores, removal))
  try {
    await play.play(history)
    return undefined
  } catch (error) {
    if (!(error instanceof InvariantBroken)) throw error
    return { invariant: error.invariant, detail: error.message, lines: play.lines, history }
  }
}
