import { Slices } from '../../primitives/slices.ts'
import { isFenced } from '../contract/fault.ts'
import { withEdgeFaults } from '../faults.ts'
import type { ProposalParts, Proposed, Work } from './proposals.ts'
import { noteRuns } from './unsettled.ts'
import type { OutsideChange, Standing } from './web-server.ts'

/** Shows, before a generation is entered, that each change in it still belongs to the newest run of its hosts. */
export class Claims<S extends Standing, O> {
  readonly #parts: ProposalParts<S, O>

  constructor(parts: ProposalParts<S, O>) {
    this.#parts = parts
  }

  /** Leaves out the changes of runs that have lost a lease. */
  ready(proposed: readonly Proposed<S, O>[]): Proposed<S, O>[] {
    return passing(proposed, ({ member: { work } }) => {
      work.options.onCrashPoint?.('before-swap')
      work.options.assertHeld?.()
      this.#parts.fences.claim(fencesOf(work)).assertNewest()
    })
  }

  /** Claims the hosts, and writes what lies outside the generation. Resolves with the members that are left if a newer run has one. */
  async claim(proposed: readonly Proposed<S, O>[]): Promise<OutsideChange | Proposed<S, O>[]> {
    const { fences, web } = this.#parts
    const slices = new Slices(this.#parts.clock)
    const newest = () => passing(proposed, ({ member: { work } }) => fences.claim(fencesOf(work)).assertNewest())
    const unfenced = newest()
    if (unfenced.length < proposed.length) return unfenced
    if (slices.isOver) await slices.next()
    const outside = proposed.flatMap(({ member, decided }) =>
      decided.flatMap((one) => one.outside.map((what) => ({ what, run: member.work.change.run }))),
    )
    try {
      const all = proposed.map(({ member }) => member.work)
      await Promise.all([fences.claim(all.flatMap(fencesOf)).record(), this.#noteRuns(all)])
      for (const { what, run } of outside) if (run) await web.noteOutside(run, what)
    } catch (error) {
      // One of them was overtaken while the claim was written: the others go on without it.
      if (isFenced(error)) return newest()
      throw error
    }
    return web.prepareOutside(outside.map(({ what }) => what))
  }

  /** What stands now may have to be put back by these runs. */
  async #noteRuns(works: readonly Work[]): Promise<void> {
    const { folder, web, clock } = this.#parts
    const { number } = web
    const runs = works.flatMap(({ change }) => change.run ?? [])
    if (number !== undefined) await withEdgeFaults(folder, () => noteRuns(folder, number, runs, clock.now()))
  }
}

const fencesOf = ({ change, verdicts }: Work) =>
  change.items.filter(({ host }) => verdicts.get(host)?.state !== 'refused').map(({ fence }) => fence)

/** The changes that pass a check. The others are refused with what the check throws. */
const passing = <S extends Standing, O>(
  proposed: readonly Proposed<S, O>[],
  check: (one: Proposed<S, O>) => void,
): Proposed<S, O>[] =>
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
