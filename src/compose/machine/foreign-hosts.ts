import type { Config } from '../../config/config.ts'
import { judgeProxyManager } from '../../edge/adopt/proxy-manager.ts'
import { judgeSites, sitesOfEdge, sitesOfFolder } from '../../edge/adopt/sites.ts'
import { sentenceOf } from '../../model/errors.ts'
import type { ForeignHosts } from '../../operate/import.ts'
import { UsageError } from '../../terminal/declare.ts'

/** What a site is judged by, from the configuration. */
const worldOf = ({ servers, edge }: Pick<Config, 'servers' | 'edge'>) => ({
  ports: edge,
  serverAt: (address: string) => {
    const isLoopback = address.startsWith('127.') || address === '::1'
    const exact = servers.targets.find((id) => servers.addresses[id] === address)
    return exact ?? (isLoopback ? servers.targets.find((id) => id === servers.primary) : undefined)
  },
})

export function nginxSites(config: Config, folder: string | undefined): ForeignHosts {
  const edge = config.edges[config.servers.primary]
  if (folder === undefined && !edge)
    throw new UsageError("The Primary's nginx is not on this machine. Name a folder with its files.")
  const sites = folder === undefined && edge ? sitesOfEdge(edge) : sitesOfFolder(folder ?? '')
  return { adoptions: judgeSites(sites, worldOf(config)), unreadable: sites.unreadable }
}

export async function proxyManagerHosts(config: Config, file: string): Promise<ForeignHosts> {
  const { readProxyManager } = await import('../../store/dialects/proxy-manager.ts')
  try {
    return { adoptions: judgeProxyManager(readProxyManager(file), file, worldOf(config).serverAt), unreadable: [] }
  } catch (error) {
    throw new UsageError(`${file} is not a database of Nginx Proxy Manager that can be read: ${sentenceOf(error)}`)
  }
}
