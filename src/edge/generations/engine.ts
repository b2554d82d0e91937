import { join } from 'node:path'
import type { UnsettledRun } from '../../model/run.ts'
import { placesOf } from '../config/gathered.ts'
import { isAdopted, isOutside, isReleased, isSecret } from '../config/layout.ts'
import { type EdgeChange, EdgeFault, type EdgeFile, type EdgePoint, type EdgeProposal, isFenced } from '../contract.ts'
import type { Fences } from '../files/fences.ts'
import { faultOf, hashOfFound, withEdgeFaults } from '../files/files.ts'
import { assertExpected, type Replaced } from '../files/replace.ts'
import type { Refusal } from '../reading/refusal.ts'
import { refusalSentence } from '../reading/refusal.ts'
import { findFailing, GroupCommit, type Member } from './group-commit.ts'
import { type FirstLayout, type RefreshParts, refresh, type Turn } from './refresh.ts'
import { discard, EDITED, enter, forgetOld, isUpToDate, type Staged } from './stage.ts'
import { Trials, type Tried } from './trials.ts'
import { noteRuns } from './unsettled.ts'

export interface EngineParts extends RefreshParts {
  readonly server: string
  readonly fences: Fences
  /** Rejects with `config_broken` if nginx would not load the configuration as it is. */
  readonly assertValid: () => Promise<void>
  readonly assertNoDebugLog: () => Promise<void>
  /** Called with runs that are not settled and whose former generations go: see `forgetOld`. */
  readonly onForgottenRuns?: ((runs: readonly UnsettledRun[]) => void) | undefined
  readonly installReleased: (released: readonly EdgeFile[]) => Promise<Replaced>
  /** Prepares what a change does to hand-written sites. */
  readonly prepareSites: (records: readonly EdgeFile[]) => Promise<SiteChange>
}

/** What a change does to files of others. One of `takeBack` and `keep` is called, once. */
export interface SiteChange extends Replaced {
  /** Takes server blocks out of their files. Called when nginx would load entries in their place. */
  takeOut(): void
}

interface Proposed {
  readonly member: Member<EdgeProposal>
  readonly change: EdgeChange
}

/** A generation that was tested before its change was proposed. */
interface Ahead {
  readonly from: number
  readonly key: string
  readonly tested: Promise<Staged | undefined>
}

/** How often a batch is begun again because somebody edited a file in the middle. */
const ATTEMPTS = 3
/** What was tried out and not proposed within this time goes: whoever tried it may have died, or its word that ends it was lost. */
const AHEAD_MS = 30_000
/** For this time after a change was tried out in vain, none is. */
const AFTER_WASTE_MS = 1_000

