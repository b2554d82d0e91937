import type { Pair } from '../edge/contract/change.ts'
import type { Edge } from '../edge/contract/edge.ts'
import { EdgeFault } from '../edge/contract/fault.ts'
import type { ListedHost } from '../edge/contract/list.ts'
import type { Entry } from '../edge/record/entry.ts'
import { areServedAlike, targetUrl } from '../edge/record/entry.ts'
import { Fault, Problem } from '../model/errors.ts'
import type { Backup, BackupShelf } from '../runs/backup-shelf.ts'
import type { StepParts } from '../runs/steps/context.ts'
import type { ExposureStore } from '../store/ports/exposures.ts'

/** A backup as people see it, without the secret by which its entry proves itself. */
export interface ShownBackup extends Omit<Backup, 'entry'> {
  /** Where the host was proxied to. Empty: the edge had no entry. */
  readonly targets: readonly string[]
}

export const shownBackup = ({ entry, ...backup }: Backup): ShownBackup => ({
  ...backup,
  targets: entry?.targets.map(targetUrl) ?? [],
})

/** One line for each backup, newest first. */
export const backupLines = (backups: readonly ShownBackup[]): string[] =>
  backups.length === 0
    ? ['There are no backups yet.']
    : backups.map(
        ({ runId, at, host, server, targets }) =>
          `${runId}  ${at}  ${host} on ${server}  ${targets.join(', ') || 'no entry'}`,
      )

export interface RestoreParts {
  readonly shelf: Pick<BackupShelf, 'load' | 'list'>
  readonly primary: Edge | undefined
  readonly store: Pick<ExposureStore, 'findExposure'>
  readonly loadPair: StepParts['loadPair']
}

/** The effect of a restore on the present state. */
interface Restore {
  readonly backup: Backup
  readonly server: string
  readonly change: 'appears' | 'changes' | 'vanishes' | 'none'
  /** The applied exposure whose entry the restore would remove while its DNS records stay. Null if there is none. */
  readonly offAir: string | null
  readonly now: ListedHost
  /** The certificate of the entry, if the edge does not have it. */
  readonly pair: Pair | undefined
}

/** Computes what a restore would do. Changes nothing. */
export async function previewRestore(runId: string, parts: RestoreParts): Promise<Restore> {
  const { shelf, primary, store, loadPair } = parts
  if (!primary) throw new Fault('No edge is configured for the Primary.')
  const backup = await shelf.load(runId)
  const { host, entry } = backup
  const [now] = (await primary.list([host])).hosts
  if (!now) throw new Fault(`Edge ${primary.server} tells nothing about ${host}.`)
  const exposure = await store.findExposure(host)
  if (exposure?.state === 'applying' || exposure?.state === 'removing') {
    throw new Problem(
      'plan_busy',
      `A run for ${host} is in progress. Nothing was changed. Restore when the run has ended.`,
    )
  }
  const change = changeOf(entry, now)
  const isTakenDown = change === 'vanishes' && exposure?.state === 'applied'
  const pair = await missingPair(primary, backup, loadPair)
  return { backup, server: primary.server, change, offAir: isTakenDown ? host : null, now, pair }
}

/** Rejects if the key no longer exists anywhere. */
async function missingPair(
  edge: Edge,
  { host, entry, certificate }: Backup,
  loadPair: RestoreParts['loadPair'],
): Promise<Pair | undefined> {
  if (!entry?.certificate || (await edge.hasCertificate(entry.certificate))) return undefined
  const pair = certificate && (await loadPair(certificate).catch(() => undefined))
  if (!pair) throw keyLost(host, edge.server)
  return pair
}

function changeOf(entry: Entry | null, now: ListedHost): Restore['change'] {
  if (!entry) return now.revision === null ? 'none' : 'vanishes'
  if (now.revision === null) return 'appears'
  return now.entry && now.drift.length === 0 && areServedAlike(entry, now.entry) ? 'none' : 'changes'
}

const WORDS = { appears: 'would be created', changes: 'would be changed', vanishes: 'would be removed' } as const

/** A preview as people see it. */
export interface ShownRestore {
  readonly runId: string
  readonly host: string
  readonly server: string
  /** The effect of a restore. `path`: where a person finds the entry. */
  readonly differences: readonly { readonly path: string; readonly change: 'appears' | 'changes' | 'vanishes' }[]
  readonly offAir: string | null
}

export const shownRestore = ({ backup, server, change, offAir, now }: Restore): ShownRestore => ({
  ...{ runId: backup.runId, host: backup.host, server, offAir },
  differences: change === 'none' ? [] : [{ path: now.file, change }],
})

/** What would happen, and a warning if the host would go offline. */
export function previewLines({ server, differences: [first], offAir, host }: ShownRestore): string[] {
  if (!first) return [`The entry of ${host} on ${server} is already the same as before that run.`]
  const line = `${WORDS[first.change]} on ${server}: the entry of ${host} (${first.path})`
  return offAir === null ? [line] : [line, offAirSentence(offAir)]
}

export const offAirSentence = (host: string): string =>
  `The restore would stop serving ${host}, but its DNS records would still point to the edge. To take the host offline ` +
  `properly, remove its plan. To restore anyway, pass --off-air ${host}.`

/**
 * Restores the entry of the host on the Primary from its generation, or from the backup if the edge no longer keeps that
 * generation. Tests it first and proves the reload. Does not change DNS. Refuses if the host has changed since the preview.
 */
export async function restoreBackup(
  { server, change, now, backup, pair }: Restore,
  { primary }: Pick<RestoreParts, 'primary'>,
): Promise<string> {
  if (!primary) throw new Fault('No edge is configured for the Primary.')
  const { host, generation, entry } = backup
  if (pair) await primary.certificate(pair)
  const expected = now.revision === null ? 'absent' : { revision: now.revision }
  // A person has no run. A conflict with a newer run is refused as for every other change.
  const item = { host, fence: now.fence ?? { host, epoch: 0, number: 0 }, expected, mend: true } as const
  const attempt = async (wanted: Entry | 'absent' | { readonly asIn: number }) => {
    const [verdict] = await primary.change({ items: [{ ...item, wanted }] })
    if (verdict?.state === 'refused') throw verdict.fault
  }
  await attempt(generation === null ? (entry ?? 'absent') : { asIn: generation }).catch((error: unknown) => {
    if (!(error instanceof EdgeFault) || error.kind !== 'change_invalid' || generation === null) throw error
    return attempt(entry ?? 'absent')
  })
  return `Restored on ${server}: ${change === 'vanishes' ? `no entry of ${host}` : `the entry of ${host}`}.`
}

const keyLost = (host: string, server: string): Fault =>
  new Fault(
    `The backup names a certificate of ${host} whose key neither edge ${server} nor this service has any more: an edge gives no key away. ` +
      'Nothing was changed. Expose the host again instead: it gets a certificate with a new key.',
  )
