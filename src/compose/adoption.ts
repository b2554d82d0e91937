import type { Config } from '../config/config.ts'
import type { SiteAnswer } from '../edge/contract/edge.ts'
import { EdgeFault } from '../edge/contract/fault.ts'
import { Problem } from '../model/errors.ts'
import type { FoundSite } from '../model/options/adoption.ts'
import type { EdgeAccesses } from './edges.ts'

type FindSite = (host: string) => Promise<FoundSite | undefined>

/** Finds the sites of the Primary that can be adopted. Undefined where adopting is off. */
export function adoptableSites({ adopt, servers }: Config, edges: EdgeAccesses): FindSite | undefined {
  if (!adopt.enabled) return undefined
  return async (host) => {
    const found = await siteOn(edges, servers.primary, host)
    // The same run takes the Secondary's own site out. A Secondary that is away keeps it.
    if (servers.secondary !== undefined && edges.has(servers.secondary))
      await siteOn(edges, servers.secondary, host, isAway)
    return found
  }
}

/**
 * The site of a host on an edge. Undefined if it has none, or if it cannot be read for a reason that is `tolerated`. Rejects with a
 * problem where no site can be adopted.
 */
export async function siteOn(
  edges: EdgeAccesses,
  server: string,
  host: string,
  tolerated: (fault: EdgeFault) => boolean = () => false,
): Promise<FoundSite | undefined> {
  const access = edges.get(server)
  if (!access) throw new Problem('unavailable', `This installation has no nginx on server ${server}.`)
  const answer = await access.site(host).catch((error: unknown): SiteAnswer => {
    if (!(error instanceof EdgeFault)) throw error
    if (tolerated(error)) return { kind: 'none' }
    throw new Problem('unavailable', error.message)
  })
  if (answer.kind === 'off')
    throw new Problem('adopt_not_allowed', `The agent of edge ${server} does not let sites be adopted.`, {
      nextAction: `On the machine of edge ${server}, set adopt.enabled to true in edge.yaml and start the agent again.`,
    })
  return answer.kind === 'site' ? answer : undefined
}

const isAway = ({ kind }: EdgeFault): boolean => kind === 'away'
