import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASE_FILE, CURRENT, STAGING } from '../config/layout.ts'
import type { EdgeFault, EdgeFile, EdgeProposal } from '../contract.ts'
import type { Refusal } from '../reading/refusal.ts'
import { discard, EDITED, enter, isUpToDate, pointTo, type Staged } from './stage.ts'
import type { TrialParts, Trials } from './trials.ts'

/** Throws if the edge may belong to another process by now. `ensureHeld` renews what ran out, if nobody else has taken it. */
export type Turn = Pick<EdgeProposal, 'assertHeld' | 'ensureHeld'>

export interface RefreshParts extends TrialParts {
  /** Runs `work` while no other process changes this edge. */
  readonly exclusive: <T>(work: (turn: Turn) => Promise<T>) => Promise<T>
  /** Whether the base file of the staged generation differs from the present one in its number alone. */
  readonly isSameBase: (staged: Staged) => boolean
  /** The fault where nginx rejects the base file. */
  readonly refused: (refusal: Refusal) => EdgeFault
  /** Loads the configuration on disk, and resolves when that is proven. */
  readonly reload: (signal?: AbortSignal) => Promise<void>
}

/** What stood in the first layout, in which every file was one on disk. */
export interface FirstLayout {
  readonly files: readonly EdgeFile[]
  /** Files that others had put there, by their path in the generation. */
  readonly others: ReadonlyMap<string, string>
  /** Whether it is still the same. */
  isUpToDate(): boolean
}

/**
 * Enters a generation with what the first layout had, or one in which the base file and the lines of entries are written as this
 * version does. Undefined if there is nothing to change. `isRunning`: nginx loads it.
 */
export function refresh(
  parts: RefreshParts,
  trials: Trials,
  { first, isRunning, signal }: { first: FirstLayout; isRunning: boolean; signal: AbortSignal | undefined },
): Promise<{ readonly number: number; readonly former: number | undefined } | undefined> {
  const { exclusive, folder, present, reload } = parts
  return exclusive(async (turn) => {
    const staged = await refreshed(parts, trials, first, signal)
    if (!staged) return undefined
    const former = present.number
    const leave = baseFileOf(folder, former)
    turn.assertHeld()
    signal?.throwIfAborted()
    if (!isUpToDate(staged) || !first.isUpToDate()) {
      await discard(staged)
      throw EDITED
    }
    await enter(folder, staged)
    if (isRunning) {
      await reload(signal).catch(async (error: unknown) => {
        // The test has passed, and nginx may load it yet.
        signal?.throwIfAborted()
        leave()
        await reload().catch(() => undefined)
        await discard(staged)
        throw error
      })
    }
    return { number: staged.number, former }
  })
}

/** Undefined if it would be the same. Then it is no reason to fail that nginx refuses it: others broke something. */
async function refreshed(
  parts: RefreshParts,
  trials: Trials,
  first: FirstLayout,
  signal: AbortSignal | undefined,
): Promise<Staged | undefined> {
  const { isSameBase, present, refused } = parts
  const changes = [{ files: first.files }]
  const rewritten = present.rewritten()
  const staged = await trials.staged(new Map([...rewritten, ...trials.textsWith(changes), ...first.others]))
  const isSame = first.files.length === 0 && rewritten.size === 0 && isSameBase(staged)
  const refusal = await trials.refusalOf(staged, changes, signal)
  if (refusal && !isSame) throw refused(refusal)
  if (!isSame) return staged
  await discard(staged)
  return undefined
}

/** Returns what puts the present base file back. */
function baseFileOf(folder: string, number: number | undefined): () => void {
  const path = join(folder, BASE_FILE)
  const former = existsSync(path) ? readFileSync(path) : undefined
  return () => {
    if (former) {
      const draft = join(folder, STAGING, 'base-former')
      writeFileSync(draft, former, { mode: 0o644 })
      renameSync(draft, path)
    } else rmSync(path, { force: true })
    if (number === undefined) rmSync(join(folder, CURRENT), { force: true })
    else pointTo(folder, number)
  }
}
