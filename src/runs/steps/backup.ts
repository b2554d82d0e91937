import type { Edge } from '../../edge/contract/edge.ts'
import type { ChosenCertificate } from '../../model/receipt.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import type { EarlyStart, Step } from '../engine/step.ts'
import { editedSince, hostOn } from './listed-host.ts'

interface BackupParts {
  readonly runId: string
  readonly host: string
  readonly edge: Edge
  readonly assertSound: () => Promise<void>
  readonly shelf: BackupShelf
  /** The certificate of the host before the run. */
  readonly certificate: ChosenCertificate | undefined
  /** The host must be as it was applied. */
  readonly isIntact: boolean
}

export interface BackupStep extends Step<'backup', null> {
  readonly early: Required<EarlyStart>
}

/**
 * Keeps the entry that the run will change, and the number of the generation in which it stands. The edge's configuration must be valid,
 * and the host must be unedited: what was changed outside Drawbridge is not touched.
 */
export function backupStep({ runId, host, edge, assertSound, shelf, certificate, isIntact }: BackupParts): BackupStep {
  const keep = async () => {
    const { number, hosts } = await edge.list([host])
    const about = { runId, host, server: edge.server, generation: number, entry: hosts[0]?.entry ?? null }
    return shelf.keep({ ...about, ...(certificate && { certificate }) })
  }
  const assertUnedited = async () => {
    if (!isIntact) return
    const listed = await hostOn(edge, host)
    if (listed.drift.some(({ found }) => found !== 'missing')) throw editedSince(listed, edge)
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
      // The journal never holds a secret.
      const { entry: _secret, ...told } = manifest
      return told
    },
    // Undone last: by now every host is as it was. A backup that cannot be removed does not block the host.
    undo: () => shelf.discard(runId).catch(() => undefined),
    early: {
      beside: 'check',
      begin: () => {
        ahead = keep()
        // `do` handles the rejection.
        ahead.catch(() => undefined)
      },
      abandon: async () => {
        if (!ahead) return shelf.tidy(runId)
        await discardWritten(ahead)
      },
    },
  }
}
