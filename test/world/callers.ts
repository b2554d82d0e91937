import type { Stop } from './process.ts'
import { PromiseBroken } from './promises.ts'
import type { Answer, CredentialKind, Request, Service } from './service.ts'
import type { World } from './world.ts'

/** What somebody asks for, and which capability is shown. */
interface Wish {
  readonly action: Request
  readonly planId: string
  readonly overwrite: boolean
  readonly shows: CredentialKind
}

interface Asked extends Wish {
  readonly capability: string
  told: Answer | undefined
}

/** Whoever asks a service of the world for a run, and what each was told. */
export class Callers {
  readonly #world: World
  readonly #asked: Asked[] = []

  constructor(world: World) {
    this.#world = world
  }

  /** Resolves when the service is asked. `tell` is called with its answer, if it answers. */
  async ask(service: Service, wish: Wish, tell: (told: Answer) => void, stop?: Stop): Promise<void> {
    const last = this.#asked.at(-1)
    const again = wish.shows === 'again' ? last : undefined
    const capability = again?.capability ?? (await this.#capabilityFor(service, wish))
    if (capability === undefined) return
    const asked: Asked = { ...(again ?? wish), shows: wish.shows, capability, told: undefined }
    this.#asked.push(asked)
    if (stop) service.process.stopAt(stop)
    void service.request(asked).then((told) => {
      asked.told = told
      tell(told)
    })
  }

  /** A restored store has forgotten what came after the backup. */
  forget(): void {
    this.#asked.splice(0)
  }

  /** What a caller was told stays true, and a capability is good for one run of what it was issued for. */
  async assertAnswers(): Promise<void> {
    const used = new Map<string, string>()
    for (const { told, shows, capability } of this.#asked) {
      if (told?.kind === 'fault') throw new PromiseBroken('a caller is told a problem with a code', told.reason)
      if (!told || !('runId' in told)) continue
      const run = await this.#world.store.findRun(told.runId)
      if (run?.state !== told.kind)
        throw new PromiseBroken('what a caller was told is true', `told ${told.kind}, the run is ${run?.state}`)
      if (shows !== 'own' && shows !== 'again')
        throw new PromiseBroken('a capability is bound to what it was issued for', `shown: ${shows}`)
      if ((used.get(capability) ?? told.runId) !== told.runId)
        throw new PromiseBroken('a capability starts at most one run', `${told.runId}, and another`)
      used.set(capability, told.runId)
    }
  }

  /** Undefined if the service was stopped before it gave one, where an earlier command has told it to stop. */
  async #capabilityFor(service: Service, { action, planId, shows }: Wish): Promise<string | undefined> {
    const otherAction = action === 'apply' ? 'remove' : 'apply'
    const plan = shows === 'otherPlan' ? await this.#world.otherPlan(planId) : planId
    const granted = service.grant(plan, shows === 'otherAction' ? otherAction : action)
    granted.catch(() => undefined)
    const isAnswered = await this.#world.timeline.until(granted, 60_000)
    if (!service.process.isAwake) return undefined
    if (!isAnswered) throw new Error('A capability was neither given nor refused.')
    return granted
  }
}
