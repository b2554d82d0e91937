import type { ChallengeResponder } from '../../certificates/contract.ts'
import type { Edge, Site } from '../../edge/contract.ts'
import type { ProxyParts } from './proxy.ts'

/** http-01: the Primary itself answers the authority, beside the host's plain site. */
export function edgeResponder(
  site: Site,
  { primary, alone }: Pick<ProxyParts, 'primary' | 'alone'>,
): ChallengeResponder {
  const publish = (challenges: Site['challenges']) =>
    alone(primary, async () => {
      const files = await primary.filesFor({ ...site, challenges })
      await place(primary, files)
    })
  return {
    type: 'http-01',
    present: (_host, token, keyAuthorization) => publish({ [token]: keyAuthorization }),
    withdraw: () => publish(undefined),
  }
}

async function place(edge: Edge, files: Awaited<ReturnType<Edge['filesFor']>>): Promise<void> {
  const change = { files, expected: await edge.look(files.map(({ path }) => path)) }
  await edge.validate(change)
  await edge.swap(change)
  await edge.reload()
}
