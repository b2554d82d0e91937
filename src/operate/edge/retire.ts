import type { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import { type Configured, confirm, onThisMachine, UsageError, withExample, withJson } from '../../terminal/declare.ts'
import { print } from '../../terminal/print.ts'
import { configIn } from '../open-config.ts'

export interface RetiredEdge {
  readonly server: string
  /** Why the agent was not informed. Null if it was. */
  readonly untold: string | null
  /** False if it had no certificate. */
  readonly revoked: boolean
}

interface RetireMachine {
  /** Retires a Secondary. Refuses while records of a host point to it. */
  retire(config: Config, server: string): Promise<RetiredEdge>
}

/** `edge retire`: the end of a Secondary. Its hosts stay on the Primary, and nothing is withdrawn. */
export function addRetire(edge: Command, machine: RetireMachine): void {
  const command = onThisMachine(edge.command('retire <server>'))
    .description('let a Secondary go: its agent may leave with the hosts that it serves, and is not accepted any more')
    .option('--yes', 'do not ask for confirmation')
    .action(async (server: string, { config: file, yes, json }: Configured & { yes?: boolean }) => {
      const config = await configIn(file)
      assertSecondary(config, server)
      const question = `Retire edge ${server}? All hosts stay on edge ${config.servers.primary}.`
      await confirm({ question, action: `retire edge ${server}`, yes })
      const retired = await machine.retire(config, server)
      print({ body: retired, lines: () => retiredLines(retired, file) }, json)
    })
  withExample(withJson(command), 'drawbridge edge retire 73 --config /etc/drawbridge/drawbridge.yaml')
}

function assertSecondary({ servers, zones }: Config, server: string): void {
  if (server === servers.primary)
    throw new UsageError(
      `Edge ${server} is the Primary: visitors come to it. To end the installation, run drawbridge withdraw --all; ` +
        'to move it, make another server the Primary first.',
    )
  if (server !== servers.secondary)
    throw new UsageError(
      `Server ${server} is not the Secondary of this configuration (servers.secondary is ${servers.secondary ?? 'none'}).`,
    )
  const address = servers.addresses[server]
  const zone = [...zones.values()].find(({ publish }) => publish?.some(({ value }) => value === address))
  if (zone)
    throw new UsageError(
      `zones.${zone.name}.publish names ${address}, the address of edge ${server}. Take it out, restart the service and ` +
        'apply the hosts of the zone again, then retire the edge.',
    )
}

function retiredLines({ server, untold, revoked }: RetiredEdge, file: string): string[] {
  return [
    untold === null
      ? `The agent of edge ${server} knows that it may leave.`
      : `The agent of edge ${server} could not be told: ${untold}`,
    ...(revoked ? ['Its certificate is not accepted any more.'] : []),
    `Next, for every service: set servers.secondary to none in ${file}, delete edges.${server}, and run: systemctl restart drawbridge`,
    untold === null
      ? `Then on the machine of edge ${server}: apt purge drawbridge`
      : `Then on the machine of edge ${server}, if it still exists: systemctl stop drawbridge-edge && drawbridge edge leave --retired && apt purge drawbridge`,
  ]
}
