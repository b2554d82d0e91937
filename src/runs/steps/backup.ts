import type { Edge, FileHash } from '../../edge/contract.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import { type Step, StepFault } from '../engine/step.ts'

interface BackupParts {
  readonly runId: string
  readonly host: string
  readonly edge: Edge
  readonly assertSound: () => Promise<void>
  readonly shelf: BackupShelf
  /** What an apply wrote, where one did. */
  readonly applied: readonly FileHash[]
}

export interface BackupStep extends Step {
  /** Begins to keep the files ahead of the step, beside what comes before it. */
  begin(): void
  /** What was begun is taken away again, unless the step came to its turn. */
  abandon(): Promise<void>
}

/**
 * The edge must be sound before it is touched, and what was applied must stand as it was applied: a file that somebody
 * edited since is theirs. Then what will be touched is kept, with its hashes.
 */
export function backupStep({ runId, host, edge, assertSound, shelf, applied }: BackupParts): BackupStep {
  const keep = async () => {
    const touched = await edge.filesWithout(host)
    const files = await edge.read(['drawbridge.conf', ...touched.map(({ path }) => path)])
    return shelf.keep({ runId, host, server: edge.server }, files)
  }
  const assertUnedited = async () => {
    const now = await edge.look(applied.map(({ path }) => path))
    const edited = applied.filter(({ path, hash }) => now.some((file) => file.path === path && file.hash !== hash))
    if (edited.length === 0) return
    const paths = edited.map(({ path }) => path).join(', ')
    throw new StepFault(`Somebody changed ${paths} since it was applied; put it back, then try again.`, {
      untouched: true,
    })
  }
  /** What is still being written could not be taken away. A run that changed nothing takes no other one's place on the shelf. */
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
    // Undone last: everything stands as it stood, and nobody needs the copy. One that cannot be taken away freezes no host.
    undo: () => shelf.discard(runId).catch(() => undefined),
    begin() {
      ahead = keep()
      // Whoever takes it over is told.
      ahead.catch(() => undefined)
    },
    async abandon() {
      if (!ahead) return shelf.tidy(runId)
      await discardWritten(ahead)
    },
  }
}
