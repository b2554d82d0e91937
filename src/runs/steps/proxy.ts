import {
  type Edge,
  EdgeFault,
  type EdgeFile,
  type EdgePoint,
  type EdgeProposal,
  type FileHash,
} from '../../edge/contract.ts'
import type { Fault } from '../../model/errors.ts'
import type { Afters } from '../../model/receipt.ts'
import type { RunGuard } from '../../model/run.ts'
import { type Step, StepFault } from '../engine/step.ts'
import { hashIn, hashOf } from '../file-hash.ts'
import type { SecondaryReport, SecondaryWork } from './secondary.ts'

/** How the edges are worked on: the Primary decides, the Secondary gets the same as well as it can. */
export interface ProxyParts {
  readonly primary: Edge
  /** The work on the Secondary. Nobody waits for it before the Primary's verdict. */
  readonly secondary: SecondaryWork | undefined
  /** What every change of the run shows to an edge. */
  readonly guard: RunGuard
  /** Called at each moment of a change of the Primary. */
  readonly reached: (point: EdgePoint) => void
  /** How the Secondary is asked after a change. Undefined where it serves nothing after it. */
  readonly judgeSecondary: ((edge: Edge, afters: Afters) => Promise<SecondaryReport>) | undefined
}

/** One host's files on an edge: as they shall stand, and as they stood. */
export interface ProxyTarget {
  readonly name: 'proxy' | 'proxy-tls'
  /** What this service left at these paths before: what else stands there is somebody else's. Undefined: it is not known. */
  readonly ours: (edge: Edge, afters: Afters) => Promise<readonly FileHash[] | undefined>
  readonly wanted: (edge: Edge, afters: Afters) => Promise<readonly EdgeFile[]>
  readonly former: (edge: Edge, afters: Afters) => Promise<readonly EdgeFile[]>
  /** Whether what nginx runs is what was before. */
  readonly isRestored: (edge: Edge) => Promise<boolean>
  /** Replaces a symbolic link that somebody put in the place of a file, and puts it back when the run fails. */
  readonly replacesLinks?: boolean
  /** Gives the other hosts of a file that is missing their lines back. */
  readonly mends?: boolean
  /** The error code where somebody else's change would be overwritten. */
  readonly refusal?: Fault['code']
}

/** Hashes only: what stood before is in the backup. */
interface ProxyImage {
  readonly before: readonly FileHash[]
  readonly after: readonly FileHash[]
}

/**
 * Changes a host's files on both edges, each validated before it stands and proven to run after. What is to stand is only
 * known when the edge begins its next generation: others may share a certificate with this host and come or go until then.
 */
export function proxyStep(parts: ProxyParts, target: ProxyTarget): Step<ProxyTarget['name'], ProxyImage | null> {
  const { primary, secondary, guard, reached, judgeSecondary } = parts
  const { replacesLinks = false, mends = false } = target

  /** Puts the wanted files on an edge. `note` is called before anything is tested with what stands and what shall. */
  const place = async (
    edge: Edge,
    afters: Afters,
    note: (seen: ProxyImage) => Promise<void>,
    points: Pick<EdgeProposal, 'reached' | 'signal'>,
  ): Promise<readonly FileHash[]> => {
    let after: readonly FileHash[] = []
    await edge.change({
      ...guard,
      ...points,
      propose: async () => {
        const files = await target.wanted(edge, afters)
        const expected = await edge.hashFiles(files.map(({ path }) => path))
        after = files.map(hashOf)
        const ours = await target.ours(edge, afters)
        // A missing file is not an edit.
        if (ours)
          refuseForeign(
            expected.filter(({ hash }) => hash !== null),
            ours,
            after,
            { untouched: true, code: target.refusal },
          )
        await note({ before: expected, after })
        return { files, expected, replacesLinks, mends }
      },
    })
    return after
  }

  const putBack = async (edge: Edge, afters: Afters, image: () => Promise<ProxyImage>, signal = guard.signal) => {
    const moved = async () => {
      const { before, after } = await image()
      const now = await edge.hashFiles(before.map(({ path }) => path))
      refuseForeign(now, before, after)
      return { now, files: before.filter(({ path, hash }) => hash !== hashIn(now, path)) }
    }
    if ((await moved()).files.length === 0 && (await target.isRestored(edge))) return
    const propose = async () => {
      const { now, files: changed } = await moved()
      const files = await filesAt(target, changed, edge, afters)
      return { files, expected: files.map(({ path }) => ({ path, hash: hashIn(now, path) })), replacesLinks }
    }
    await edge.change({ ...guard, signal, propose }).catch(async (error: unknown) => {
      // nginx may never have loaded the files that were removed. Then a reload that a foreign file prevents is not needed.
      if ((await moved()).files.length > 0 || !(await target.isRestored(edge))) throw error
    })
  }

  /** What this process has changed on the Secondary. A released file cannot be told any more when its entry is gone. */
  let onSecondary: ProxyImage = { before: [], after: [] }

  return {
    name: target.name,
    before: async () => null,
    async do(earlier, afters, note) {
      // A change may be proposed again after it was made, if its answer was lost: what stood at first is what counts.
      let known = earlier
      const noting = async (seen: ProxyImage) => {
        if (known) refuseForeign(sharedWith(known.before, seen.before), known.before, known.after)
        known = known ? { ...seen, before: firstSeen(known.before, seen.before) } : seen
        await note(known)
      }
      const files = await place(primary, afters, noting, {
        reached: (point) => {
          reached(point)
          // Meanwhile the Primary reloads.
          if (point === 'swapped') secondary?.tryOut((edge) => target.wanted(edge, afters))
        },
      }).catch(tellUntouched)
      secondary?.begin(
        (edge, ended) => {
          const seen = async (image: ProxyImage) => {
            onSecondary = image
          }
          return place(edge, afters, seen, { signal: AbortSignal.any([ended, guard.signal]) })
        },
        judgeSecondary && ((edge) => judgeSecondary(edge, afters)),
      )
      return { files }
    },
    async undo(image, afters) {
      if (image === null) return
      await putBack(primary, afters, async () => image)
      await secondary?.end()
      await secondary?.make((edge, ended) =>
        putBack(
          edge,
          afters,
          async () => withUntold(await imageOn(target, edge, afters), onSecondary),
          AbortSignal.any([ended, guard.signal]),
        ),
      )
    },
  }
}

