import type { Command } from 'commander'
import type { EdgeAgentConfig } from '../../config/edge-agent.ts'
import { type Configured, confirm, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { print } from '../../terminal/print.ts'
import { AGENT_FILE, agentConfigIn } from './agent-config.ts'

/** What was taken out of nginx. */
export interface LeftNginx {
  /** The main file, if it included the folder of the edge. */
  readonly edited: string | null
  /** The folder of the edge, if it was there. */
  readonly removed: string | null
  /** False if nginx does not run. */
  readonly reloaded: boolean
  /** Files of released sites, which nginx goes on serving. */
  readonly released: readonly string[]
}

interface LeaveMachine {
  /** Takes Drawbridge out of the nginx of this machine. No agent may run, and no host may be served unless the edge is retired. */
  leave(config: EdgeAgentConfig, retired: boolean): Promise<LeftNginx>
}

interface LeaveOptions extends Configured {
  readonly yes?: boolean
  readonly retired?: boolean
}

/** `edge leave`: the end of an edge on this machine. */
export function addLeave(edge: Command, machine: LeaveMachine): void {
  const command = onThisMachine(edge.command('leave'), AGENT_FILE)
    .description(
      'take Drawbridge out of the nginx of this machine: the include line and the folder, when no host is left or the edge is retired',
    )
    .option('--yes', 'do not ask for confirmation')
    .option('--retired', 'leave with the hosts that are served here: this is a Secondary whose agent could not be told')
    .action(async ({ config: file, yes, retired = false, json }: LeaveOptions) => {
      const config = await agentConfigIn(file)
      const { config: main, folder } = config.nginx
      const question = `Remove ${folder} and the line that includes it from ${main}?`
      await confirm({ question, action: 'remove both', yes })
      const left = await machine.leave(config, retired)
      print({ body: left, lines: () => leftLines(left) }, json)
    })
  withExample(withJson(command), 'drawbridge edge leave --config /etc/drawbridge/edge.yaml')
}

const leftLines = ({ edited, removed, reloaded, released }: LeftNginx): string[] => [
  edited === null
    ? 'The main file does not include the folder of Drawbridge.'
    : `The include line was ${released.length > 0 ? 'replaced in' : 'removed from'} ${edited}.`,
  ...(released.length === 0
    ? []
    : [
        'These released sites stay on the air. Nobody renews their certificates:',
        ...released.map((file) => `  ${file}`),
      ]),
  ...(removed === null ? [] : [`${removed} was removed.`]),
  ...(reloaded ? ['nginx was reloaded.'] : []),
]
