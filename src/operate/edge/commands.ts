import type { Command } from 'commander'
import type { EdgeAgentConfig } from '../../config/edge-agent.ts'
import { UsageError, withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/print.ts'

/** The parts of the commands for edges that an agent owns. Every member loads its code when it is called. */
export interface EdgeMachine {
  /** Runs the agent until SIGTERM or SIGINT. */
  runAgent(config: EdgeAgentConfig): Promise<void>
}

interface EdgeOptions {
  readonly config?: string
  readonly check?: boolean
}

/** `edge`: the command of edges. Without a further word it runs the agent. */
export function addAgent(edge: Command, machine: EdgeMachine): void {
  const command = edge
    .enablePositionalOptions()
    .description('run the agent that owns the nginx of this machine, or look after edges')
    .option('--config <file>', 'the configuration of the agent, as in edge.example.yaml')
    .option('--check', 'only check the configuration')
    .action(async ({ config: file, check }: EdgeOptions) => {
      if (file === undefined) throw new UsageError('Pass the configuration of the agent with --config edge.yaml.')
      const { loadEdgeAgentConfig } = await import('../../config/edge-agent.ts')
      const config = loadEdgeAgentConfig(file)
      if (check) return standardOutput().print(`${file} is valid.`)
      await machine.runAgent(config)
    })
  withExample(command, 'drawbridge edge --config /etc/drawbridge/edge.yaml')
}
