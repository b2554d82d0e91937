import { createHash } from 'node:crypto'
import { type Edge, EdgeFault, type EdgeFile, type FileHash } from '../../edge/contract.ts'
import { sentenceOf } from '../../model/fault.ts'
import { type Afters, type Step, StepFault } from '../step.ts'

/** How the edges are worked on: the Primary decides, the Secondary gets the same as well as it can. */
export interface ProxyParts {
  readonly primary: Edge
  readonly secondary: Edge | undefined
  /** Runs `work` while nobody else changes that edge. */
  readonly alone: <T>(edge: Edge, work: () => Promise<T>) => Promise<T>
  /** Told when the new files stand and are not loaded yet. */
  readonly swapped: () => void
}

/** One host's files on an edge: as they shall stand, as they stood, and whether the host is served. */
export interface ProxyTarget {
  readonly wanted: (edge: Edge, afters: Afters) => Promise<readonly EdgeFile[]>
  /** The files that take an edge back to `before`. */
  readonly restored: (edge: Edge, before: readonly FileHash[]) => Promise<readonly EdgeFile[]>
  readonly isServed: (edge: Edge) => Promise<boolean>
}

/** Hashes only: what stood before is in the backup. */
interface ProxyImage {
  readonly before: readonly FileHash[]
  readonly after: readonly FileHash[]
}

export interface ProxyAfter {
  readonly files: readonly FileHash[]
  readonly secondary: { readonly ok: boolean; readonly detail: string } | null
}

/** Changes a host's files on both edges, each validated before it stands and proven to run after. */
export function proxyStep({ primary, secondary, alone, swapped }: ProxyParts, target: ProxyTarget): Step {
  const place = (
    edge: Edge,
    files: readonly EdgeFile[],
    expected: readonly FileHash[],
    meanwhile: () => Promise<void>,
  ) =>
    alone(edge, async () => {
      await edge.validate({ files, expected })
      await edge.swap({ files, expected })
      await Promise.all([edge.reload(), meanwhile()])
    })

  const placeOnSecondary = async (afters: Afters): Promise<ProxyAfter['secondary']> => {
    if (!secondary) return null
    const files = await target.wanted(secondary, afters)
    const expected = await secondary.look(files.map(({ path }) => path))
    return reported(place(secondary, files, expected, async () => undefined))
  }

  const putBack = (edge: Edge, { before, after }: ProxyImage) =>
    alone(edge, async () => {
      const now = await edge.look(before.map(({ path }) => path))
      refuseForeign(now, before, after)
      const files = (await target.restored(edge, before)).filter((file) => hashOf(file).hash !== hashIn(now, file.path))
      if (files.length > 0)
        await edge.swap({ files, expected: files.map(({ path }) => ({ path, hash: hashIn(now, path) })) })
      // nginx may never have loaded what was put back; then nothing is left to load, even where somebody else's file forbids it.
      const shouldServe = before.some(({ hash }) => hash !== null)
      if ((await target.isServed(edge)) !== shouldServe) await edge.reload()
    })

  return {
    name: 'proxy',
    async before(afters): Promise<ProxyImage> {
      const files = await target.wanted(primary, afters)
      return { before: await primary.look(files.map(({ path }) => path)), after: files.map(hashOf) }
    },
    async do(image, afters): Promise<ProxyAfter> {
      const { before, after } = image as ProxyImage
      let second: ProxyAfter['secondary'] = null
      const files = await target.wanted(primary, afters)
      await place(primary, files, before, async () => {
        swapped()
        second = await placeOnSecondary(afters)
      }).catch(tellUntouched)
      return { files: after, secondary: second }
    },
    async undo(image) {
      const hashes = image as ProxyImage
      await putBack(primary, hashes)
      if (secondary) await reported(putBack(secondary, hashes))
    },
  }
}

/** The Secondary is reported and never decides. */
async function reported(work: Promise<void>): Promise<{ ok: boolean; detail: string }> {
  return work.then(
    () => ({ ok: true, detail: 'The Secondary has the same files and runs them.' }),
    (error: unknown) => ({ ok: false, detail: `The Secondary could not be changed: ${sentenceOf(error)}` }),
  )
}

function refuseForeign(now: readonly FileHash[], before: readonly FileHash[], after: readonly FileHash[]): void {
  const foreign = now.filter(({ path, hash }) => hash !== hashIn(before, path) && hash !== hashIn(after, path))
  if (foreign.length === 0) return
  throw new StepFault(`Somebody changed ${foreign.map(({ path }) => path).join(', ')} meanwhile; it was left alone.`)
}

/** Faults before anything live was touched leave nothing to undo. */
function tellUntouched(error: unknown): never {
  const untouched = error instanceof EdgeFault && UNTOUCHED.includes(error.kind)
  throw untouched ? new StepFault(error.message, { untouched, cause: error }) : error
}

const UNTOUCHED: readonly EdgeFault['kind'][] = ['config_broken', 'change_invalid', 'changed_meanwhile', 'unavailable']

const hashOf = ({ path, content }: EdgeFile): FileHash => ({
  path,
  hash: content === null ? null : createHash('sha256').update(content).digest('hex'),
})

const hashIn = (hashes: readonly FileHash[], path: string): string | null =>
  hashes.find((candidate) => candidate.path === path)?.hash ?? null
