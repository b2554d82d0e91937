import type { Edge, EdgeChange, EdgeFile } from '../edge/contract.ts'
import { Fault, Problem } from '../model/errors.ts'
import type { BackupManifest } from '../model/receipt.ts'
import type { BackupShelf } from '../runs/backup-shelf.ts'
import { hashIn, hashOf } from '../runs/file-hash.ts'
import type { StepParts } from '../runs/steps/context.ts'
import type { ExposureStore } from '../store/ports/exposures.ts'

/** One line for each backup, newest first. */
export const backupLines = (manifests: readonly BackupManifest[]): string[] =>
  manifests.length === 0
    ? ['There are no backups yet.']
    : manifests.map(({ runId, at, host, server, files }) => {
        const existing = files.filter(({ hash }) => hash !== null).map(({ path }) => path)
        return `${runId}  ${at}  ${host} on ${server}  ${existing.join(', ')}`
      })

export interface RestoreParts {
  readonly shelf: BackupShelf
  readonly primary: Edge | undefined
  readonly store: Pick<ExposureStore, 'findExposure'>
  readonly loadPair: StepParts['loadPair']
}

/** The effect of a restore on one file of the edge. */
export interface Difference {
  readonly path: string
  readonly change: 'appears' | 'changes' | 'vanishes'
}

/** The effect of a restore on the files as they were read for the preview. */
interface Restore {
  readonly runId: string
  readonly server: string
  readonly differences: readonly Difference[]
  /** The applied exposure whose files the restore would remove while its DNS records stay. Null if there is none. */
  readonly offAir: string | null
  readonly change: EdgeChange
}

/** Computes what a restore would do. Changes nothing. */
export async function previewRestore(runId: string, parts: RestoreParts): Promise<Restore> {
  const { shelf, primary, store } = parts
  if (!primary) throw new Fault('No edge is configured for the Primary.')
  // Backups of earlier versions also hold the base file, which every generation writes anew.
  const kept = (await shelf.load(runId)).filter(({ path }) => path !== 'drawbridge.conf')
  const host = (await shelf.list()).find((manifest) => manifest.runId === runId)?.host ?? ''
  const files = [...kept, ...(await missingKeys(kept, { host, primary, loadPair: parts.loadPair }))]
  const now = await primary.hashFiles(files.map(({ path }) => path))
  const moved = files.filter((file) => hashOf(file).hash !== hashIn(now, file.path))
  const differences = moved.map(({ path, content }): Difference => {
    if (content === null) return { path, change: 'vanishes' }
    return { path, change: hashIn(now, path) === null ? 'appears' : 'changes' }
  })
  const exposure = await store.findExposure(host)
  if (exposure?.state === 'applying' || exposure?.state === 'removing') {
    throw new Problem(
      'plan_busy',
      `A run for ${host} is in progress. Nothing was changed. Restore when the run has ended.`,
    )
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

interface KeySource extends Pick<RestoreParts, 'loadPair'> {
  readonly host: string
  readonly primary: Edge
}

/** An edge behind an agent gives no key away, so backups of its files have none. The service's own pairs have them. */
async function missingKeys(kept: readonly EdgeFile[], { host, primary, loadPair }: KeySource): Promise<EdgeFile[]> {
  const keyless = primary.keylessCertificates(kept)
  const now = await primary.hashFiles(keyless.map(({ keyPath }) => keyPath))
  const missing = keyless.filter((_, at) => now[at]?.hash === null)
  const keys = missing.map(async ({ fingerprint }) => {
    const pair = await loadPair({ fingerprint, certificateFile: '', keyFile: '', pairOnEdge: true })
    if (pair.keyPem === undefined) throw keyLost(host, primary.server)
    return primary.certificateFiles(host, pair).filter(({ secret }) => secret)
  })
  return (await Promise.all(keys)).flat()
}

const keyLost = (host: string, server: string): Fault =>
  new Fault(
    `The backup has a certificate of ${host} whose key neither edge ${server} nor this service has any more: an edge gives no key away, ` +
      'so a backup has none. Nothing was changed. Expose the host again instead: it gets a certificate with a new key.',
  )

const WORDS = { appears: 'would be created', changes: 'would be changed', vanishes: 'would be removed' } as const

/** One line for each file, and a warning if the host would go offline. */
export function previewLines({ server, differences, offAir }: Omit<Restore, 'change'>): string[] {
  if (differences.length === 0) return [`The files on ${server} are already the same as before that run.`]
  const lines = differences.map(({ path, change }) => `${WORDS[change]} on ${server}: ${path}`)
  return offAir === null ? lines : [...lines, offAirSentence(offAir)]
}

export const offAirSentence = (host: string): string =>
  `The restore would stop serving ${host}, but its DNS records would still point to the edge. To take the host offline ` +
  `properly, remove its plan. To restore anyway, pass --off-air ${host}.`

/**
 * Restores the Primary's files: validates them first and proves the reload. Does not change DNS. Refuses if a file has
 * changed since the preview.
 */
export async function restoreBackup(
  { server, differences, change }: Restore,
  { primary }: RestoreParts,
): Promise<string> {
  if (!primary) throw new Fault('No edge is configured for the Primary.')
  await primary.change({ propose: async () => change, assertHeld: () => undefined })
  const done = differences.map((each) => (each.change === 'vanishes' ? `no ${each.path}` : each.path))
  return `Restored on ${server}: ${done.join(', ')}.`
}