/** The files as they were. Only content with the same hash counts: an undo that restores something else has failed. */
async function filesAt(
  target: ProxyTarget,
  before: readonly FileHash[],
  edge: Edge,
  afters: Afters,
): Promise<EdgeFile[]> {
  const former = before.some(({ hash }) => hash !== null) ? await target.former(edge, afters) : []
  return before.map(({ path, hash }) => {
    if (hash === null) return absent(path)
    const file = former.find((candidate) => candidate.path === path && hashOf(candidate).hash === hash)
    if (file) return file
    throw new StepFault(`No backup holds ${path} as it was before the run. It cannot be restored.`)
  })
}

/** The Secondary's files are not journalled. They follow from the plan, as the Primary's do; only listen addresses differ. */
async function imageOn(target: ProxyTarget, edge: Edge, afters: Afters): Promise<ProxyImage> {
  const [wanted, former] = await Promise.all([target.wanted(edge, afters), target.former(edge, afters)])
  const paths = [...new Set([...wanted, ...former].map(({ path }) => path))]
  const hashesOf = (files: readonly EdgeFile[]) => {
    const hashes = files.map(hashOf)
    return paths.map((path) => ({ path, hash: hashIn(hashes, path) }))
  }
  return { before: hashesOf(former), after: hashesOf(wanted) }
}

/** The image with the paths of another one that it does not have. */
function withUntold({ before, after }: ProxyImage, seen: ProxyImage): ProxyImage {
  const isUntold = ({ path }: FileHash) => !before.some((file) => file.path === path)
  return { before: [...before, ...seen.before.filter(isUntold)], after: [...after, ...seen.after.filter(isUntold)] }
}

function refuseForeign(
  now: readonly FileHash[],
  before: readonly FileHash[],
  after: readonly FileHash[],
  options: { readonly untouched?: boolean; readonly code?: Fault['code'] } = {},
): void {
  const foreign = now.filter(({ path, hash }) => hash !== hashIn(before, path) && hash !== hashIn(after, path))
  if (foreign.length === 0) return
  const paths = foreign.map(({ path }) => path).join(', ')
  throw new StepFault(`${paths} was changed outside Drawbridge. It was not overwritten.`, options)
}

/** Faults before anything live was touched leave nothing to undo. */
function tellUntouched(error: unknown): never {
  const untouched = error instanceof EdgeFault && UNTOUCHED.includes(error.kind)
  throw untouched ? new StepFault(error.message, { untouched, cause: error }) : error
}

const UNTOUCHED: readonly EdgeFault['kind'][] = [
  'config_broken',
  'change_invalid',
  'changed_meanwhile',
  'unavailable',
  'logs_keys',
  'fenced',
  'away',
]

export const absent = (path: string): EdgeFile => ({ path, content: null, secret: false })

/** After a crash the world may be changed already: what counts is what stood at first. */
const firstSeen = (earlier: readonly FileHash[], now: readonly FileHash[]): FileHash[] => [
  ...earlier,
  ...now.filter(({ path }) => !earlier.some((first) => first.path === path)),
]

const sharedWith = (earlier: readonly FileHash[], now: readonly FileHash[]): FileHash[] =>
  now.filter(({ path }) => earlier.some((first) => first.path === path))
