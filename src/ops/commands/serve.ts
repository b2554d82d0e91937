import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/told.ts'

export function addServe(program: Command): void {
  const command = onThisMachine(program.command('serve'))
    .description('run the service')
    .option('--check', 'only read the configuration and say whether it is right')
    .action(async ({ config: file, check }: Configured & { check?: boolean }) => {
      const { loadConfig } = await import('../../config/config.ts')
      const config = loadConfig(file, process.env)
      if (check) return standardOutput().say(`${file} is right.`)
      const { keepMemorySmall } = await import('../memory.ts')
      keepMemorySmall()
      const { assemble, secretsOf } = await import('../../main.ts')
      const { createLog } = await import('../../log.ts')
      const { serve } = await import('../serve.ts')
      const { claimService } = await import('../instance.ts')
      const { claimStateFolder } = await import('../state-folder.ts')
      claimStateFolder(config.stateDir)
      // Before anything is opened: a service that is refused must not bring the store of another one up to date.
      const claim = await claimService(config.stateDir)
      await serve(await assemble(config, createLog(config.log.level, secretsOf(config)), { claim }), config)
    })
  withExample(command, 'drawbridge serve --config /etc/drawbridge/drawbridge.yaml')
}
