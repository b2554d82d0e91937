import { closeSync, constants, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RUN_ID_GRAMMAR, type RunName, STORE_ID_GRAMMAR, type StoreFloor, type UnsettledRun } from '../../model/run.ts'
import { createFile, errorCode, replaceFile, syncFile, syncFolder } from '../../primitives/durable-file.ts'
import { EdgeFault } from '../contract/fault.ts'
import { faultOf } from '../faults.ts'
import { GENERATIONS } from '../layout.ts'

const { O_APPEND, O_NOFOLLOW, O_WRONLY } = constants

/** In the folder of the generation that stood before a run changed it: the runs that may have to put it back. */
const RUNS = '.runs'
const LINE = new RegExp(`^(${RUN_ID_GRAMMAR.slice(1, -1)}) (${STORE_ID_GRAMMAR.slice(1, -1)}) (\\d+);$`)

const pathIn = (edgeFolder: string, number: number): string => join(edgeFolder, GENERATIONS, String(number), RUNS)

/** The runs that have changed a generation and are not settled. */
export function runsOf(edgeFolder: string, number: number): UnsettledRun[] {
  return textAt(pathIn(edgeFolder, number))
    .split('\n')
    .flatMap((line) => {
      const [, run, store, since] = LINE.exec(line) ?? []
      return run === undefined || store === undefined ? [] : [{ run, store, since: Number(since) }]
    })
}

/** All of them, the oldest first, each once. */
export function unsettledRuns(edgeFolder: string): UnsettledRun[] {
  const oldest = new Map<string, UnsettledRun>()
  for (const number of numbersIn(join(edgeFolder, GENERATIONS)).toSorted((a, b) => a - b))
    for (const run of runsOf(edgeFolder, number)) if (!oldest.has(run.run)) oldest.set(run.run, run)
  return [...oldest.values()]
}

/** The generation that stood before a run changed the edge. Undefined if it has not, or if nobody knows any more. */
export const generationBefore = (edgeFolder: string, run: string): number | undefined =>
  numbersIn(join(edgeFolder, GENERATIONS))
    .toSorted((a, b) => a - b)
    .find((number) => runsOf(edgeFolder, number).some((noted) => noted.run === run))

/** Remembers that these runs change the generation. Durable when it resolves. */
export async function noteRuns(
  edgeFolder: string,
  number: number,
  runs: readonly RunName[],
  now: number,
): Promise<void> {
  const known = new Set(runsOf(edgeFolder, number).map(({ run }) => run))
  const added = runs.filter(({ run }) => !known.has(run))
  if (added.length === 0) return
  const path = pathIn(edgeFolder, number)
  // A line that a crash cut off does not run into these.
  const text = `\n${added.map(({ run, store }) => `${run} ${store} ${now};\n`).join('')}`
  try {
    const descriptor = openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW)
    try {
      writeFileSync(descriptor, text)
      await syncFile(descriptor, path)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    await createFile(path, text, 0o600)
    await syncFolder(join(edgeFolder, GENERATIONS, String(number)))
  }
}

/** A former store would settle runs that it does not know. */
export function settlerOf(floor: StoreFloor | undefined): string {
  if (floor) return floor.store
  throw new EdgeFault('change_invalid', 'Runs are settled only by a store that shows its epoch. Nothing was changed.')
}

/** Forgets runs of this store that have ended for good: what stood before them is kept like everything else. */
export async function settleRuns(edgeFolder: string, settled: readonly string[], of: string): Promise<void> {
  const gone = new Set(settled)
  for (const number of numbersIn(join(edgeFolder, GENERATIONS))) {
    const runs = runsOf(edgeFolder, number)
    const left = runs.filter(({ run, store }) => store !== of || !gone.has(run))
    if (left.length === runs.length) continue
    const text = left.map(({ run, store, since }) => `${run} ${store} ${since};\n`).join('')
    // The generation may have gone meanwhile.
    await replaceFile(pathIn(edgeFolder, number), text, 0o600).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
    })
  }
}

/** The numbers of the generations in a folder. Throws an EdgeFault if it cannot be read: an undo would find nothing to put back. */
export function numbersIn(generations: string): number[] {
  try {
    return readdirSync(generations).flatMap((name) => (/^[1-9]\d{0,14}$/.test(name) ? [Number(name)] : []))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw faultOf(generations, error)
  }
}

/** Empty where there is none. */
function textAt(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return ''
    throw faultOf(path, error)
  }
}
