import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { EXIT } from '../exit-codes.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addDiagnose(program: Command): void {
  const command = throughApi(program.command('diagnose <host>'))
    .description('walk from the visitor to the backend and name the one cause; ends with 1 unless RUNNING')
    .action(async (host: string, options: Connected) => {
      const { diagnosisLines } = await import('../views/diagnosis.ts')
      const diagnosis = await (await reach(options)).diagnose(host)
      const exitCode = diagnosis.badge === 'RUNNING' ? EXIT.ok : EXIT.notWell
      tell({ body: diagnosis, lines: (screen) => diagnosisLines(diagnosis, screen), exitCode }, options.json)
    })
  withExample(command, 'drawbridge diagnose hello.example.test')
}
