import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { numbersIn, runsOf } from '../../edge/engine/unsettled.ts'
import { faultOf, withEdgeFaults } from '../../edge/faults.ts'
import { CURRENT, GENERATIONS, STAGING } from '../../edge/layout.ts'
import { BASE_FILE, MAX_PARTS } from '../../estate/layout.ts'
import type { UnsettledRun } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import { createFile, errorCode, syncFolder } from '../../primitives/durable-file.ts'
import { bytesOf } from '../../primitives/lossless-text.ts'
import { Slices } from '../../primitives/slices.ts'
import { isIncluded, isSecretFile, PEM_KINDS, pemFolder, SHARD_FOLDERS } from '../config/shards.ts'
import type { ShardText } from './draft.ts'
import { linkedNumber } from './included.ts'
import { signatureOf } from './seen-files.ts'

/** A generation that was written and is not included by nginx yet. */
export interface Staged {
  readonly number: number
  /** Absolute. */
  readonly folder: string
  /** Resolves when everything in it is on the disk. */
  readonly durable: Promise<void>
  readonly former: Former
}

/** The generation that the next one is made from, and what stood in it: what changes from then on is not in the next one. */
export interface Former {
  readonly number: number | undefined
  readonly folder: string | undefined
  /** What tells whether a file has changed, by its path in the generation. */
  readonly sources: ReadonlyMap<string, string>
}

export interface NewGeneration {
  readonly clock: Clock
  /** Its other files stay as they are. */
  readonly former: Former
  /** The texts that change, by their path in the generation. Null: the file goes. */
  readonly texts: ReadonlyMap<string, ShardText>
  readonly base: (generation: {
    readonly number: number
    readonly folder: string
    readonly files: ReadonlySet<string>
  }) => string | Promise<string>
}

/** Writes a generation beside the others. Unchanged files are links to the same content: a generation costs little. */
export async function stage(edgeFolder: string, { former, texts, base, clock }: NewGeneration): Promise<Staged> {
  const { number, folder } = newFolder(edgeFolder, former.number ?? 0)
  const drafts: Promise<void>[] = []
  try {
    makeFolders(folder)
    const kept = [...former.sources.keys()].filter((file) => !texts.has(file))
    const slices = new Slices(clock)
    for (const file of kept) {
      carryOn(join(former.folder ?? '', file), join(folder, file))
      if (slices.isOver) await slices.next()
    }
    const written = [...texts].flatMap(([file, text]) => (text === null ? [] : [{ file, text }]))
    const files = new Set([...kept, ...written.map(({ file }) => file)])
    const draft = (file: string, text: string, mode: number) => {
      const writing = createFile(join(folder, file), bytesOf(text), mode)
      // Told by `durable`, which may begin later.
      writing.catch(() => undefined)
      drafts.push(writing)
    }
    for (const { file, text } of written) {
      draft(file, text, isSecretFile(file) ? 0o600 : 0o644)
      if (slices.isOver) await slices.next()
    }
    draft(BASE_FILE, await base({ number, folder, files }), 0o644)
    const durable = Promise.all(drafts).then(async () => {
      const folders = new Set([...written.map(({ file }) => dirname(join(folder, file))), folder, dirname(folder)])
      await Promise.all([...folders].map(syncFolder))
    })
    durable.catch(() => undefined)
    return { number, folder, durable: withEdgeFaults(folder, () => durable), former }
  } catch (error) {
    // A file that is still being written would keep its folder.
    await Promise.allSettled(drafts)
    await discard({ folder })
    throw error
  }
}

function makeFolders(folder: string): void {
  for (const kind of SHARD_FOLDERS) {
    const secret = kind.startsWith('tls/')
    if (secret) mkdirSync(join(folder, 'tls'), { recursive: true, mode: 0o700 })
    mkdirSync(join(folder, kind))
    chmodSync(join(folder, kind), secret ? 0o700 : 0o755)
  }
}

