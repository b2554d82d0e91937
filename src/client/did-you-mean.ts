import type { DrawbridgeClient } from './client.ts'
import { nearestName } from './nearest-name.ts'
import { Refusal } from './refusal.ts'

/** The same answer. The refusal of an unknown host names the host that is most like it. */
export const suggesting = async <T>(
  api: Pick<DrawbridgeClient, 'allHosts'>,
  host: string,
  asked: Promise<T>,
): Promise<T> =>
  asked.catch(async (error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== 'host_not_found') throw error
    const { hosts } = await api.allHosts()
    const didYouMean = nearestName(
      host.toLowerCase(),
      hosts.map((row) => row.host),
    )
    if (didYouMean === undefined) throw error
    const detail = `${error.problem.detail} Did you mean ${didYouMean}?`
    throw new Refusal({ ...error.problem, detail, didYouMean })
  })
