import { existsSync } from 'node:fs'
import { serviceFile } from '../../terminal/declare.ts'
import { configOnly } from '../open-config.ts'
import { AGENT_FILE, agentConfigIn } from './agent-config.ts'

/** An edge whose nginx is on this machine. */
interface EdgeHere {
  readonly server: string
  readonly nginx: Awaited<ReturnType<typeof agentConfigIn>>['nginx']
  readonly ports: { readonly http: number; readonly https: number }
}

interface EdgesHere {
  readonly edges: readonly EdgeHere[]
  /** Why a configuration of this machine could not be read. */
  readonly faults: readonly string[]
}

/**
 * By the configuration of an agent or of a service, or without a file by those that are installed. A process of root may become the
 * author of a service's configuration, so that one is read last.
 */
export async function edgesHere(file: string | undefined): Promise<EdgesHere> {
  if (file !== undefined) return { edges: await edgesIn(file), faults: [] }
  const edges: EdgeHere[] = []
  const faults: string[] = []
  for (const installed of [AGENT_FILE, serviceFile()].filter((path) => existsSync(path)))
    try {
      edges.push(...(await edgesIn(installed)))
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  return { edges, faults }
}

/** An agent has one `server`, and a service has `servers`. */
async function edgesIn(file: string): Promise<readonly EdgeHere[]> {
  const { readFile } = await import('../../config/config.ts')
  if (/^server\s*:/m.test(readFile(file))) {
    const { server, nginx, ports } = await agentConfigIn(file)
    return [{ server, nginx, ports }]
  }
  const { edges, edge } = await configOnly(file)
  return Object.entries(edges).map(([server, nginx]) => ({ server, nginx, ports: edge }))
}
