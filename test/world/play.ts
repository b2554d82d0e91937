import type { Command, History, MachineName } from './command.ts'
import type { EdgeMachine } from './edge-machine.ts'
import { assertPromises, isReleased, PromiseBroken } from './promises.ts'
import { type Answer, BACKEND, type Service } from './service.ts'
import type { Template } from './stores.ts'
import { type HostName, hostOf, type InstanceName, nameOf, World } from './world.ts'

/** A history that breaks a promise: what happened, line by line. */
export interface Counterexample {
  readonly promise: string
  readonly detail: string
  readonly lines: readonly string[]
  readonly history: History
}

interface Asked {
  readonly line: number
  readonly answer: Promise<Answer>
  told: Answer | undefined
}

const START_MS = 1_000
const DECISIONS = ['accept', 'repair', 'remove'] as const
/** Longer than a lease. */
const SETTLE_MS = 35_000
/** After this time everything that was begun has ended: the limits of all steps have run out. */
const LONGEST_SETTLE_MS = 1_800_000
const LONGEST_MS = 3_600_000

/** Plays one history in a world of its own. */
class Play {
  readonly lines: string[] = []
  readonly #world: World
  readonly #asked: Asked[] = []
  #ports = 3_000

  constructor(world: World) {
    this.#world = world
  }

  async play(history: History): Promise<void> {
    await this.#start('a')
    for (const command of history) {
      if ('by' in command && !this.#world.services.has(command.by)) await this.#start(command.by)
      await this.#execute(command)
      await this.#world.timeline.advance(command.thenMs)
    }
    await this.#conclude()
  }

  async #start(name: InstanceName): Promise<void> {
    this.#world.start(name)
    await this.#world.timeline.advance(START_MS)
  }

  /** All neighbours are well again, and the service has the time to end what it began. */
  async #conclude(): Promise<void> {
    const { nameServer, primary, secondary } = this.#world
    nameServer.mend()
    for (const machine of [primary, secondary]) {
      Object.assign(machine, { isAway: false, delayMs: 0 })
      machine.nginx.reloads = 'well'
      machine.nginx.statuses.clear()
      if (!machine.nginx.isUp) machine.nginx.start()
    }
    for (const [name, { process }] of this.#world.services) {
      process.skewMs = 0
      process.stopAt(undefined)
      process.wake()
      if (process.isDead) this.#world.start(name)
    }
    await this.#settle()
    const service = this.#service('a')
    for (const duty of ['recover', 'expire', 'marks', 'converge', 'converge'] as const)
      await this.#within(service.perform(duty), duty)
    await assertPromises(this.#world)
    await this.#assertAnswers()
    await this.#assertResolvable(service)
  }

