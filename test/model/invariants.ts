import { CONSOLE_ACTOR, type Run, type RunAction } from '../../src/model/run.ts'
import { type Answer, answerIn, type Books } from './harness.ts'
import type { Played } from './history.ts'
import type { Operation } from './schedule.ts'
import { ownedBy } from './steps.ts'
import { FOREIGN } from './world.ts'

export class InvariantBroken extends Error {
  readonly invariant: string

  constructor(invariant: string, detail: string) {
    super(detail)
    this.invariant = invariant
  }
}

/** What the runs of a host make of it, one after the other. */
interface Spec {
  /** The plan that the host is exposed by. */
  holder: string | null
  /** The blocked run that nobody has resolved. */
  blocked: Run | null
  readonly plans: Map<string, string>
}

/** The world and the store are what the runs of the host make of it, one after the other, in the order of their fences. */
export async function assertAgreement({ cluster }: Played): Promise<void> {
  const books = await cluster.books()
  const unfinished = books.runs.filter(({ state }) => state === 'running')
  if (unfinished.length > 0)
    throw new InvariantBroken('after recovery no run is unfinished', `${unfinished.length} unfinished`)
  const spec: Spec = { holder: null, blocked: null, plans: new Map() }
  for (const run of books.runs) execute(spec, run, books)
  for (const [planId, { state }] of books.plans) {
    const expected = spec.plans.get(planId) ?? 'planned'
    if (state !== expected) throw new InvariantBroken('plan and runs agree', `the plan is ${state}, not ${expected}`)
  }
  assertExposure(spec, books)
  assertWorld(spec, books, cluster.world)
}

/** What an action needs and leaves: the plan's state after success and after an undo, and whether the host is ours then. */
const RULES: Readonly<Record<RunAction, { readonly done: string; readonly undone: string; readonly ours: boolean }>> = {
  apply: { done: 'applied', undone: 'rolled_back', ours: true },
  update: { done: 'applied', undone: 'rolled_back', ours: true },
  remove: { done: 'removed', undone: 'applied', ours: false },
  repair: { done: 'applied', undone: 'applied', ours: true },
  accept: { done: 'released', undone: 'applied', ours: false },
  renew: { done: 'applied', undone: 'applied', ours: true },
}

/** A run of a sequential engine: it may begin only where the host allows it. */
function execute(spec: Spec, run: Run, { plans }: Books): void {
  const { action, planId, state, actor } = run
  const former = plans.get(planId)?.request.replaces
  const isResolve = actor === CONSOLE_ACTOR
  if (isResolve !== (spec.blocked !== null) || (isResolve && spec.blocked?.planId !== planId))
    throw new InvariantBroken('blocked freezes the host until it is resolved', `${action} began`)
  const needed = action === 'apply' ? null : action === 'update' ? former : planId
  if (spec.holder !== needed)
    throw new InvariantBroken('a run begins only where its plan allows it', `${action} began at the wrong time`)
  const { done, undone, ours } = RULES[action]
  spec.blocked = state === 'blocked' ? run : null
  spec.plans.set(planId, state === 'blocked' ? 'blocked' : state === 'succeeded' ? done : undone)
  if (state !== 'succeeded') return
  spec.holder = ours ? planId : null
  if (action === 'update' && former !== undefined) spec.plans.set(former, 'replaced')
}

function assertExposure({ holder, blocked }: Spec, { exposure, plans }: Books): void {
  const former = plans.get(blocked?.planId ?? '')?.request.replaces
  const frozen = blocked?.action === 'update' ? former : blocked?.planId
  const expected = frozen ? `blocked ${frozen}` : holder ? `applied ${holder}` : 'nothing'
  const found = exposure ? `${exposure.state} ${exposure.planId}` : 'nothing'
  if (found !== expected) throw new InvariantBroken('exposure and runs agree', `${found}, not ${expected}`)
}

function assertWorld({ holder, blocked }: Spec, { exposure }: Books, world: Played['cluster']['world']): void {
  if (blocked) return
  const [entry, record] = holder === null ? [null, null] : ownedBy(exposure?.receipt)
  if (holder !== null && (entry === null || record === null))
    throw new InvariantBroken('an applied exposure has a receipt', `${entry}, ${record}`)
  for (const [part, expected] of [
    ['entry', entry],
    ['record', record],
  ] as const) {
    const stands = world.parts[part]
    if (stands !== expected && !world.isEdited(part))
      throw new InvariantBroken('world and store agree', `the ${part} is ${stands}, the store says ${expected}`)
    if (world.isEdited(part) && stands !== FOREIGN)
      throw new InvariantBroken('what somebody else wrote is not overwritten', `the ${part} is ${stands}`)
  }
}

