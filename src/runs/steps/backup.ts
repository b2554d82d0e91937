import type { Edge, FileHash } from '../../edge/contract.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import { type Step, StepFault } from '../engine/step.ts'

interface BackupParts {
  readonly runId: string
  readonly host: string
  readonly edge: Edge
  readonly assertSound: () => Promise<void>
  readonly shelf: BackupShelf
  /** The paths that the run may change. */
  readonly touched: () => Promise<readonly string[]>
  /** Files that must be as they were applied. */
  readonly applied: readonly FileHash[]
}

export interface BackupStep extends Step<'backup', null> {
  /** Starts to copy the files before the step runs, in parallel with earlier steps. */
  begin(): void
  /** Removes a copy that was started, unless the step took it over. */
  abandon(): Promise<void>
}

/**
 * Copies the files that the run will change, with their hashes. The edge's configuration must be valid, and the applied files
 * must be unchanged: a file that was edited outside Drawbridge is not touched.
 */
export function backupStep({ runId, host, edge, assertSound, shelf, touched, applied }: BackupParts): BackupStep {
  const keep = async () => {
    const files = await edge.read(await touched())
    return shelf.keep({ runId, host, server: edge.server }, files)
  }
  const assertUnedited = async () => {
    const now = await edge.hashFiles(applied.map(({ path }) => path))
    const edited = applied.filter(({ path, hash }) => now.some((file) => file.path === path && file.hash !== hash))
    if (edited.length === 0) return
    const paths = edited.map(({ path }) => path).join(', ')
    throw new StepFault(`${paths} was changed outside Drawbridge since it was applied. Restore it, then try again.`, {
      untouched: true,
    })
  }
  /** A file that is still being written cannot be removed, so this waits. A run that changed nothing keeps no backup. */
  const discardWritten = async (written: Promise<unknown>) => {
    await written.catch(() => undefined)
    await shelf.discard(runId).catch(() => undefined)
  }
  let ahead: ReturnType<typeof keep> | undefined
  return {
    name: 'backup',
    before: async () => null,
    do: async () => {
      const kept = ahead ?? keep()
      ahead = undefined
      const [manifest] = await Promise.all([kept, assertSound(), assertUnedited()]).catch(async (fault: unknown) => {
        await discardWritten(kept)
        throw fault
      })
      return manifest
    },
    // Undone last: by now every file is as it was. A backup that cannot be removed does not block the host.
    undo: () => shelf.discard(runId).catch(() => undefined),
    begin() {
      ahead = keep()
      // The step that takes it over handles the rejection.
      ahead.catch(() => undefined)
    },
    async abandon() {
      if (!ahead) return shelf.tidy(runId)
      await discardWritten(ahead)
    },
  }
}