/** Takes a number that no generation has, also not one that a crash left. */
function newFolder(edgeFolder: string, after: number): { number: number; folder: string } {
  const generations = join(edgeFolder, GENERATIONS)
  for (let number = Math.max(after, ...numbersIn(generations)) + 1; ; number += 1) {
    const folder = join(generations, String(number))
    try {
      mkdirSync(folder)
      // Whatever the umask: the workers of nginx may have to enter it.
      chmodSync(folder, 0o755)
      return { number, folder }
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}

/** Take it before anything is decided by what stands: an edit that comes later is found by `isUpToDate`. */
export function formerOf(edgeFolder: string, number: number | undefined): Former {
  const folder = number === undefined ? undefined : join(edgeFolder, GENERATIONS, String(number))
  try {
    return { number, folder, sources: sourcesIn(folder) }
  } catch (error) {
    throw faultOf(edgeFolder, error)
  }
}

/** All files and links of a generation that nginx includes, and what tells whether one has changed. */
function sourcesIn(folder: string | undefined): Map<string, string> {
  if (folder === undefined) return new Map()
  const files = SHARD_FOLDERS.flatMap((kind) =>
    entriesOf(join(folder, kind))
      .filter((entry) => isIncluded(kind, entry.name) && (entry.isFile() || entry.isSymbolicLink()))
      .map(({ name }) => `${kind}/${name}`),
  )
  return new Map(files.map((file) => [file, signatureOf(join(folder, file))]))
}

function carryOn(from: string, to: string): void {
  try {
    if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to)
    else linkSync(from, to)
  } catch (error) {
    // Linux may refuse a link to a file of another user.
    if (errorCode(error) !== 'EPERM') throw error
    copyFileSync(from, to)
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Whether the files that a generation was made from are still the same. */
export function isUpToDate({ former: { folder, sources } }: Pick<Staged, 'former'>): boolean {
  const now = sourcesIn(folder)
  return now.size === sources.size && [...sources].every(([file, signature]) => now.get(file) === signature)
}

/** Makes nginx include the generation from its next reload on: one rename, so that it includes the former or this one. */
export async function enter(edgeFolder: string, { number, folder }: Pick<Staged, 'number' | 'folder'>): Promise<void> {
  const draft = join(edgeFolder, STAGING, `base-${number}`)
  rmSync(draft, { force: true })
  linkSync(join(folder, BASE_FILE), draft)
  renameSync(draft, join(edgeFolder, BASE_FILE))
  pointTo(edgeFolder, number)
  await syncFolder(edgeFolder)
}

/** Makes the link for people lead to a generation. */
export function pointTo(edgeFolder: string, number: number): void {
  const current = join(edgeFolder, CURRENT)
  const target = join(GENERATIONS, String(number))
  if (lstatSync(current, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(current) === target) return
  const link = join(edgeFolder, STAGING, `current-${number}`)
  rmSync(link, { force: true })
  symlinkSync(target, link)
  renameSync(link, current)
}

export const discard = ({ folder }: Pick<Staged, 'folder'>): Promise<void> =>
  rm(folder, { recursive: true, force: true })

/** Generations that are kept, with the present one. */
const KEPT = 50
/** Beside them, those that unsettled runs may have to put back: so many, and so long. */
const MOST_FOR_RUNS = 200
const LONGEST_FOR_RUNS_MS = 30 * 86_400_000

interface Forgetting {
  readonly present: number
  readonly former: number | undefined
  /** The numbers of those whose keys were removed by earlier calls. */
  readonly keyless: Set<number>
  readonly now: number
  /** Called with the unsettled runs whose generations go although they are not settled: there are too many, or they are too old. */
  readonly onForgottenRuns: (runs: readonly UnsettledRun[]) => void
}

/**
 * Removes old generations. The private keys in those that are kept are removed, too, except from the one before: a generation that
 * turns out to be bad is left for that one.
 */
export async function forgetOld(edgeFolder: string, forgetting: Forgetting): Promise<void> {
  const { present, former, keyless, now, onForgottenRuns } = forgetting
  const generations = join(edgeFolder, GENERATIONS)
  const remove = (...below: readonly string[]) => rm(join(generations, ...below), { recursive: true, force: true })
  const older = numbersIn(generations)
    .filter((number) => number < present)
    .toSorted((a, b) => b - a)
  const forRuns: number[] = []
  for (const number of older.slice(KEPT - 1)) {
    const runs = runsOf(edgeFolder, number)
    const isNeeded = runs.some(({ since }) => now - since < LONGEST_FOR_RUNS_MS)
    if (isNeeded && forRuns.length < MOST_FOR_RUNS) {
      forRuns.push(number)
      continue
    }
    if (runs.length > 0) onForgottenRuns(runs)
    await remove(String(number))
    keyless.delete(number)
  }
  for (const number of [...older.slice(0, KEPT - 1), ...forRuns]) {
    if (number === former || keyless.has(number)) continue
    for (const kind of PEM_KINDS)
      for (let part = 1; part <= MAX_PARTS[kind]; part += 1) await remove(String(number), pemFolder(kind, part))
    keyless.add(number)
  }
}

/** Removes generations that a crash kept from being entered. Those up to the link were entered, whatever the base file names. */
export async function removeLeft(edgeFolder: string, present: number | undefined): Promise<void> {
  const generations = join(edgeFolder, GENERATIONS)
  const entered = Math.max(present ?? 0, linkedNumber(edgeFolder) ?? 0)
  const left = numbersIn(generations).filter((number) => number > entered)
  for (const number of left) await rm(join(generations, String(number)), { recursive: true, force: true })
}
