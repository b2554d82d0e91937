import { randomBytes } from 'node:crypto'
import type { Plan, PlanState } from '../../src/model/exposure.ts'
import { hostLease, type Run, type RunAction } from '../../src/model/run.ts'
import { type Step, StepFault } from '../../src/runs/engine/step.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { samplePlan, sampleRun } from '../contract/samples.ts'

/** Simulates the death of the process. Only the test catches it. */
export class PowerLoss extends Error {}

/** Stores a plan and its run, started with fence 1. */
export async function newRun(store: Store, action: RunAction): Promise<Run> {
  const id = randomBytes(13).toString('hex')
  const host = `${id}.lab.test`
  const plan = samplePlan({
    ...{ planId: `plan_${id}`, state: action === 'apply' ? 'applying' : 'removing', digest: id, host },
    url: `http://${host}/`,
    request: { zone: 'lab.test', subdomain: id, server: '25', port: 3000, health: '/', tls: false },
    ...{ checks: [], steps: ['proxy'], exposureId: `exposure_${id}`, createdAt: 0, expiresAt: 1 },
    changes: [{ kind: 'proxy', action: 'create', serverName: host, target: 'http://127.0.45.25:3000', https: false }],
  })
  const { planId } = plan
  const run = sampleRun({ runId: `run_${id}`, planId, host, action, holder: 'test', startedAt: 0 })
  await store.insertPlan(plan)
  await store.insertRun(run)
  return run
}

/** Stores an applied plan with its exposure. */
export async function appliedPlan(store: Store, at: number, expiresAt?: number): Promise<Plan> {
  const { runId, planId, host } = await newRun(store, 'remove')
  await store.finishRun(runId, 'rolled_back', at, 1)
  await store.movePlan(planId, ['removing'], 'applied')
  const claim = { host, planId, state: 'applied', fence: 1, since: at } as const
  await store.insertExposure({ ...claim, ...(expiresAt !== undefined && { expiresAt }) })
  const plan = await store.findPlan(planId)
  if (!plan) throw new Error('The plan was not stored.')
  return plan
}

/** Stores another plan of the host of this one. */
export async function anotherPlan(store: Store, planId: string, state: PlanState): Promise<Plan> {
  const id = randomBytes(13).toString('hex')
  const plan = await store.findPlan(planId)
  if (!plan) throw new Error('The plan is not stored.')
  const other = { ...plan, planId: `plan_${id}`, digest: id, state }
  await store.insertPlan(other)
  return other
}

/** Gives the lease of a host its next number, as a run does. */
export async function nextFence(store: Store, host: string, at: number): Promise<number> {
  const lease = await store.takeLease(hostLease(host), 'a run', at, 1_000)
  if (!lease) throw new Error('The lease is held.')
  await store.releaseLease(lease)
  return lease.fence
}

interface Faults {
  /** The index of the step whose `do` always fails; `untouched`: before it changes anything. */
  readonly fails?: number | undefined
  readonly untouched?: boolean
  /** The index of the step whose `undo` always fails. */
  readonly undoFails?: number | undefined
}

/** A world in which each step adds one thing. It records every step that breaks the order. */
export class FakeWorld {
  readonly undone: string[] = []
  beforeEffect: (step: string) => Promise<void> = async () => undefined
  beforeUndo: (step: string) => Promise<void> = async () => undefined
  /** Called in the middle of every effect. */
  beat: () => void = () => undefined
  /** Thrown by every call of the DNS step. */
  hindrance: Error | undefined
  readonly #names: readonly string[]
  readonly #stands = new Set<string>()
  readonly #broken: string[] = []
  readonly #next = new Map<string, Error>()
  #faults: Faults

  constructor(names: readonly string[], faults: Faults) {
    this.#names = names
    this.#faults = faults
  }

  standing = (): string[] => this.#names.filter((name) => this.#stands.has(name))

  heal(): void {
    this.#faults = {}
  }

  failNext(step: string, fault: Error): void {
    this.#next.set(step, fault)
  }

  /** The engine knows only the contract of a step: what these give is no real result. */
  steps(names: readonly string[]): Step[] {
    const steps = names.map((name, i) => ({
      name,
      decides: name === 'verify',
      before: async () => ({ stood: this.#stands.has(name) }),
      do: async () => {
        this.#hinder(name)
        await this.beforeEffect(name)
        const fails = this.#faults.fails === i
        if (fails && this.#faults.untouched) throw new StepFault('refused', { untouched: true })
        this.#raise(name)
        this.beat()
        if (fails) throw new StepFault('failed half way')
        return { done: name }
      },
      undo: async (image: unknown) => {
        this.#hinder(name)
        await this.beforeUndo(name)
        if (this.#faults.undoFails === i) throw new StepFault('cannot be undone')
        if ((image as { stood: boolean }).stood)
          this.#broken.push(`${name} was undone although it existed before the run`)
        if (this.#stands.has(name)) this.#lower(name)
        this.beat()
      },
    }))
    return steps as unknown as Step[]
  }

  /** Throws if a step ran before an earlier step, or was undone before a later one. */
  assertOrder(): void {
    if (this.#broken.length > 0) throw new Error(this.#broken.join('; '))
  }

  #hinder(name: string): void {
    if (name === 'dns' && this.hindrance) throw this.hindrance
    const fault = this.#next.get(name)
    this.#next.delete(name)
    if (fault) throw fault
  }

  #raise(name: string): void {
    const missing = this.#names.slice(0, this.#names.indexOf(name)).filter((earlier) => !this.#stands.has(earlier))
    if (missing.length > 0) this.#broken.push(`${name} came before ${missing}`)
    this.#stands.add(name)
  }

  #lower(name: string): void {
    const later = this.#names.slice(this.#names.indexOf(name) + 1).filter((other) => this.#stands.has(other))
    if (later.length > 0) this.#broken.push(`${name} went before ${later}`)
    this.#stands.delete(name)
    this.undone.push(name)
  }
}
