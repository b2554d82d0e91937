import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { VERSION } from '../../version.ts'
import { atUrl, type Connected, reach } from '../reach.ts'

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
