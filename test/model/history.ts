import { type Books, CAPABILITY_MS, Cluster, type HostName, LEASE_MS, type Removal, type Stores } from './cluster.ts'
import {
  type Command,
  type CredentialKind,
  type History,
  type InstanceName,
  type PlanName,
  REPLACES,
  WAITS,
} from './command.ts'
import { type Answer, type Asked, answerIn, Instance } from './instance.ts'
import { assertAgreement, assertEnd, assertFreeze } from './invariants.ts'
import { type Operation, quiet, type Stop } from './schedule.ts'
import { type HostSpec, InvariantBroken } from './spec.ts'
import { ownedBy } from './steps.ts'
import { FOREIGN, type Part } from './world.ts'

/** One request and what came of it. */
interface Request {
  readonly capability: string
  readonly shows: CredentialKind
  readonly operation: Operation<Answer>
}

interface Wanted extends Pick<Asked, 'action' | 'planId'> {
  readonly shows?: CredentialKind | undefined
  readonly overwrite?: boolean | undefined
  readonly stop?: Stop | undefined
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
    this.#cluster.broken = new Map()
    await this.#cluster.clock.advance(LEASE_MS)
    const last = this.#start('c')
    await this.#until(last.recover(true), 'c recovers at its start')
    for (const name of ['a', 'b']) await this.#wake(name)
    await this.#recoverRest(last)
    const specs = await this.#resolveAll(last, await assertAgreement(this.#played))
    const { exposures } = await this.#cluster.books()
    for (const [host, world] of this.#cluster.worlds) {
      const [entry, record] = ownedBy(exposures.get(host))
      world.repair({ entry, record })
      if (specs.get(host)?.released) world.clear()
    }
    for (const name of ['main', 'side'] as const) await this.#assertUsable(last, name)
    await assertEnd(this.#played)
  }

