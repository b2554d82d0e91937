import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'

export function addAcme(program: Command): void {
  const acme = program.command('acme').description('our account at the certificate authority')
  const exporting = onThisMachine(acme.command('export-account'))
    .description('write the key of the account to a new file that only its owner may read')
    .requiredOption('--to <file>', 'must not be there yet')
    .action(async ({ config, json, to }: Configured & { to: string }) => {
      const { loadConfig } = await import('../../config/config.ts')
      const { exportAccountKey } = await import('../../certificates/acme/account.ts')
      const { stateDir, acme: settings } = loadConfig(config, process.env)
      const { directory, accountKey } = settings
      await exportAccountKey({ stateDir, directory, accountKey: accountKey?.reveal() }, to)
      const sentence = `${to} holds the key of the account at ${directory}. Whoever has it orders in its name: keep it safe.`
      tell({ body: { directory, file: to }, lines: () => [sentence] }, json)
    })
  withExample(withJson(exporting), 'drawbridge acme export-account --config FILE --to account.key')
}
