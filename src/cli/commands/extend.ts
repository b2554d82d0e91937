import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/told.ts'
import { extend } from '../extend.ts'

export function addExtend(program: Command): void {
  const command = program
    .command('extend <planId>')
    .description('prolong the life of an exposure, counted from now')
    .requiredOption('--for <duration>', 'such as 30m, 2h or 7d')
    .option('--url <address>', 'the service (or DRAWBRIDGE_URL)', process.env.DRAWBRIDGE_URL ?? 'http://127.0.0.1:8045')
    .action(async (planId: string, options: { url: string; for: string }) =>
      standardOutput().say(await extend(planId, options)),
    )
  withExample(command, 'drawbridge extend plan_4c7p… --for 2h')
}
