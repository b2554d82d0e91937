import type { EdgeAgentConfig } from '../../config/edge-agent.ts'

/** The configuration of an installed agent. */
export const AGENT_FILE = '/etc/drawbridge/edge.yaml'

/** An agent of root needs its rights. It refuses files that another user could exchange. */
export async function agentConfigIn(file: string): Promise<EdgeAgentConfig> {
  const { loadEdgeAgentConfig } = await import('../../config/edge-agent.ts')
  const { assertOfRoot } = await import('../../runtime/owner.ts')
  const config = loadEdgeAgentConfig(file)
  for (const path of [file, config.stateDir, config.nginx.folder]) assertOfRoot(path)
  return config
}
