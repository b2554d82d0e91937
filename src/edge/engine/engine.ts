import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { Slices } from '../../primitives/slices.ts'
import type { ChallengeChange, Change, ChangeItem, ChangeOptions, EdgePoint, HostVerdict } from '../contract/change.ts'
import { EdgeFault, OwnedElsewhere } from '../contract/fault.ts'
import { faultOf } from '../faults.ts'
import { isChallenge } from '../record/challenge.ts'
import { Claims } from './claims.ts'
import { GroupCommit, type Member } from './group-commit.ts'
import { type ProposalParts, type Proposed, propose, type Work } from './proposals.ts'
import { draftOf, findRefused, hasOutside, tryOut } from './trial.ts'
import { settleRuns, settlerOf } from './unsettled.ts'
import { type Batch, EDITED, type Staged, type Standing } from './web-server.ts'

export interface EngineParts<S extends Standing, O> extends ProposalParts<S, O> {
  /** Makes this process the owner of the folder, once. Throws an EdgeFault if another one is. Default: this one is. */
  readonly own?: (() => void) | undefined
}

/** How often a batch is begun again because somebody edited a file in the middle. */
const ATTEMPTS = 3

/** Makes generations out of changes: all that wait go into one, which is tested, entered, reloaded and proven once. */
export class GenerationEngine<S extends Standing, O> {
  readonly #parts: EngineParts<S, O>
  readonly #claims: Claims<S, O>
  readonly #commits: GroupCommit<Work>
  /** Changes that are made alone: together they failed. */
  readonly #lone = new WeakSet<Member<Work>>()
  readonly #served: Member<Work>[] = []
  readonly #turns = new KeyedQueue()
  /** The generation that the web server has been proven to run. */
  #loaded: number | undefined
  /** Why the edge could not be prepared the last time. */
  whyUnprepared: string | undefined

  constructor(parts: EngineParts<S, O>) {
    this.#parts = parts
    this.#claims = new Claims(parts)
    this.#commits = new GroupCommit((members) => this.#commit(members))
  }

