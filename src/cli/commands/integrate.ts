import { Argument, type Command } from 'commander'
import { VERSION } from '../../runtime/version.ts'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/escape-text.ts'
import { atUrl, type Connected, reach } from '../api-client.ts'

export function addMcp(program: Command): void {
  const command = atUrl(program.command('mcp'))
    .description('speak the Model Context Protocol on standard input and output, for coding agents')
    .option('--read-only', 'without the tools that change anything')
    .action(async ({ readOnly, ...options }: Connected & { readOnly?: boolean }) => {
      const { mcpServer } = await import('../../mcp/server.ts')
      const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
      const server = mcpServer(await reach(options), { version: VERSION, readOnly: readOnly === true })
      await server.connect(new StdioServerTransport())
    })
  withExample(command, 'drawbridge mcp --url http://192.168.45.23:8045 --read-only')
}

export function addCompletion(program: Command): void {
  const command = program
    .command('completion')
    .description('print what lets a shell complete the commands')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionFor, vocabularyOf } = await import('../completion.ts')
      standardOutput().say(completionFor(shell, vocabularyOf(program)))
    })
  withExample(
    command,
    'source <(drawbridge completion bash)',
    'drawbridge completion zsh > ~/.zfunc/_drawbridge',
    'drawbridge completion fish > ~/.config/fish/completions/drawbridge.fish',
  )
}
