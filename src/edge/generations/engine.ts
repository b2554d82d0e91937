import { join } from 'node:path'
import type { UnsettledRun } from '../../model/run.ts'
import { GENERATIONS, isAdopted, isReleased, type OutsideFile } from '../config/layout.ts'
import { isChallenge } from '../config/render-model.ts'
import type { Listening } from '../config/sockets.ts'
import {
  type ChallengeChange,
  type Change,
  type ChangeItem,
  type ChangeOptions,
  EdgeFault,
  type EdgePoint,
  type HostVerdict,
  isFenced,
} from '../contract.ts'
import type { Fences } from '../files/fences.ts'
import { faultOf, withEdgeFaults } from '../files/files.ts'
import type { Replaced } from '../files/replace.ts'
import type { Refusal } from '../reading/refusal.ts'
import { refusalSentence } from '../reading/refusal.ts'
import { Draft } from './draft.ts'
import { findFailing, GroupCommit, type Member } from './group-commit.ts'
import { type ProposalParts, type Proposed, propose, type SiteChange, type Work } from './proposals.ts'
import { type RefreshParts, refresh, type Turn } from './refresh.ts'
import { discard, EDITED, enter, forgetOld, isUpToDate, type Staged } from './stage.ts'
import { Trials, type Tried } from './trials.ts'
import { generationBefore, noteRuns, settleRuns, unsettledRuns } from './unsettled.ts'

export interface EngineParts extends RefreshParts, ProposalParts {
  readonly fences: Fences
  readonly listening: () => Promise<Listening>
  /** Runs `work` while no agent of another process owns the folder. Default: none does. */
  readonly locked?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
  /** Rejects with `config_broken` if nginx would not load the configuration as it is. */
  readonly assertValid: () => Promise<void>
  readonly assertNoDebugLog: () => Promise<void>
  /** Called with runs that are not settled and whose former generations go: see `forgetOld`. */
  readonly onForgottenRuns?: ((runs: readonly UnsettledRun[]) => void) | undefined
  readonly installReleased: (released: readonly OutsideFile[]) => Promise<Replaced>
}

/** How often a batch is begun again because somebody edited a file in the middle. */
const ATTEMPTS = 3

