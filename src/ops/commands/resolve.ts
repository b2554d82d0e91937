import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { withParts } from './parts.ts'

export function addResolve(program: Command): void {
  const command = onThisMachine(program.command('resolve <planId>'))
    .description('show what a blocked plan left standing, and put it back')
    .option('--show', 'only show')
    .action((planId: string, { config, show, json }: Configured & { show?: boolean }) =>
      withParts(config, async (parts) => {
        const { leftOvers, resolve } = await import('../../apply/resolve.ts')
        const left = (await leftOvers(parts.store, planId)).map(({ step, detail }) => ({
          step,
          detail: detail ?? null,
        }))
        const standing = left.map(({ step, detail }) => `Left standing: ${step}${detail ? ` (${detail})` : ''}`)
        if (show) return tell({ body: { planId, left, resolved: false }, lines: () => standing }, json)
        const { outcome, run } = await resolve(planId, parts)
        const stuck = outcome.kind === 'blocked' ? outcome.rollback.at(-1) : undefined
        if (stuck) throw new Error(`still blocked at ${stuck.name}: ${stuck.detail}`)
        const sentence = `${run.host} is in order again: everything was put back.`
        tell({ body: { planId, left, resolved: true }, lines: () => [...standing, sentence] }, json)
      }),
    )
  withExample(withJson(command), 'drawbridge resolve plan_4c7p… --config /etc/drawbridge/drawbridge.yaml --show')
}
