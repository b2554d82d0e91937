import { Argument, type Command } from 'commander'
import type { DrawbridgeClient } from '../../client/client.ts'
import { VERSION } from '../../runtime/version.ts'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/print.ts'
import { type ApiOptions, apiClient, ownName, withUrl } from '../api-client.ts'
import { ASKED, type Asked } from '../completion.ts'

export function addMcp(program: Command): void {
  const command = withUrl(program.command('mcp'))
    .description('speak the Model Context Protocol on standard input and output, for coding agents')
    .option('--read-only', 'offer only the tools that change nothing')
    .option('--owner <name>', 'who the agent acts for (default: as for other commands)')
    .action(async ({ readOnly, owner, ...options }: ApiOptions & { readOnly?: boolean; owner?: string }) => {
      const { mcpServer } = await import('../../mcp/server.ts')
      const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
      const me = await ownName(owner, process.env)
      const server = mcpServer(await apiClient(options), { version: VERSION, readOnly: readOnly === true, owner: me })
      await server.connect(new StdioServerTransport())
    })
  withExample(command, 'drawbridge mcp --url http://192.168.45.23:8045 --read-only')
}

export function addCompletion(program: Command): void {
  const command = program
    .command('completion')
    .description('print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionFor, vocabularyOf } = await import('../completion.ts')
      standardOutput().print(...completionFor(shell, vocabularyOf(program)).split('\n'))
    })
  withExample(
    command,
    'source <(drawbridge completion bash)',
    'drawbridge completion zsh > ~/.zfunc/_drawbridge',
    'drawbridge completion fish > ~/.config/fish/completions/drawbridge.fish',
  )
}

/** For the scripts of `completion`: prints names that may follow, and nothing where the service does not answer. */
export function addComplete(program: Command): void {
  const command = withUrl(program.command('complete', { hidden: true }))
    .description('print the hosts, plan ids or servers that a completion script offers')
    .addArgument(new Argument('<what>').choices(ASKED))
    .addArgument(new Argument('[prefix]', 'what was typed of it').default(''))
    .action(async (what: Asked, prefix: string, options: ApiOptions) => {
      const names = await offered(await apiClient(options), what, prefix).catch(() => [])
      const fitting = names.filter((name) => name.startsWith(prefix.toLowerCase()))
      if (fitting.length > 0) standardOutput().print(...fitting)
    })
  withExample(command, 'drawbridge complete hosts hel')
}

/** More than these nobody reads. */
const MOST_OFFERED = '200'

async function offered(api: DrawbridgeClient, what: Asked, prefix: string): Promise<readonly string[]> {
  if (what === 'servers') return (await api.policy()).servers.targets
  if (what === 'plans') return (await api.listPlans({ limit: MOST_OFFERED })).plans.map(({ planId }) => planId)
  const { hosts } = await api.hosts({ limit: MOST_OFFERED, ...(prefix !== '' && { prefix }) })
  return hosts.map(({ host }) => host)
}
