import type { Edge } from '../../edge/contract.ts'
import type { BackupShelf } from '../backups.ts'
import type { Step } from '../step.ts'

/** The edge must be sound before it is touched; then what will be touched is kept, with its hashes. */
export function backupStep(runId: string, host: string, edge: Edge, shelf: BackupShelf): Step {
  const keep = async () => {
    const touched = await edge.filesWithout(host)
    const files = await edge.read(['drawbridge.conf', ...touched.map(({ path }) => path)])
    return shelf.keep({ runId, host, server: edge.server }, files)
  }
  return {
    name: 'backup',
    before: async () => null,
    do: async () => {
      const [manifest] = await Promise.all([keep(), edge.assertValid()])
      return manifest
    },
    undo: async () => undefined,
  }
}