type Ask = (action: 'apply' | 'remove', planId: string) => Promise<Operation<Answer>>

/** No request begins a run of a host that is blocked. */
export async function assertFreeze({ cluster }: Played, ask: Ask): Promise<void> {
  const { plans } = await cluster.books()
  for (const planId of plans.keys())
    for (const action of ['apply', 'remove'] as const) {
      const answer = answerIn((await ask(action, planId)).ended)
      if (answer?.kind !== 'refused')
        throw new InvariantBroken('blocked freezes the host until it is resolved', JSON.stringify(answer))
    }
}

/** What must hold for a whole history. */
export async function assertEnd(played: Played): Promise<void> {
  const books = await played.cluster.books()
  assertCapabilities(played, books)
  assertAnswers(played, books)
  assertEffects(played, books)
  assertJournals(books)
  const [robbed] = played.cluster.robbed
  if (robbed !== undefined) throw new InvariantBroken('the run of a living process is not taken over', robbed)
  for (const runId of played.cluster.verdicts) {
    const state = books.runs.find((run) => run.runId === runId)?.state
    if (state !== 'succeeded') throw new InvariantBroken('a run with a verdict never goes back', `it is ${state}`)
  }
  const told = await played.cluster.endingsTold(played.eventsBefore)
  if (told !== books.runs.length)
    throw new InvariantBroken('every end is told once', `${told} events for ${books.runs.length} runs`)
}

function assertCapabilities({ requests }: Played, { runs }: Books): void {
  const begun = requests.filter(({ operation }) => operation.run !== undefined)
  const stray = begun.find(({ shows }) => shows !== 'own' && shows !== 'again')
  if (stray) throw new InvariantBroken('a capability is bound to what it was issued for', `shown: ${stray.shows}`)
  const used = begun.map(({ capability }) => capability)
  if (new Set(used).size < used.length)
    throw new InvariantBroken('a capability starts at most one run', `${used.length} runs with ${new Set(used).size}`)
  const byRequest = runs.filter(({ actor }) => actor !== CONSOLE_ACTOR).length
  if (byRequest > begun.length)
    throw new InvariantBroken('a run needs a capability', `${byRequest} runs by ${begun.length} requests`)
}

function assertAnswers({ operations }: Played, { runs }: Books): void {
  for (const { ended, process } of operations) {
    const answer = process.isDead ? undefined : answerIn(ended)
    if (answer?.kind === 'fault') throw new InvariantBroken('a caller is told a problem with a code', answer.reason)
    if (!answer || !('runId' in answer)) continue
    const state = runs.find(({ runId }) => runId === answer.runId)?.state
    if (state !== answer.kind)
      throw new InvariantBroken('what a caller was told is true', `told ${answer.kind}, the run is ${state}`)
  }
}

function assertEffects({ cluster }: Played, { runs }: Books): void {
  const { effects, unexcused, dangling } = cluster.world
  const [refused] = unexcused
  if (refused !== undefined) throw new InvariantBroken('a run acts only while it holds the host', refused)
  const [dangled] = dangling
  if (dangled !== undefined) throw new InvariantBroken('no name points at an edge that does not serve it', dangled)
  for (const [i, { fence, runId, at }] of effects.entries()) {
    if (at >= (cluster.leaseEnds.get(fence) ?? 0))
      throw new InvariantBroken('a run acts only while it holds the host', `fence ${fence} acted after its lease`)
    if (fence < (effects[i - 1]?.fence ?? 0))
      throw new InvariantBroken('effects come in the order of fences', `fence ${fence} after ${effects[i - 1]?.fence}`)
    if (!runs.some((run) => run.runId === runId)) throw new InvariantBroken('every effect has a run', runId)
  }
}

function assertJournals({ journals }: Books): void {
  for (const entries of journals.values()) {
    const isWhole = entries.every(({ seq }, i) => seq === i + 1)
    const ends = entries.filter(({ step, mark }) => step === 'run' && mark === 'done')
    if (!isWhole || ends.length !== 1 || entries.at(-1) !== ends[0])
      throw new InvariantBroken('a journal ends once, with the end of its run', `${ends.length} ends`)
  }
}