  /** A run whose step reached its limit, or whose process woke without its lease, is left to the next recovery. */
  async #recoverRest(instance: Instance): Promise<void> {
    const { runs } = await this.#cluster.books()
    if (runs.every(({ state }) => state !== 'running')) return
    await this.#cluster.clock.advance(LEASE_MS)
    await this.#until(instance.recover(false), 'c recovers again')
  }

  /** A blocked host is frozen until it is resolved. A run of a resolve can be blocked as well, so there may be several. */
  async #resolveAll(instance: Instance, specs: ReadonlyMap<string, HostSpec>): Promise<ReadonlyMap<string, HostSpec>> {
    const frozen = [...specs].filter(([, { blocked }]) => blocked.length > 0)
    const planId = frozen[0]?.[1].blocked.at(-1)?.planId
    if (planId === undefined) return specs
    for (const [host] of frozen)
      await assertFreeze(this.#played, host, (action, id) => this.#request(instance, { action, planId: id }))
    if ((await this.#resolve(instance, planId)) === 'blocked') {
      for (const world of this.#cluster.worlds.values()) world.restore()
      await this.#resolve(instance, planId)
    }
    const after = await assertAgreement(this.#played)
    const left = (all: ReadonlyMap<string, HostSpec>) => [...all.values()].flatMap(({ blocked }) => blocked).length
    if (left(after) >= left(specs))
      throw new InvariantBroken('a blocked host can be resolved', 'the resolve succeeded and the host is blocked')
    return this.#resolveAll(instance, after)
  }

  /** It may be blocked again by what somebody else has changed. */
  async #resolve(instance: Instance, planId: string): Promise<Answer['kind'] | undefined> {
    await this.#cluster.clock.advance(COMMAND_MS)
    const operation = instance.resolve(planId, false)
    await this.#until(operation, 'c resolves')
    const answer = answerIn(operation.ended)
    const isEdited = [...this.#cluster.worlds.values()].some(({ hasEdits }) => hasEdits)
    if (answer?.kind !== 'rolled_back' && !(answer?.kind === 'blocked' && isEdited))
      throw new InvariantBroken('a blocked host can be resolved', `the resolve got ${JSON.stringify(answer)}`)
    return answer.kind
  }

  /** What a history leaves behind must not hinder the next request. */
  async #assertUsable(instance: Instance, name: HostName): Promise<void> {
    await this.#cluster.clock.advance(COMMAND_MS)
    const { plans, exposures } = await this.#cluster.books()
    const host = this.#cluster.hosts[name]
    if (![...plans.values()].some((plan) => plan.host === host)) return
    const exposure = exposures.get(host)
    const planId = exposure?.planId ?? (await this.#cluster.newPlan(name))
    const operation = await this.#request(instance, { action: exposure ? 'remove' : 'apply', planId })
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
      case 'shift':
        this.lines.push(`the clock of ${command.by} is wrong by ${command.ms / 1000} s`)
        this.#cluster.skews.set(command.by, command.ms)
        return
      case 'edit':
      case 'take':
        return this.#edit(command.do, command.part)
      case 'wake':
        return this.#wake(command.by, command.stop, command.timersFirst)
      case 'restart':
        return this.#restart(command.by, command.stop)
      default:
        return this.#operate(command)
    }
  }

  #edit(how: 'edit' | 'take', part: Part): void {
    this.lines.push(`somebody else ${how === 'edit' ? 'overwrites' : 'takes away'} the ${part}`)
    this.#cluster.worlds.get(this.#cluster.hosts.main)?.edit(part, how === 'edit' ? FOREIGN : null)
  }

  async #restart(name: InstanceName, stop?: Stop): Promise<void> {
    this.#instances.get(name)?.process.die()
    await this.#until(this.#start(name).recover(true, stop), `${name} restarts and recovers`)
  }

  /** A process that is paused or dead does nothing. */
  async #operate(
    command: Exclude<Command, { do: 'restart' | 'wake' | 'wait' | 'break' | 'mend' | 'shift' | 'edit' | 'take' }>,
  ) {
    const instance = this.#instances.get(command.by)
    if (!instance?.process.isAwake) return
    const { stop, by } = command
    if (command.do === 'recover') return this.#until(instance.recover(false, stop), `${by} recovers`)
    const planId = await this.#idOf(command.plan)
    if (command.do === 'resolve') {
      const { accepts = false, plan } = command
      const how = accepts ? ' with accept' : ''
      return this.#until(instance.resolve(planId, accepts, stop), `${by} resolves ${plan}${how}`)
    }
    await this.#request(instance, { ...command, action: command.do, planId })
  }

  async #request(instance: Instance, wanted: Wanted): Promise<Operation<Answer>> {
    const { action, planId, shows = 'own', overwrite = false, stop } = wanted
    const credential = await this.#credential(instance, action, planId, shows)
    const { capability } = credential
    this.#shown = capability
    const operation = instance.request({ action, planId, overwrite, ...credential }, stop)
    this.#requests.push({ capability, shows, operation })
    const [name] = [...this.#planIds].find(([, id]) => id === planId) ?? ['a new plan']
    const details = [...(overwrite ? ['overwriting'] : []), ...(shows === 'own' ? [] : [`capability: ${shows}`])]
    const line = [`${instance.process.instance} gets ${action} ${name}`, ...details].join(', ')
    await this.#until(operation, line)
    return operation
  }

  async #credential(
    instance: Instance,
    action: Asked['action'],
    planId: string,
    shows: CredentialKind,
  ): Promise<Pick<Asked, 'capability' | 'address' | 'otherDigest'>> {
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
    const stored = Object.values(books).map((all) => [...all.values()])
    const world = [...this.#cluster.worlds.values()].map(({ parts }) => parts)
    return { books, seen: [stored, world, await this.#cluster.leases()] }
  }

  async #until(operation: Operation<Answer>, line: string, knownTroubles = 0): Promise<void> {
    if (!this.#operations.includes(operation)) this.#operations.push(operation)
    const { troubles } = operation
    await operation.settle()
    const answer = operation.ended ? [told(answerIn(operation.ended))] : []
    this.lines.push(`${line}: ${[...troubles.slice(knownTroubles), ...answer].join(', ')}`)
  }

  #start(name: string): Instance {
    const instance = new Instance(name, this.#cluster)
    this.#instances.set(name, instance)
    return instance
  }

  /** A plan is made when it is named first. */
  async #idOf(name: PlanName): Promise<string> {
    const former = REPLACES[name]
    const host = name === 'side' ? 'side' : 'main'
    const planId = this.#planIds.get(name) ?? (await this.#cluster.newPlan(host, former && (await this.#idOf(former))))
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
