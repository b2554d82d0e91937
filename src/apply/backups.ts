import type { EdgeFile } from '../edge/contract.ts'

/** What a backup holds: an edge's files as they stood before a run. */
export interface BackupManifest {
  readonly runId: string
  readonly host: string
  readonly server: string
  readonly at: string
  readonly files: readonly { readonly path: string; readonly hash: string | null; readonly secret: boolean }[]
}

/**
 * Where backups are kept. `keep` is durable when it resolves, and lets go of the oldest beyond the configured number,
 * but never of one whose run is blocked or not finished.
 */
export interface BackupShelf {
  keep(about: Pick<BackupManifest, 'runId' | 'host' | 'server'>, files: readonly EdgeFile[]): Promise<BackupManifest>
  /** Takes away what a crash left of a backup that was not kept. */
  tidy(runId: string): Promise<void>
  /** Takes away a backup of a run that came to nothing. */
  discard(runId: string): Promise<void>
  /** Newest first. */
  list(): Promise<readonly BackupManifest[]>
  /** The files of one backup, their hashes checked. */
  load(runId: string): Promise<readonly EdgeFile[]>
}
