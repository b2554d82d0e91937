import { Argument, type Command } from 'commander'
import { VERSION } from '../../runtime/version.ts'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/print.ts'
import { type ApiOptions, apiClient, withUrl } from '../api-client.ts'
import { ASKED, type Asked, offered } from '../completion/offered.ts'
import { ownName } from '../service/own-settings.ts'

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
      const { completionFor, vocabularyOf } = await import('../completion/scripts.ts')
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
    .action(async (what: Asked, prefix: string, { url }: ApiOptions) => {
      const names = await offered(what, prefix, url)
      if (names.length > 0) standardOutput().print(...names)
    })
  withExample(command, 'drawbridge complete hosts hel')
}