/** Makes generations out of changes: all that wait go into one, which is tested, entered, reloaded and proven once. */
export class GenerationEngine {
  readonly #parts: EngineParts
  readonly #trials: Trials
  readonly #commits: GroupCommit<EdgeProposal>
  /** Changes that are made alone: together they failed. */
  readonly #lone = new WeakSet<Member<EdgeProposal>>()
  readonly #served: Member<EdgeProposal>[] = []
  /** Generations that are kept without private keys. */
  readonly #keyless = new Set<number>()
  #ahead: Ahead | undefined
  #wastedAt = Number.NEGATIVE_INFINITY
  /** Why the edge could not be prepared the last time. */
  whyUnprepared: string | undefined

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#trials = new Trials(parts)
    this.#commits = new GroupCommit((members) => this.#commit(members))
  }

  /** Resolves when nginx runs a generation with the change. */
  change(proposal: EdgeProposal): Promise<void> {
    return this.#commits.run(proposal, proposal.signal)
  }

  /** Tests a change that will probably be proposed next. Does nothing while others change the edge. Resolves when the test has begun. */
  async tryOut(files: readonly EdgeFile[], signal?: AbortSignal): Promise<void> {
    const from = this.#parts.present.number
    // Where many changes come at once, what is tried out is seldom what is proposed next.
    const isBusy = this.#parts.clock.monotonic() - this.#wastedAt < AFTER_WASTE_MS
    if (!this.#commits.isIdle || this.#ahead || from === undefined || isBusy) return
    const begun = Promise.withResolvers<void>()
    const tested = this.#trials.stageTested([{ files }], signal, begun.resolve).then(
      (tried) => ('refusal' in tried ? undefined : tried.staged),
      () => undefined,
    )
    const ahead = { from, key: keyOf(files), tested }
    this.#ahead = ahead
    const forget = () => this.#ahead === ahead && void this.forgetAhead()
    this.#parts.clock.after(AHEAD_MS, forget, { ref: false })
    void tested.finally(begun.resolve)
    await begun.promise
  }

  /** Removes what was tested ahead and never proposed. */
  async forgetAhead(): Promise<void> {
    const ahead = this.#ahead
    this.#ahead = undefined
    const staged = await ahead?.tested
    if (staged) await discard(staged)
  }

  /** Newcomers together, then one of those that have to go alone. */
  async #commit(members: readonly Member<EdgeProposal>[]): Promise<void> {
    const [lone] = members.filter((member) => this.#lone.has(member))
    const batches = [members.filter((member) => !this.#lone.has(member)), lone ? [lone] : []]
    for (const batch of batches.filter(({ length }) => length > 0)) {
      await this.#parts
        .exclusive(async (turn) => {
          if (this.#parts.present.number === undefined) throw notPrepared(this.#parts.server, this.whyUnprepared)
          await this.#generation(await this.#proposals(batch), turn)
        })
        .catch((error: unknown) => {
          for (const member of batch) member.reject(error)
        })
      // Told only now: a command on the server ends with the answer, and must not take the lock with it.
      for (const member of this.#served.splice(0)) member.resolve()
    }
  }

  async #proposals(members: readonly Member<EdgeProposal>[]): Promise<Proposed[]> {
    const all = members.map(async (member) => {
      try {
        const change = await member.work.propose()
        if (change.files.some(({ path, content }) => content !== null && isSecret(path)))
          await this.#parts.assertNoDebugLog()
        return [{ member, change }]
      } catch (error) {
        member.reject(error)
        return []
      }
    })
    return (await Promise.all(all)).flat()
  }

  /**
   * Carries out the changes, without those that turn out to be impossible. Those that it leaves unsettled are committed again. Only
   * one bad change is looked for: with more of them the others go one by one, behind newcomers.
   */
  async #generation(proposed: readonly Proposed[], turn: Turn): Promise<void> {
    let left: readonly Proposed[] = orOneAlone(this.#possible(proposed))
    let hasFailed = false
    for (let attempt = 1; left.length > 0; ) {
      const tried = await this.#try(left)
      if ('refusal' in tried) {
        if (hasFailed) {
          for (const { member } of left) this.#lone.add(member)
          return
        }
        hasFailed = true
        await this.#parts.assertValid()
        left = await this.#withoutFailing(left, tried.refusal)
        continue
      }
      const ready = await this.#enter(left, tried.staged, turn)
      if (ready === 'entered') return
      await discard(tried.staged)
      if (ready.length === left.length && attempt === ATTEMPTS) throw EDITED
      if (ready.length === left.length) attempt += 1
      left = this.#possible(ready)
    }
  }

  /** Leaves out the changes that would overwrite what somebody else wrote. */
  #possible(proposed: readonly Proposed[]): Proposed[] {
    const { present } = this.#parts
    return passing(proposed, ({ change }) => {
      for (const { path } of change.files) if (!isOutside(path)) placesOf(path)
      assertExpected(change, (path) => hashOfFound(path, present.look(path)))
    })
  }

  /** Leaves out the changes of runs that have lost a lease. */
  #ready(proposed: readonly Proposed[], turn: Turn): Proposed[] {
    turn.assertHeld()
    return passing(proposed, ({ member: { work } }) => {
      work.reached?.('before-swap')
      work.assertHeld()
      this.#parts.fences.claim(work.fences).assertNewest()
    })
  }

  /** One bad change is found by halving and refused; the others go on without it. */
  async #withoutFailing(proposed: readonly Proposed[], first: Refusal): Promise<Proposed[]> {
    let last = first
    const passes = async (some: readonly Proposed[]): Promise<boolean> => {
      const tried = await this.#try(some)
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

  async #try(proposed: readonly Proposed[]): Promise<Tried> {
    const changes = proposed.map(({ change }) => change)
    const ahead = this.#ahead
    this.#ahead = undefined
    const isTried =
      ahead?.from === this.#parts.present.number &&
      !changes.some(({ mends, replacesLinks }) => mends || replacesLinks) &&
      ahead?.key === keyOf(changes.flatMap(({ files }) => files))
    const staged = isTried && (await ahead.tested)
    if (staged) return { staged }
    if (ahead && !isTried) {
      this.#wastedAt = this.#parts.clock.monotonic()
      void ahead.tested.then((tried) => tried && discard(tried))
    }
    const [only] = proposed
    return this.#trials.stageTested(changes, proposed.length === 1 ? only?.member.work.signal : undefined)
  }

  /**
   * Enters the generation and reloads nginx. If the reload is not proven, the former generation is entered again. Resolves with the
   * members that are left if one of them may not go on, or if somebody has edited a file meanwhile: then nothing has changed.
   */
  async #enter(proposed: readonly Proposed[], staged: Staged, turn: Turn): Promise<'entered' | readonly Proposed[]> {
    const { folder, present, reload } = this.#parts
    reach(proposed, 'staged')
    const former = present.number
    const outside = await this.#claim(proposed).catch(async (error: unknown) => {
      await discard(staged)
      throw error
    })
    if (Array.isArray(outside)) return outside
    const { released, sites } = outside
    await Promise.allSettled([turn, ...proposed.map(({ member }) => member.work)].map((held) => held.ensureHeld?.()))
    // From here to the rename nothing waits.
    const ready = this.#ready(proposed, turn)
    if (ready.length < proposed.length || !isUpToDate(staged)) {
      sites.takeBack()
      released.takeBack()
      return ready
    }
    try {
      await enter(folder, staged)
      sites.takeOut()
      reach(proposed, 'swapped')
      turn.assertHeld()
      await reload()
      reach(proposed, 'reloaded')
    } catch (error) {
      turn.assertHeld()
      sites.takeBack()
      released.takeBack()
      if (former !== undefined) await enter(folder, generationAt(folder, former))
      await discard(staged)
      await reload().catch(() => undefined)
      throw faultOf(folder, error)
    }
    released.keep()
    sites.keep()
    this.#served.push(...proposed.map(({ member }) => member))
    this.#forgetOld(staged.number, former)
    return 'entered'
  }

  /** Claims the hosts, and writes what lies outside the generation. Resolves with the members that are left if a newer run has one. */
  async #claim(proposed: readonly Proposed[]): Promise<{ released: Replaced; sites: SiteChange } | Proposed[]> {
    const { fences, installReleased, prepareSites } = this.#parts
    const newest = () => passing(proposed, ({ member: { work } }) => fences.claim(work.fences).assertNewest())
    const unfenced = newest()
    if (unfenced.length < proposed.length) return unfenced
    try {
      const all = proposed.map(({ member }) => member.work)
      await Promise.all([fences.claim(all.flatMap((work) => work.fences ?? [])).record(), this.#noteRuns(all)])
    } catch (error) {
      // One of them was overtaken while the claim was written: the others go on without it.
      if (isFenced(error)) return newest()
      throw error
    }
    const files = proposed.flatMap(({ change }) => change.files)
    const released = await installReleased(files.filter(({ path }) => isReleased(path)))
    const sites = await prepareSites(files.filter(({ path }) => isAdopted(path))).catch((error: unknown) => {
      released.takeBack()
      throw error
    })
    return { released, sites }
  }

  /** What stands now may have to be put back by these runs. */
  async #noteRuns(proposals: readonly EdgeProposal[]): Promise<void> {
    const { folder, present, clock } = this.#parts
    const { number } = present
    const runs = proposals.flatMap(({ run }) => run ?? [])
    if (number !== undefined) await withEdgeFaults(folder, () => noteRuns(folder, number, runs, clock.now()))
  }

  /** See refresh.ts. False if there is nothing to change. */
  async refresh(first: FirstLayout, isRunning: boolean, signal?: AbortSignal): Promise<boolean> {
    const entered = await refresh(this.#parts, this.#trials, { first, isRunning, signal })
    if (entered) this.#forgetOld(entered.number, entered.former)
    return entered !== undefined
  }

  #forgetOld(present: number, former: number | undefined): void {
    const { folder, clock, onForgottenRuns = () => undefined } = this.#parts
    forgetOld(folder, { present, former, keyless: this.#keyless, now: clock.now(), onForgottenRuns }).catch(
      () => undefined,
    )
  }
}

/**
 * An undo that puts a symbolic link back replaces a whole gathered file, and a change of a hand-written site may meet an edit of others:
 * each has a generation of its own.
 */
function orOneAlone(proposed: readonly Proposed[]): readonly Proposed[] {
  const alone = proposed.find(({ change }) =>
    change.files.some(({ path, link }) => link !== undefined || isAdopted(path)),
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
  for (const { member } of proposed) member.work.reached?.(point)
}

const keyOf = (files: readonly EdgeFile[]): string =>
  JSON.stringify(
    files.map(({ path, content }) => [path, content]).toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1)),
  )

const generationAt = (folder: string, number: number) => ({
  number,
  folder: join(folder, 'generations', String(number)),
})
