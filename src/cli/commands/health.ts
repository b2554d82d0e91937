import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { EXIT } from '../exit-codes.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addHealth(program: Command): void {
  const command = throughApi(program.command('health <host>'))
    .description("a host's last check, its server and the path of its configuration file; ends with 1 unless RUNNING")
    .action(async (host: string, options: Connected) => {
      const { healthLines } = await import('../views/health.ts')
      const health = await (await reach(options)).health(host)
      const exitCode = health.badge === 'RUNNING' ? EXIT.ok : EXIT.notWell
      tell({ body: health, lines: (screen) => healthLines(health, screen, Date.now()), exitCode }, options.json)
    })
  withExample(command, 'drawbridge health hello.example.test')
}
