import { CONSOLE_ACTOR } from '../../src/model/run.ts'
import { taskIn } from '../../src/runs/engine/runs.ts'
import type { Books } from './cluster.ts'
import type { Played } from './history.ts'
import { type Answer, answerIn } from './instance.ts'
import type { Operation } from './schedule.ts'
import { type EndedRun, type HostSpec, InvariantBroken, specOf } from './spec.ts'
import { ownedBy } from './steps.ts'
import { FOREIGN, type World } from './world.ts'

/**
 * The world and the store are what the runs of each host make of it, one after the other, in the order of their fences.
 * Resolves with what they make of it.
 */
export async function assertAgreement({ cluster }: Played): Promise<ReadonlyMap<string, HostSpec>> {
  const books = await cluster.books()
  const unfinished = books.runs.filter(({ state }) => state === 'running')
  if (unfinished.length > 0)
    throw new InvariantBroken('after recovery no run is unfinished', `${unfinished.length} unfinished`)
  const specs = [...cluster.worlds].map(([host, world]) => {
    const spec = specOf(host, endedOn(host, books, cluster))
    assertPlans(host, spec, books)
    assertExposure(host, spec, books)
    assertWorld(spec, world, ownedBy(books.exposures.get(host)))
    return [host, spec] as const
  })
  return new Map(specs)
}

function endedOn(host: string, { runs, journals, plans }: Books, cluster: Played['cluster']): EndedRun[] {
  return cluster.runsOn(host, runs).flatMap((run) => {
    const plan = plans.get(run.planId)
    return plan ? [{ run, plan, task: taskIn(journals.get(run.runId) ?? []) }] : []
  })
}

function assertPlans(host: string, spec: HostSpec, { plans }: Books): void {
  for (const plan of plans.values()) {
    if (plan.host !== host) continue
    const expected = spec.plans.get(plan.planId) ?? 'planned'
    if (plan.state !== expected)
      throw new InvariantBroken('plan and runs agree', `the plan is ${plan.state}, not ${expected}`)
  }
}

/** Only a blocked run keeps its claim. */
function assertExposure(host: string, { holder, blocked }: HostSpec, { exposures }: Books): void {
  const exposure = exposures.get(host)
  const state = blocked[0]?.host === host ? 'blocked' : 'applied'
  const owner = holder ?? blocked[0]?.planId
  const expected = owner === undefined ? 'nothing' : `${state} ${owner} ${blocked.at(-1)?.runId}`
  const found = exposure ? `${exposure.state} ${exposure.planId} ${exposure.runId}` : 'nothing'
  if (found !== expected) throw new InvariantBroken('exposure and runs agree', `${found}, not ${expected}`)
}

/** A blocked host may be in any state. After an accept everything stands as it stood, and is not ours. */
function assertWorld(spec: HostSpec, world: World, [entry, record]: ReturnType<typeof ownedBy>): void {
  if (spec.blocked.length > 0) return
  if (spec.holder !== null && (entry === null || record === null))
    throw new InvariantBroken('an applied exposure has a receipt', `${entry}, ${record}`)
  const released = spec.released ? [`accept ${spec.released.runId}`, FOREIGN] : []
  for (const [part, owned] of Object.entries({ entry, record })) {
    const name = part === 'entry' ? 'entry' : 'record'
    const stands = world.parts[name]
    const isReleased = spec.holder === null && released.includes(stands ?? '')
    if (stands !== owned && !isReleased && !world.isEdited(name))
      throw new InvariantBroken('world and store agree', `the ${part} is ${stands}, the store says ${owned}`)
  }
}

type Ask = (action: 'apply' | 'remove' | 'repair', planId: string) => Promise<Operation<Answer>>

/** No request begins a run on a host that is blocked. */
export async function assertFreeze({ cluster }: Played, host: string, ask: Ask): Promise<void> {
  const { plans } = await cluster.books()
  for (const plan of plans.values())
    for (const action of ['apply', 'remove', 'repair'] as const) {
      if (plan.host !== host) continue
      const answer = answerIn((await ask(action, plan.planId)).ended)
      if (answer?.kind !== 'refused')
        throw new InvariantBroken('blocked freezes the host until it is resolved', JSON.stringify(answer))
    }
}

/** What must hold for a whole history. */
export async function assertEnd(played: Played): Promise<void> {
  const { cluster } = played
  const books = await cluster.books()
  assertCapabilities(played, books)
  assertAnswers(played, books)
  for (const [host, world] of cluster.worlds) assertEffects(world, books, (fence) => cluster.leaseEnd(host, fence))
  assertJournals(books)
  const [robbed] = cluster.robbed
  if (robbed !== undefined) throw new InvariantBroken('the run of a living process is not taken over', robbed)
  for (const runId of cluster.verdicts) {
    const state = books.runs.find((run) => run.runId === runId)?.state
    if (state !== 'succeeded') throw new InvariantBroken('a run with a verdict never goes back', `it is ${state}`)
  }
  const told = await cluster.endingsTold(played.eventsBefore)
  const ends = books.runs.filter(({ action, state }) => action !== 'renew' || state !== 'rolled_back').length
  if (told !== ends) throw new InvariantBroken('every end is told once', `${told} events for ${ends} ends`)
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

function assertEffects(world: World, { runs }: Books, leaseEnd: (fence: number) => number): void {
  const { effects, unexcused, dangling, trespasses } = world
  for (const [invariant, [first]] of [
    ['a run acts only while it holds the host', unexcused],
    ['no name points at an edge that does not serve it', dangling],
    ['what somebody else wrote is not overwritten', trespasses],
  ] as const)
    if (first !== undefined) throw new InvariantBroken(invariant, first)
  for (const [i, { fence, runId, at }] of effects.entries()) {
    if (at >= leaseEnd(fence))
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