  /** Lets time pass until no run is under way. One that never ends is told by the promises. */
  async #settle(): Promise<void> {
    const { timeline, store } = this.#world
    const end = timeline.now() + LONGEST_SETTLE_MS
    do await timeline.advance(SETTLE_MS)
    while ((await store.unfinishedRuns()).length > 0 && timeline.now() < end)
  }

  /** What a caller was told stays true. */
  async #assertAnswers(): Promise<void> {
    for (const { told } of this.#asked) {
      if (told?.kind === 'fault') throw new PromiseBroken('a caller is told a problem with a code', told.reason)
      if (!told || !('runId' in told)) continue
      const run = await this.#world.store.findRun(told.runId)
      if (run?.state !== told.kind)
        throw new PromiseBroken('what a caller was told is true', `told ${told.kind}, the run is ${run?.state}`)
    }
  }

  /** A blocked host says so, and a person can end that: then it is wholly on the air, wholly off it, or not ours. */
  async #assertResolvable(service: Service): Promise<void> {
    for (const { runId, host } of await this.#world.exposures()) {
      const blocked = runId === undefined ? undefined : await this.#world.store.findRun(runId)
      if (!blocked) continue
      this.#world.restored?.decided.add(nameOf(host))
      const answer = await this.#resolve(service, blocked.planId)
      this.lines.push(`resolve of ${host}: ${JSON.stringify(answer)}`)
      if (answer?.kind !== 'rolled_back' && answer?.kind !== 'succeeded')
        throw new PromiseBroken('a blocked host can be resolved', `${host}: ${JSON.stringify(answer)}`)
    }
    await this.#within(service.perform('converge'), 'converge')
    await assertPromises(this.#world)
  }

  /** Where the rollback is refused, a person decides otherwise. */
  async #resolve(service: Service, planId: string): Promise<Answer | undefined> {
    const first = this.lines.length % DECISIONS.length
    const decisions = ['undo', ...DECISIONS.slice(first), ...DECISIONS.slice(0, first)] as const
    let answer: Answer | undefined
    for (const by of decisions) {
      answer = await this.#within(service.resolve(planId, by), `resolve by ${by}`)
      if (answer.kind !== 'refused') return answer
    }
    return answer
  }

  async #within<T>(work: Promise<T>, what: string): Promise<T> {
    if (await this.#world.timeline.until(work, LONGEST_MS)) return work
    throw new PromiseBroken('every wait has an end', `${what} has none`)
  }

  async #execute(command: Command): Promise<void> {
    const { nameServer, services } = this.#world
    const { thenMs: _, ...what } = command
    this.lines.push(JSON.stringify(what))
    switch (command.do) {
      case 'crash':
        return services.get(command.by)?.process.die()
      case 'pause':
        return services.get(command.by)?.process.pause()
      case 'wake':
        return services.get(command.by)?.process.wake()
      case 'restart':
        return void this.#world.start(command.by, services.get(command.by)?.process.skewMs)
      case 'shift':
        return void Object.assign(services.get(command.by)?.process ?? {}, { skewMs: command.ms })
      case 'stall':
        return nameServer.stall(command.kind, command.ms, command.afterMessages)
      case 'nameServer': {
        const { is, skewSeconds, wireMs } = command
        const faults = { isDown: is === 'down', losesAnswers: is === 'losing answers' }
        return void Object.assign(nameServer, { ...faults, skewSeconds, wireMs })
      }
      case 'backend':
        for (let port = 3_000; port <= this.#ports + 20; port += 1)
          this.#world.primary.nginx.statuses.set(BACKEND.replace('3000', String(port)), command.status)
        return
      case 'edit':
        return this.#edit(command.machine, command.host)
      case 'backup':
        return this.#world.makeBackup()
      case 'restore':
        return this.#restore(command.keepsFormer)
      case 'former':
        return this.#world.askFormer(command.asks, command.host)
      case 'wait':
        return
      case 'leave':
      case 'return':
      case 'delay':
      case 'reloads':
      case 'stopNginx':
      case 'startNginx':
        return this.#change(this.#machine(command.machine), command)
      default:
        return this.#request(command)
    }
  }

  #edit(name: MachineName, host: HostName): void {
    this.#ports += 1
    const target = BACKEND.replace('3000', `9${this.#ports}`)
    const machine = this.#machine(name)
    if (!machine.nginx.isUp || !machine.edit(hostOf(host), target)) return
    this.#world.edits.set(`${machine.server} ${host}`, target)
    this.#world.restored?.asked.add(host)
  }

  /** No run is under way, and no process is stopped in one. */
  async #restore(keepsFormer: boolean): Promise<void> {
    const { timeline, services, backup } = this.#world
    if (!backup) return
    for (const { process } of services.values()) process.wake()
    await timeline.advance(SETTLE_MS)
    if ((await this.#world.store.unfinishedRuns()).length > 0) return
    await this.#world.restore(keepsFormer)
    // The restored store has forgotten what came after the backup.
    this.#asked.splice(0)
    await this.#start('a')
  }

  #change(machine: EdgeMachine, command: Extract<Command, { machine: MachineName }>): void {
    switch (command.do) {
      case 'leave':
      case 'return':
        machine.isAway = command.do === 'leave'
        return
      case 'delay':
        machine.delayMs = command.ms
        return
      case 'reloads':
        machine.nginx.reloads = command.how
        return
      case 'stopNginx':
        machine.nginx.isUp = false
        return
      case 'startNginx':
        if (!machine.nginx.isUp) machine.nginx.start()
    }
  }

  async #request(command: Extract<Command, { host: HostName; by: InstanceName }>): Promise<void> {
    const { by, host, stop, expires, overwrite } = command
    const service = this.#service(by)
    if (!service.process.isAwake) return
    const planId = await this.#planFor(command.do, host, expires)
    if (planId === undefined) return
    this.#world.restored?.asked.add(host)
    // Told to overwrite, or to take the host out of our books as it stands.
    if ((command.do === 'repair' && overwrite) || command.do === 'accept') this.#world.forgetEdits(host)
    if (stop) service.process.stopAt(stop)
    const asked: Asked = {
      line: this.lines.length - 1,
      answer: service.request(command.do, planId, overwrite),
      told: undefined,
    }
    this.#asked.push(asked)
    void asked.answer.then((told) => {
      asked.told = told
      this.lines[asked.line] += ` -> ${'reason' in told ? `${told.kind} (${told.reason})` : told.kind}`
    })
  }

  async #planFor(action: Command['do'], host: HostName, expires = false): Promise<string | undefined> {
    const exposure = await this.#world.exposure(host)
    // Whoever has taken a host over would have to take it away first.
    if (isReleased({ exposure, runs: await this.#world.store.runsOfHost(hostOf(host)) })) return undefined
    if (action !== 'apply') return exposure?.planId
    this.#ports += 1
    return this.#world.newPlan(host, this.#ports, expires ? 20 : undefined)
  }

  #machine(name: MachineName): EdgeMachine {
    return this.#world[name]
  }

  #service(name: InstanceName): Service {
    const service = this.#world.services.get(name)
    if (!service) throw new Error(`${name} was not started.`)
    return service
  }
}

/** Plays a history, and finds the promise that it breaks. */
export async function findBroken(history: History, template: Template): Promise<Counterexample | undefined> {
  const world = await World.open(template)
  const play = new Play(world)
  try {
    await play.play(history)
    return undefined
  } catch (error) {
    if (!(error instanceof PromiseBroken)) throw error
    return { promise: error.promise, detail: error.message, lines: play.lines, history }
  } finally {
    await world.close()
  }
}

/** Leaves out one command after the other, as long as the same promise is broken. */
export async function shorten(found: Counterexample, template: Template): Promise<Counterexample> {
  for (const i of found.history.keys()) {
    const shorter = await findBroken(found.history.toSpliced(i, 1), template)
    if (shorter?.promise === found.promise) return shorten(shorter, template)
  }
  return found
}

/** What happened, line by line, and how to play it again. */
export const describeCounterexample = ({ promise, detail, lines, history }: Counterexample, seed?: number): string =>
  [
    `Broken: ${promise} (${detail}).`,
    ...lines.map((line) => `  ${line}`),
    JSON.stringify(history),
    ...(seed === undefined ? [] : [`Again: SEED=${seed} COUNT=1 npm run campaign -- test/world`]),
  ].join('\n')
