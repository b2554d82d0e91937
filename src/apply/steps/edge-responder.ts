import type { ChallengeResponder } from '../../certificates/contract.ts'
import type { Edge, EdgeFile, FileHash, Site } from '../../edge/contract.ts'
import { hashIn, hashOf } from '../file-hash.ts'

interface ResponderParts {
  readonly edge: Edge
  readonly alone: <T>(edge: Edge, work: () => Promise<T>) => Promise<T>
  /** The files that change for a challenge, with it and (undefined) without. */
  readonly rendered: (challenges: Site['challenges']) => Promise<readonly EdgeFile[]>
  /** What an earlier version of this service may have written in place of those without a challenge. */
  readonly written?: readonly FileHash[]
}

/**
 * http-01: an edge itself answers the authority, beside what it serves for the host. Files are replaced only where they are
 * ours: without a challenge, or with the one that is withdrawn. A file that is gone holds no challenge.
 */
export function edgeResponder({ edge, alone, rendered, written = [] }: ResponderParts): ChallengeResponder {
  const publish = async (wanted: Site['challenges'], shown: Site['challenges']): Promise<void> => {
    const files = await rendered(wanted)
    const ours = await Promise.all([rendered(undefined), rendered(shown)])
    await edge.validate({ files, expected: [] })
    await edge.swap({ files, expected: [...written, ...ours.flat().map(hashOf)] })
    await edge.reload()
  }
  return {
    type: 'http-01',
    present: (_host, token, keyAuthorization) => alone(edge, () => publish({ [token]: keyAuthorization }, undefined)),
    withdraw: (_host, token, keyAuthorization) =>
      alone(edge, async () => {
        const files = (await rendered(undefined)).filter(({ content }) => content !== null)
        const now = await edge.look(files.map(({ path }) => path))
        if (files.some(({ path }) => hashIn(now, path) !== null))
          await publish(undefined, { [token]: keyAuthorization })
      }),
  }
}
