import type { Run } from '../../src/model/run.ts'
import { assertBooks } from './books.ts'
import { Callers } from './callers.ts'
import type { Command, History, MachineName } from './command.ts'
import type { EdgeMachine } from './edge-machine.ts'
import { assertPromises, isReleased, PromiseBroken } from './promises.ts'
import { type Answer, BACKEND, type Request, type Service } from './service.ts'
import { type HostName, hostOf, type InstanceName, nameOf, type World } from './world.ts'

const START_MS = 1_000
const DECISIONS = ['accept', 'repair', 'remove'] as const
/** Longer than a lease. */
const SETTLE_MS = 35_000
/** After this time everything that was begun has ended: the limits of all steps have run out. */
const LONGEST_SETTLE_MS = 1_800_000
const LONGEST_MS = 3_600_000

/** Plays one history in a world of its own. */
export class Play {
  readonly lines: string[] = []
  readonly #world: World
  readonly #callers: Callers
  #ports = 3_000

  constructor(world: World) {
    this.#world = world
    this.#callers = new Callers(world)
  }

  async play(history: History): Promise<void> {
    await this.begin(history)
    await this.#conclude()
  }

  async begin(history: History): Promise<void> {
    await this.#start('a')
    await this.goOn(history)
  }

  async goOn(history: History): Promise<void> {
    for (const command of history) {
      if ('by' in command && !this.#world.services.has(command.by)) await this.#start(command.by)
      await this.#execute(command)
      await this.#world.timeline.advance(command.thenMs)
    }
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
    for (const duty of ['recover', 'expire', 'marks', 'converge', 'renew', 'converge'] as const)
      await this.#within(service.perform(duty), duty)
    await assertPromises(this.#world)
    await this.#callers.assertAnswers()
    await assertBooks(this.#world)
    await this.#assertResolvable(service)
  }

  /** Lets time pass until no run is under way. One that never ends is told by the promises. */
  async #settle(): Promise<void> {
    const { timeline, store } = this.#world
    const end = timeline.now() + LONGEST_SETTLE_MS
    do await timeline.advance(SETTLE_MS)
    while ((await store.unfinishedRuns()).length > 0 && timeline.now() < end)
  }

  /** A blocked host says so, and a person can end that: then it is wholly on the air, wholly off it, or not ours. */
  async #assertResolvable(service: Service): Promise<void> {
    for (const { runId, host } of await this.#world.exposures()) {
      const blocked = runId === undefined ? undefined : await this.#world.store.findRun(runId)
      if (!blocked) continue
      this.#world.restored?.decided.add(nameOf(host))
      const answer = await this.#resolve(service, blocked)
      this.lines.push(`resolve of ${host}: ${JSON.stringify(answer)}`)
      if (answer?.kind !== 'rolled_back' && answer?.kind !== 'succeeded')
        throw new PromiseBroken('a blocked host can be resolved', `${host}: ${JSON.stringify(answer)}`)
    }
    await this.#within(service.perform('converge'), 'converge')
    await assertPromises(this.#world)
    await assertBooks(this.#world)
  }

  /** Where the rollback is refused, a person decides otherwise. */
  async #resolve(service: Service, { planId, host }: Run): Promise<Answer | undefined> {
    const first = this.lines.length % DECISIONS.length
    const decisions = ['undo', ...DECISIONS.slice(first), ...DECISIONS.slice(0, first)] as const
    let answer: Answer | undefined
    for (const by of decisions) {
      answer = await this.#within(service.resolve(planId, by), `resolve by ${by}`)
      // What somebody has edited is not undone.
      if (answer.kind !== 'refused' && !(answer.kind === 'blocked' && this.#world.isEdited(host))) return answer
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
      case 'resolve':
        return this.#decide(command)
      case 'due':
        this.#world.authority.isDue = true
        return
      case 'renew':
        return this.#renew(command)
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

  #renew({ by, stop }: Extract<Command, { do: 'renew' }>): void {
    const service = this.#service(by)
    if (!service.process.isAwake) return
    service.process.stopAt(stop)
    void service.perform('renew').catch(() => undefined)
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
    this.#callers.forget()
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

  async #request(command: Extract<Command, { do: Request }>): Promise<void> {
    const { do: action, by, host, stop, expires, tls, overwrite = false, shows = 'own' } = command
    const service = this.#service(by)
    if (!service.process.isAwake) return
    const planId = await this.#planFor(action, host, { ...(expires && { expiresIn: 20 }), tls })
    if (planId === undefined) return
    this.#world.restored?.asked.add(host)
    // Told to overwrite, or to take the host out of our books as it stands.
    if ((action === 'repair' && overwrite) || action === 'accept') this.#world.forgetEdits(host)
    const line = this.lines.length - 1
    const tell = (told: Answer) => {
      this.lines[line] += ` -> ${'reason' in told ? `${told.kind} (${told.reason})` : told.kind}`
    }
    await this.#callers.ask(service, { action, planId, overwrite, shows }, tell, stop)
  }

  async #decide({ by, host, how, stop }: Extract<Command, { do: 'resolve' }>): Promise<void> {
    const service = this.#service(by)
    const exposure = await this.#world.exposure(host)
    const blocked = exposure?.runId === undefined ? undefined : await this.#world.store.findRun(exposure.runId)
    if (!service.process.isAwake || !blocked) return
    this.#world.restored?.decided.add(host)
    if (how !== 'undo') this.#world.forgetEdits(host)
    service.process.stopAt(stop)
    void service.resolve(blocked.planId, how)
  }

  async #planFor(
    action: Command['do'],
    host: HostName,
    wish: { readonly expiresIn?: number; readonly tls: boolean | undefined },
  ): Promise<string | undefined> {
    const exposure = await this.#world.exposure(host)
    // Whoever has taken a host over would have to take it away first.
    if (isReleased({ exposure, runs: await this.#world.store.runsOfHost(hostOf(host)) })) return undefined
    if (action !== 'apply') return exposure?.planId
    this.#ports += 1
    return this.#world.newPlan(host, this.#ports, wish)
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
