import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/print.ts'
import type { InitOptions } from './answers.ts'
import type { InitParts } from './contract.ts'

const several = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]

/** `init`: prepares a server that carries sites already. */
export function addInit(program: Command, parts: () => Promise<InitParts>): void {
  const command = program
    .command('init')
    .description(
      'prepare this server: configuration, key for DNS updates, include in nginx; asks for what no option says',
    )
    .option('--config <file>', 'the configuration to write', '/etc/drawbridge/drawbridge.yaml')
    .option('--zone <zone>', 'the DNS zone in which names are exposed')
    .option('--dns-server <address>', 'its authoritative server that takes updates, with :port where it is not 53')
    .option('--address <address>', 'the address of this server that visitors reach')
    .option('--publish <address>', 'the address that names get in DNS, if it is another; may be repeated', several)
    .option('--internal-network <network>', 'whose callers may apply and remove; may be repeated', several)
    .option('--server <id>', 'the id of this server (default: 23)')
    .option('--target <id=address>', 'another server with services; may be repeated', several)
    .option('--nginx <program>', 'the nginx program (default: nginx)')
    .option('--nginx-config <file>', 'its main file (default: as it was built)')
    .option('--nginx-prefix <folder>', 'what nginx is started with as -p, where it is')
    .option('--http-port <port>', 'where hosts are served without TLS (default: 80)')
    .option('--https-port <port>', 'where hosts are served with TLS (default: 443)')
    .option('--api-port <port>', 'where the API and the page are served (default: 8045)')
    .option('--state-dir <folder>', "the folder for Drawbridge's own files (default: /var/lib/drawbridge)")
    .option('--tsig-name <name>', 'the name of the key for DNS updates (default: drawbridge)')
    .option('--acme-directory <url>', 'the certificate authority (default: letsencrypt)')
    .option('--acme-ca <file>', "the root certificate of a private authority's own API, as PEM")
    .option('--email <address>', 'an e-mail address that the authority may write to; may be repeated', several)
    .option('--agent', 'nginx belongs to an agent: write edge.yaml, too (default where its unit is installed)')
    .option('--no-agent', 'the service changes nginx itself, and runs as root')
    .option('--dry-run', 'show everything and write nothing')
    .option('--yes', 'do not ask for confirmation')
    .action(async (options: InitOptions) => {
      const { terminalAsk } = await import('./answers.ts')
      const { init } = await import('./init.ts')
      await init(options, await parts(), standardOutput(), terminalAsk())
    })
  withExample(
    command,
    'drawbridge init --dry-run',
    'drawbridge init --zone example.com --dns-server 192.168.45.253 --internal-network 192.168.45.0/24 --yes',
  )
}
