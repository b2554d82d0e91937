import type { Edge, EdgeChange } from '../edge/contract.ts'
import { Fault, Problem } from '../model/errors.ts'
import type { BackupManifest } from '../model/receipt.ts'
import type { BackupShelf } from '../runs/backup-shelf.ts'
import type { EdgeLock } from '../runs/engine/edge-lock.ts'
import { hashIn, hashOf } from '../runs/file-hash.ts'
import type { ExposureStore } from '../store/ports/exposures.ts'

/** One line for each backup, newest first. */
export const backupLines = (manifests: readonly BackupManifest[]): string[] =>
  manifests.length === 0
    ? ['There are no backups yet.']
    : manifests.map(({ runId, at, host, server, files }) => {
        const stood = files.filter(({ hash }) => hash !== null).map(({ path }) => path)
        return `${runId}  ${at}  ${host} on ${server}  ${stood.join(', ')}`
      })

export interface RestoreParts {
  readonly shelf: BackupShelf
  readonly primary: Edge | undefined
  readonly store: Pick<ExposureStore, 'findExposure'>
  readonly edgeLock: EdgeLock
}

/** What a restore would do to one file of the edge. */
interface Difference {
  readonly path: string
  readonly change: 'appears' | 'changes' | 'vanishes'
}

/** What a restore would do, as of the look that was taken for it. */
interface Restore {
  readonly runId: string
  readonly server: string
  readonly differences: readonly Difference[]
  /** The live exposure whose files would vanish while its DNS records stay; null when there is none. */
  readonly offAir: string | null
  readonly change: EdgeChange
}

/** Only looks. */
export async function previewRestore(runId: string, { shelf, primary, store }: RestoreParts): Promise<Restore> {
  if (!primary) throw new Fault('No edge is configured for the Primary.')
  const files = await shelf.load(runId)
  const host = (await shelf.list()).find((manifest) => manifest.runId === runId)?.host ?? ''
  const now = await primary.hashFiles(files.map(({ path }) => path))
  const moved = files.filter((file) => hashOf(file).hash !== hashIn(now, file.path))
  const differences = moved.map(({ path, content }): Difference => {
    if (content === null) return { path, change: 'vanishes' }
    return { path, change: hashIn(now, path) === null ? 'appears' : 'changes' }
  })
  const exposure = await store.findExposure(host)
  if (exposure?.state === 'applying' || exposure?.state === 'removing') {
    throw new Problem('plan_busy', `A run for ${host} is under way. Nothing was changed; restore when it has ended.`)
  }
  const live = exposure?.state === 'applied' ? (exposure.receipt?.files ?? []).map(({ path }) => path) : []
  const isTakenDown = differences.some(({ path, change }) => change === 'vanishes' && live.includes(path))
  return {
    runId,
    server: primary.server,
    differences,
    offAir: isTakenDown ? host : null,
    change: { files: moved, expected: now },
  }
}

const WORDS = { appears: 'would appear', changes: 'would change', vanishes: 'would vanish' } as const

/** One line for each file, and what that means for visitors. */
export function previewLines({ server, differences, offAir }: Restore): string[] {
  if (differences.length === 0) return [`The files on ${server} are as they stood before that run already.`]
  const lines = differences.map(({ path, change }) => `${WORDS[change]} on ${server}: ${path}`)
  return offAir === null ? lines : [...lines, offAirSentence(offAir)]
}

export const offAirSentence = (host: string): string =>
  `This takes ${host}, which is live, off the air, and its DNS records would still point here. To take it down in order, ` +
  `remove its plan. To restore all the same, pass --off-air ${host}.`

/** Puts the Primary's files back: validated first, proven to run after. DNS is not touched. What changed since the preview is refused. */
export async function restoreBackup(
  { server, differences, change }: Restore,
  { primary, edgeLock }: RestoreParts,
): Promise<string> {
  if (!primary) throw new Fault('No edge is configured for the Primary.')
  return edgeLock.hold(primary, async () => {
    await primary.validate(change)
    await primary.swap(change)
    await primary.reload()
    const done = differences.map((each) => (each.change === 'vanishes' ? `no ${each.path}` : each.path))
    return `Put back on ${server}: ${done.join(', ')}.`
  })
}
