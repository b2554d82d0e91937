import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EdgeFault } from '../../edge/contract/fault.ts'
import { EDITED } from '../../edge/engine/web-server.ts'
import { CURRENT, STAGING } from '../../edge/layout.ts'
import { BASE_FILE, MAX_PARTS, type PemKind } from '../../estate/layout.ts'
import type { Refusal } from '../../estate/reading/refusal.ts'
import { Slices } from '../../primitives/slices.ts'
import { digestOf, renderParts } from '../config/render-entry.ts'
import { pemFolder } from '../config/shards.ts'
import type { Listening } from '../config/sockets.ts'
import { Draft, type ShardText } from './draft.ts'
import { isAsFormerlyRendered } from './former.ts'
import type { Pairs } from './pairs.ts'
import type { PresentGeneration } from './present.ts'
import { discard, enter, formerOf, isUpToDate, pointTo, type Staged } from './stage.ts'
import type { Drafted, TrialParts, Trials } from './trials.ts'

export interface RefreshParts extends TrialParts {
  /** Whether the base file of the staged generation differs from the present one only in its number. */
  readonly isSameBase: (staged: Staged) => boolean
  /** The fault for a base file that nginx rejects. */
  readonly refused: (refusal: Refusal) => EdgeFault
  /** Loads the configuration on disk. Resolves when the load is proven. */
  readonly reload: (signal?: AbortSignal) => Promise<void>
}

interface Refreshed {
  readonly pairs: Pairs
  readonly listening: Listening
  readonly isRunning: boolean
  readonly signal: AbortSignal | undefined
}

/**
 * Enters a generation with the base file and the texts of all hosts in the form of this version, for the present sockets of nginx.
 * Undefined if nothing changes. `isRunning`: nginx loads it.
 */
export async function refresh(
  parts: RefreshParts,
  trials: Trials,
  { pairs, listening, isRunning, signal }: Refreshed,
): Promise<{ readonly number: number; readonly former: number | undefined } | undefined> {
  const { folder, present, reload, clock } = parts
  const before = formerOf(folder, present.number)
  await keepPairs(present, pairs)
  const texts = await rewritten(present, pairs, listening, new Slices(clock))
  const staged = await refreshed(parts, trials, { former: before, texts }, signal)
  if (!staged) return undefined
  const former = present.number
  const leave = baseFileOf(folder, former)
  signal?.throwIfAborted()
  if (!isUpToDate(staged)) {
    await discard(staged)
    throw EDITED
  }
  await enter(folder, staged)
  if (isRunning) {
    await reload(signal).catch(async (error: unknown) => {
      // The test has passed, but the generation is not entered yet.
      signal?.throwIfAborted()
      leave()
      await reload().catch(() => undefined)
      await discard(staged)
      throw error
    })
  }
  return { number: staged.number, former }
}

/** Generations of earlier versions hold the only copy of the certificates with their keys. */
async function keepPairs(present: PresentGeneration, pairs: Pairs): Promise<void> {
  for (const id of present.pemIds()) {
    if (pairs.has(id)) continue
    const pem = (kind: PemKind) =>
      Array.from({ length: MAX_PARTS[kind] }, (_, at) =>
        pemIn(present.copyOfPem(pemFolder(kind, at + 1), id).part(id)),
      ).join('')
    // An invalid pair serves nothing. It stays until a change drops it.
    await pairs.put({ certificatePem: pem('certificate'), keyPem: pem('key') }).catch(() => undefined)
  }
}

const pemIn = (part = ''): string => /^[0-9a-f]{32} "([^"]*)";\n/.exec(part)?.[1] ?? ''

/** The files with texts of unedited hosts that this version or these settings render differently. */
async function rewritten(
  present: PresentGeneration,
  pairs: Pairs,
  listening: Listening,
  slices: Slices,
): Promise<Map<string, ShardText>> {
  const draft = new Draft({ present, pairs, listening })
  for (const standing of present.all()) {
    if (slices.isOver) await slices.next()
    const { entry, challenge, parts, isEdited, isFormer } = standing
    if (!entry || isEdited) continue
    try {
      if (!isFormer || isAsFormerlyRendered(entry, parts, listening)) draft.put(entry, challenge)
      // The text of an earlier version was edited. It stays, and counts as drift from now on.
      else draft.restore({ ...standing, isEdited: true, rendered: digestOf(renderParts(entry, listening)) })
    } catch {
      // The edge no longer has a file for an id that the options name. The host stays unchanged.
    }
  }
  return draft.texts(slices)
}

/** Undefined if the new generation would be the same. Then a refusal by nginx does not count: its cause is outside our files. */
async function refreshed(
  { present, isSameBase, refused }: RefreshParts,
  trials: Trials,
  drafted: Drafted,
  signal: AbortSignal | undefined,
): Promise<Staged | undefined> {
  const staged = await trials.staged(drafted)
  const isSame = drafted.texts.size === 0 && present.isIncluded && isSameBase(staged)
  const refusal = await trials.refusalOf(staged, [], signal)
  if (refusal && !isSame) throw refused(refusal)
  if (!isSame) return staged
  await discard(staged)
  return undefined
}

/** Returns a function that restores the present base file. */
function baseFileOf(folder: string, number: number | undefined): () => void {
  const path = join(folder, BASE_FILE)
  const former = existsSync(path) ? readFileSync(path) : undefined
  return () => {
    // See `enteredNumber`: the way back is made in this order.
    if (number === undefined) rmSync(join(folder, CURRENT), { force: true })
    else pointTo(folder, number)
    if (former) {
      const draft = join(folder, STAGING, 'base-former')
      writeFileSync(draft, former, { mode: 0o644 })
      renameSync(draft, path)
    } else rmSync(path, { force: true })
  }
}