/** Makes generations out of changes: all that wait go into one, which is tested, entered, reloaded and proven once. */
export class GenerationEngine {
  readonly #parts: EngineParts
  readonly #trials: Trials
  readonly #commits: GroupCommit<Work>
  /** Changes that are made alone: together they failed. */
  readonly #lone = new WeakSet<Member<Work>>()
  readonly #served: Member<Work>[] = []
  /** Generations that are kept without private keys. */
  readonly #keyless = new Set<number>()
  /** The generation that nginx has been proven to run. */
  #loaded: number | undefined
  /** Why the edge could not be prepared the last time. */
  whyUnprepared: string | undefined

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#trials = new Trials(parts)
    this.#commits = new GroupCommit((members) => this.#commit(members))
  }

  /** Resolves when nginx runs a generation with the change. */
  async change(
    { run, items, settles = [], floor }: Change,
    options: ChangeOptions = {},
  ): Promise<readonly HostVerdict[]> {
    const { fences, folder, locked = (work) => work() } = this.#parts
    if (floor) await locked(() => fences.raiseFloor(floor))
    if (settles.length > 0) await locked(() => settleRuns(folder, settles))
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
    // An authority chooses the token, and nginx reads it.
    if (answer !== null && !isChallenge({ token, answer }))
      throw new EdgeFault(
        'change_invalid',
        `The challenge of ${host} is not of the grammar of ACME. Nothing was changed.`,
      )
    const items: ChangeItem[] = [{ host, fence, expected: 'any', wanted: 'same' }]
    const work: Work = { change: { items }, options, challenge, verdicts: new Map() }
    await this.#commits.run(work, options.signal)
    const verdict = work.verdicts.get(host)
    if (verdict?.state === 'refused') throw verdict.fault
  }

  #serving(host: string): HostVerdict {
    const { present } = this.#parts
    return { host, state: 'serving', generation: present.number ?? 0, revision: present.find(host)?.revision ?? '' }
  }

  /** Newcomers together, then one of those that have to go alone. */
  async #commit(members: readonly Member<Work>[]): Promise<void> {
    const [lone] = members.filter((member) => this.#lone.has(member))
    const batches = [members.filter((member) => !this.#lone.has(member)), lone ? [lone] : []]
    for (const batch of batches.filter(({ length }) => length > 0)) {
      await this.#parts
        .exclusive(async (turn) => {
          if (this.#parts.present.number === undefined) throw notPrepared(this.#parts.server, this.whyUnprepared)
          const listening = await this.#parts.listening()
          await this.#generation(await this.#proposals(batch, listening), turn, listening)
        })
        .catch((error: unknown) => {
          for (const member of batch) member.reject(error)
        })
      // Resolved after the lock is released: a command on the server ends with the answer.
      for (const member of this.#served.splice(0)) member.resolve()
    }
  }

  async #proposals(members: readonly Member<Work>[], listening: Listening): Promise<Proposed[]> {
    const proposed: Proposed[] = []
    for (const member of members) {
      try {
        const one = propose(member, this.#parts, listening)
        if (one.decided.some(({ effect }) => effect.kind === 'put' && effect.entry.certificate !== null))
          await this.#parts.assertNoDebugLog()
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
  async #generation(proposed: readonly Proposed[], turn: Turn, listening: Listening): Promise<void> {
    let left: readonly Proposed[] = orOneAlone(proposed)
    let hasFailed = false
    for (let attempt = 1; left.length > 0; ) {
      const draft = this.#draft(left, listening)
      const texts = draft.texts()
      const isServed = draft.isServedOtherwise || hasOutside(left)
      if (texts.size === 0 && !hasOutside(left)) return this.#finishUnchanged(left, turn)
      const tried =
        isServed || this.#loaded !== this.#parts.present.number
          ? await this.#try(left, texts)
          : await this.#untested(texts)
      if ('refusal' in tried) {
        if (hasFailed) {
          for (const { member } of left) this.#lone.add(member)
          return
        }
        hasFailed = true
        await this.#parts.assertValid()
        left = await this.#withoutFailing(left, tried.refusal, listening)
        continue
      }
      const ready = await this.#enter(left, tried.staged, turn, isServed)
      if (ready === 'entered') return
      await discard(tried.staged)
      if (ready.length === left.length && attempt === ATTEMPTS) throw EDITED
      if (ready.length === left.length) attempt += 1
      left = (
        await this.#proposals(
          ready.map(({ member }) => member),
          listening,
        )
      ).filter(({ decided }) => decided.length > 0)
    }
  }

  #draft(proposed: readonly Proposed[], listening: Listening): Draft {
    const { present, pairs } = this.#parts
    const draft = new Draft({ present, pairs, listening })
    for (const { decided } of proposed)
      for (const { item, effect } of decided) {
        if (effect.kind === 'put') draft.put(effect.entry, effect.challenge)
        else if (effect.kind === 'restore') draft.restore(effect.standing)
        else if (effect.kind !== 'none') draft.remove(item.host)
      }
    return draft
  }

  /** Everything stands already. nginx may not have loaded it: a process may have died in between. */
  async #finishUnchanged(proposed: readonly Proposed[], turn: Turn): Promise<void> {
    const { reload, present } = this.#parts
    const claimed = await this.#claim(proposed)
    if (Array.isArray(claimed)) return
    claimed.keep()
    const isLoadNeeded = proposed.some(({ decided }) =>
      decided.some(({ effect }) => effect.kind === 'none' && effect.isLoaded),
    )
    if (isLoadNeeded && this.#loaded !== present.number) {
      const ready = this.#ready(proposed, turn)
      if (ready.length === 0) return
      await reload()
      this.#loaded = present.number
    }
    this.#serve(proposed)
  }

  /** Leaves out the changes of runs that have lost a lease. */
  #ready(proposed: readonly Proposed[], turn: Turn): Proposed[] {
    turn.assertHeld()
    return passing(proposed, ({ member: { work } }) => {
      work.options.onCrashPoint?.('before-swap')
      work.options.assertHeld?.()
      this.#parts.fences.claim(fencesOf(work)).assertNewest()
    })
  }

  /** One bad change is found by halving and refused; the others go on without it. */
  async #withoutFailing(proposed: readonly Proposed[], first: Refusal, listening: Listening): Promise<Proposed[]> {
    let last = first
    const passes = async (some: readonly Proposed[]): Promise<boolean> => {
      const tried = await this.#try(some, this.#draft(some, listening).texts())
      if ('refusal' in tried) last = tried.refusal
      else await discard(tried.staged)
      return !('refusal' in tried)
    }
    const failing = proposed.length === 1 ? proposed[0] : await findFailing(proposed, passes)
    if (!failing) {
      // They only fail together.
      for (const { member } of proposed) this.#lone.add(member)
      return []
    }
    failing.member.reject(
      new EdgeFault(
        'change_invalid',
        `nginx on edge ${this.#parts.server} rejected the change: ${refusalSentence(last)}. Nothing was changed.`,
      ),
    )
    return proposed.filter((one) => one !== failing)
  }

  async #try(proposed: readonly Proposed[], texts: ReturnType<Draft['texts']>): Promise<Tried> {
    const [only] = proposed
    const outside = proposed.flatMap(({ decided }) => decided.flatMap((one) => one.outside))
    return this.#trials.stageTested(
      texts,
      outside,
      proposed.length === 1 ? only?.member.work.options.signal : undefined,
    )
  }

  /** For a change of which nginx reads nothing. */
  async #untested(texts: ReturnType<Draft['texts']>): Promise<Tried> {
    const staged = await this.#trials.staged(texts)
    await staged.durable
    return { staged }
  }

  /**
   * Enters the generation and reloads nginx. If the reload is not proven, the former generation is entered again. Resolves with the
   * members that are left if one of them may not go on, or if somebody has edited a file meanwhile: then nothing has changed.
   */
  async #enter(
    proposed: readonly Proposed[],
    staged: Staged,
    turn: Turn,
    isServed: boolean,
  ): Promise<'entered' | readonly Proposed[]> {
    const { folder, present, reload } = this.#parts
    reach(proposed, 'staged')
    const former = present.number
    const outside = await this.#claim(proposed).catch(async (error: unknown) => {
      await discard(staged)
      throw error
    })
    if (Array.isArray(outside)) return outside
    await Promise.allSettled(
      [turn, ...proposed.map(({ member }) => member.work.options)].map((held) => held.ensureHeld?.()),
    )
    // From here to the rename nothing waits.
    const ready = this.#ready(proposed, turn)
    if (ready.length < proposed.length || !isUpToDate(staged)) {
      outside.takeBack()
      return ready
    }
    try {
      await enter(folder, staged)
      outside.takeOut()
      reach(proposed, 'swapped')
      turn.assertHeld()
      if (isServed || this.#loaded !== former) {
        this.#loaded = undefined
        await reload()
      }
      this.#loaded = staged.number
      reach(proposed, 'reloaded')
    } catch (error) {
      turn.assertHeld()
      outside.takeBack()
      if (former !== undefined) await enter(folder, generationAt(folder, former))
      await discard(staged)
      await reload().catch(() => undefined)
      throw faultOf(folder, error)
    }
    outside.keep()
    this.#serve(proposed)
    this.#forgetOld(staged.number, former)
    return 'entered'
  }

  #serve(proposed: readonly Proposed[]): void {
    for (const { member, decided } of proposed) {
      for (const { item, effect } of decided)
        member.work.verdicts.set(item.host, {
          ...this.#serving(item.host),
          ...(effect.kind === 'release' && { released: this.#parts.released.placeOf(item.host) }),
        } as HostVerdict)
      this.#served.push(member)
    }
  }

  /** Claims the hosts, and writes what lies outside the generation. Resolves with the members that are left if a newer run has one. */
  async #claim(proposed: readonly Proposed[]): Promise<SiteChange | Proposed[]> {
    const { fences, installReleased, sites, released } = this.#parts
    const newest = () => passing(proposed, ({ member: { work } }) => fences.claim(fencesOf(work)).assertNewest())
    const unfenced = newest()
    if (unfenced.length < proposed.length) return unfenced
    const outside = proposed.flatMap(({ member, decided }) =>
      decided.flatMap((one) => one.outside.map((file) => ({ file, run: member.work.change.run }))),
    )
    try {
      const all = proposed.map(({ member }) => member.work)
      await Promise.all([fences.claim(all.flatMap(fencesOf)).record(), this.#noteRuns(all)])
      for (const { file, run } of outside) if (run) await released.note(run, [file])
    } catch (error) {
      // One of them was overtaken while the claim was written: the others go on without it.
      if (isFenced(error)) return newest()
      throw error
    }
    const files = outside.map(({ file }) => file)
    const installed = await installReleased(files.filter(({ path }) => isReleased(path)))
    const taken = await sites.prepare(files.filter(({ path }) => isAdopted(path))).catch((error: unknown) => {
      installed.takeBack()
      throw error
    })
    return {
      takeOut: () => taken.takeOut(),
      takeBack: () => {
        taken.takeBack()
        installed.takeBack()
      },
      keep: () => {
        installed.keep()
        taken.keep()
      },
    }
  }

  /** What stands now may have to be put back by these runs. */
  async #noteRuns(works: readonly Work[]): Promise<void> {
    const { folder, present, clock } = this.#parts
    const { number } = present
    const runs = works.flatMap(({ change }) => change.run ?? [])
    if (number !== undefined) await withEdgeFaults(folder, () => noteRuns(folder, number, runs, clock.now()))
  }

  /** See refresh.ts. False if there is nothing to change. */
  async refresh(isRunning: boolean, signal?: AbortSignal): Promise<boolean> {
    const { pairs, listening } = this.#parts
    const entered = await refresh(this.#parts, this.#trials, { pairs, listening: await listening(), isRunning, signal })
    if (entered && isRunning) this.#loaded = entered.number
    if (entered) this.#forgetOld(entered.number, entered.former)
    return entered !== undefined
  }

  #forgetOld(present: number, former: number | undefined): void {
    const { folder, clock, onForgottenRuns = () => undefined } = this.#parts
    forgetOld(folder, { present, former, keyless: this.#keyless, now: clock.now(), onForgottenRuns })
      .then(() => this.#forgetPairs(former))
      .catch(() => undefined)
  }

  /** Keeps what the present generation names, the one before, and those that unsettled runs may have to put back. */
  #forgetPairs(former: number | undefined): void {
    const { present, pairs, folder } = this.#parts
    const used = new Set([...present.all()].flatMap(({ entry }) => entry?.certificate ?? []))
    if (pairs.ids.every((id) => used.has(id))) return
    const needed = unsettledRuns(folder).flatMap(({ run }) => generationBefore(folder, run) ?? [])
    for (const number of new Set([...(former === undefined ? [] : [former]), ...needed]))
      for (const id of present.certificatesIn(number)) used.add(id)
    pairs.forget(used)
  }
}

const fencesOf = ({ change, verdicts }: Work) =>
  change.items.filter(({ host }) => verdicts.get(host)?.state !== 'refused').map(({ fence }) => fence)

const hasOutside = (proposed: readonly Proposed[]): boolean =>
  proposed.some(({ decided }) => decided.some(({ outside }) => outside.length > 0))

/** A change of a hand-written site may meet an edit of others: each has a generation of its own. */
function orOneAlone(proposed: readonly Proposed[]): readonly Proposed[] {
  const alone = proposed.find(({ decided }) =>
    decided.some(({ outside }) => outside.some(({ path }) => isAdopted(path))),
  )
  return alone ? [alone] : proposed
}

/** The changes that pass a check. The others are refused with what the check throws. */
const passing = (proposed: readonly Proposed[], check: (one: Proposed) => void): Proposed[] =>
  proposed.filter((one) => {
    if (one.member.isSettled) return false
    try {
      check(one)
      return true
    } catch (error) {
      one.member.reject(error)
      return false
    }
  })

const notPrepared = (server: string, reason = 'It has not been tried yet.'): EdgeFault =>
  new EdgeFault('unavailable', `Edge ${server} is not prepared: ${reason}`)

const reach = (proposed: readonly Proposed[], point: EdgePoint): void => {
  for (const { member } of proposed) member.work.options.onCrashPoint?.(point)
}

const generationAt = (folder: string, number: number): Pick<Staged, 'number' | 'folder'> => ({
  number,
  folder: join(folder, GENERATIONS, String(number)),
})