  /** Resolves when the web server runs a generation with the change. */
  async change(
    { run, items, settles = [], floor }: Change,
    options: ChangeOptions = {},
  ): Promise<readonly HostVerdict[]> {
    const { fences, folder } = this.#parts
    this.own()
    if (floor) await fences.raiseFloor(floor)
    if (settles.length > 0) {
      const settler = settlerOf(floor)
      // A commit notes its runs in the same files.
      await this.alone(() => settleRuns(folder, settles, settler))
    }
    if (items.every(({ wanted }) => wanted === 'same')) {
      await fences.claim(items.map(({ fence }) => fence)).record()
      return items.map(({ host }) => this.#serving(host))
    }
    const work: Work = { change: { run, items }, options, verdicts: new Map() }
    await this.#commits.run(work, options.signal)
    return items.map(({ host }) => work.verdicts.get(host) ?? this.#serving(host))
  }

  async challenge(challenge: ChallengeChange, options: ChangeOptions = {}): Promise<void> {
    const { host, fence, token, answer } = challenge
    if (answer !== null && !isChallenge({ token, answer }))
      throw new EdgeFault(
        'change_invalid',
        `The challenge of ${host} is not of the grammar of ACME. Nothing was changed.`,
      )
    this.own()
    const items: ChangeItem[] = [{ host, fence, expected: 'any', wanted: 'same' }]
    const work: Work = { change: { items }, options, challenge, verdicts: new Map() }
    await this.#commits.run(work, options.signal)
    const verdict = work.verdicts.get(host)
    if (verdict?.state === 'refused') throw verdict.fault
  }

  /** Throws if another process owns the edge. Called before anything is written. */
  own(): void {
    try {
      this.#parts.own?.()
    } catch (error) {
      throw error instanceof OwnedElsewhere ? notPrepared(this.#parts.server, error.message) : error
    }
  }

  /** Runs `work` while this engine changes nothing else. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.afterwards(async () => {
      this.#parts.own?.()
      return work()
    })
  }

  /** Runs `work` after what is under way, whoever owns the folder. */
  afterwards<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run('', work)
  }

  #serving(host: string): HostVerdict {
    const { web } = this.#parts
    return { host, state: 'serving', generation: web.number ?? 0, revision: web.find(host)?.revision ?? '' }
  }

  /** Newcomers together, then one of those that have to go alone. */
  async #commit(members: readonly Member<Work>[]): Promise<void> {
    const [lone] = members.filter((member) => this.#lone.has(member))
    const batches = [members.filter((member) => !this.#lone.has(member)), lone ? [lone] : []]
    for (const batch of batches.filter(({ length }) => length > 0)) {
      await this.alone(async () => {
        const { web, server } = this.#parts
        if (web.number === undefined) throw notPrepared(server, this.whyUnprepared)
        const begun = await web.begin()
        await this.#generation(await this.#proposals(batch, begun), begun)
      }).catch((error: unknown) => {
        for (const member of batch) member.reject(error)
      })
      for (const member of this.#served.splice(0)) member.resolve()
    }
  }

  async #proposals(members: readonly Member<Work>[], batch: Batch<S, O>): Promise<Proposed<S, O>[]> {
    const proposed: Proposed<S, O>[] = []
    for (const member of members) {
      try {
        const one = await propose(member, this.#parts, batch)
        if (one.decided.some(({ effect }) => effect.kind === 'put' && effect.entry.certificate !== null))
          await this.#parts.web.assertNoDebugLog()
        if (one.decided.length > 0) proposed.push(one)
        // Every host of it is refused.
        else this.#served.push(member)
      } catch (error) {
        member.reject(error)
      }
    }
    return proposed
  }

  /**
   * Carries out the changes, without those that turn out to be impossible. Those that it leaves unsettled are committed again. Only
   * one bad change is looked for: with more of them the others go one by one, behind newcomers.
   */
  async #generation(proposed: readonly Proposed<S, O>[], batch: Batch<S, O>): Promise<void> {
    let left: readonly Proposed<S, O>[] = this.#orOneAlone(proposed)
    let begun = batch
    let hasFailed = false
    for (let attempt = 1; left.length > 0; ) {
      const next = await draftOf(left, begun)
      const isServed = next.isServedOtherwise || hasOutside(left)
      if (next.isSame && !hasOutside(left)) return this.#finishUnchanged(left)
      const tried =
        isServed || this.#loaded !== this.#parts.web.number
          ? await tryOut(left, next)
          : { staged: await next.stageUntested() }
      if ('refused' in tried) {
        if (hasFailed) {
          for (const { member } of left) this.#lone.add(member)
          return
        }
        hasFailed = true
        await this.#parts.web.assertValid()
        left = await this.#withoutFailing(left, tried.refused, begun)
        continue
      }
      const ready = await this.#enter(left, tried.staged, isServed)
      if (ready === 'entered') return
      await tried.staged.discard()
      if (ready.length === left.length && attempt === ATTEMPTS) throw EDITED
      if (ready.length === left.length) attempt += 1
      begun = await this.#parts.web.begin()
      const again = ready.map(({ member }) => member)
      left = (await this.#proposals(again, begun)).filter(({ decided }) => decided.length > 0)
    }
  }

  /** Everything stands already. The web server may not have loaded it: a process may have died in between. */
  async #finishUnchanged(proposed: readonly Proposed<S, O>[]): Promise<void> {
    const { web } = this.#parts
    const claimed = await this.#claims.claim(proposed)
    if (Array.isArray(claimed)) return
    claimed.keep()
    const isLoadNeeded = proposed.some(({ decided }) =>
      decided.some(({ effect }) => effect.kind === 'none' && effect.isLoaded),
    )
    if (isLoadNeeded && this.#loaded !== web.number) {
      const ready = this.#claims.ready(proposed)
      if (ready.length === 0) return
      await web.reload()
      this.#loaded = web.number
    }
    await this.#serve(proposed)
  }

  /** One bad change is found by halving and refused; the others go on without it. */
  async #withoutFailing(
    proposed: readonly Proposed<S, O>[],
    first: EdgeFault,
    batch: Batch<S, O>,
  ): Promise<Proposed<S, O>[]> {
    const found = await findRefused(proposed, first, batch)
    if (!found) {
      // They only fail together.
      for (const { member } of proposed) this.#lone.add(member)
      return []
    }
    found.failing.member.reject(found.refused)
    return proposed.filter((one) => one !== found.failing)
  }

  /**
   * Enters the generation and reloads the web server. If the reload is not proven, the former generation is entered again. Resolves with the
   * members that are left if one of them may not go on, or if somebody has edited a file meanwhile: then nothing has changed.
   */
  async #enter(
    proposed: readonly Proposed<S, O>[],
    staged: Staged,
    isServed: boolean,
  ): Promise<'entered' | readonly Proposed<S, O>[]> {
    const { folder, web } = this.#parts
    reach(proposed, 'staged')
    const former = web.number
    const outside = await this.#claims.claim(proposed).catch(async (error: unknown) => {
      await staged.discard()
      throw error
    })
    if (Array.isArray(outside)) return outside
    await Promise.allSettled(proposed.map(({ member }) => member.work.options.ensureHeld?.()))
    // From here to the rename nothing waits.
    const ready = this.#claims.ready(proposed)
    if (ready.length < proposed.length || !staged.isUpToDate()) {
      outside.takeBack()
      return ready
    }
    try {
      await staged.enter()
      outside.takeOut()
      reach(proposed, 'swapped')
      if (isServed || this.#loaded !== former) {
        this.#loaded = undefined
        await web.reload()
      }
      this.#loaded = staged.number
      reach(proposed, 'reloaded')
    } catch (error) {
      outside.takeBack()
      if (former !== undefined) await web.enterAgain(former)
      await staged.discard()
      await web.reload().catch(() => undefined)
      throw faultOf(folder, error)
    }
    outside.keep()
    await this.#serve(proposed)
    web.forgetOld(staged.number, former)
    return 'entered'
  }

  async #serve(proposed: readonly Proposed<S, O>[]): Promise<void> {
    const slices = new Slices(this.#parts.clock)
    for (const { member, decided } of proposed) {
      for (const { item, effect } of decided) {
        member.work.verdicts.set(item.host, {
          ...this.#serving(item.host),
          ...(effect.kind === 'release' && { released: this.#parts.web.releasedPlace(item.host) }),
        } as HostVerdict)
        if (slices.isOver) await slices.next()
      }
      this.#served.push(member)
    }
  }

  /** See `WebServer`. False if there is nothing to change. */
  async refresh(isRunning: boolean, signal?: AbortSignal): Promise<boolean> {
    const { web } = this.#parts
    const entered = await this.alone(() => web.refresh({ isRunning, signal }))
    if (entered && isRunning) this.#loaded = entered.number
    if (entered) web.forgetOld(entered.number, entered.former)
    return entered !== undefined
  }

  /** What must be in a generation of its own goes alone. */
  #orOneAlone(proposed: readonly Proposed<S, O>[]): readonly Proposed<S, O>[] {
    const { web } = this.#parts
    const alone = proposed.find(({ decided }) =>
      decided.some(({ outside }) => outside.some((what) => web.needsOwnGeneration(what))),
    )
    return alone ? [alone] : proposed
  }
}

const notPrepared = (server: string, reason = 'It has not been tried yet.'): EdgeFault =>
  new EdgeFault('unavailable', `Edge ${server} is not prepared: ${reason}`)

const reach = <S extends Standing, O>(proposed: readonly Proposed<S, O>[], point: EdgePoint): void => {
  for (const { member } of proposed) member.work.options.onCrashPoint?.(point)
}
