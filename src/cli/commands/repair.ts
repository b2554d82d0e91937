import type { Command } from 'commander'
import type { Drift } from '../../client/bodies.ts'
import type { DrawbridgeClient } from '../../client/client.ts'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/print.ts'
import { apiClient, withApiOptions } from '../api-client.ts'
import { confirmAct, type OwnerOptions, withOwner } from '../ownership.ts'

interface RepairOptions extends OwnerOptions {
  readonly overwrite?: boolean
}

export function addRepair(program: Command): void {
  const command = withOwner(withApiOptions(program.command('repair <planOrHost>')))
    .description('show how an exposure differs from its plan, and write it again as it was applied')
    .option('--overwrite', 'also overwrite what was changed outside Drawbridge')
    .action(async (planOrHost: string, options: RepairOptions) => {
      const { repairLive } = await import('../live-run.ts')
      const api = await apiClient(options)
      const { drift, host } = await shownDrift(api, planOrHost, options.json)
      const asksToOverwrite =
        !options.overwrite && drift.differences.some(({ overwrite }) => overwrite) && isAsked(options)
      const how = asksToOverwrite ? ' Overwrite what was changed outside Drawbridge?' : ''
      const act = { question: `Repair ${host}?${how}`, action: `repair ${host}`, needsYes: false }
      await confirmAct(api, { planId: drift.planId, kind: 'other', ...act }, options)
      await repairLive(api, drift.planId, options.overwrite === true || asksToOverwrite, options.json)
    })
  withExample(command, 'drawbridge repair hello.example.test', 'drawbridge repair hello.example.test --overwrite')
}

export function addAccept(program: Command): void {
  const command = withOwner(withApiOptions(program.command('accept <planOrHost>')))
    .description('ask, then leave a host on the air as it stands and stop managing it')
    .action(async (planOrHost: string, options: OwnerOptions) => {
      const { acceptLive } = await import('../live-run.ts')
      const { acceptanceLines } = await import('../views/drift.ts')
      const api = await apiClient(options)
      const { drift, host } = await shownDrift(api, planOrHost, options.json)
      const screen = standardOutput()
      if (!options.json) screen.print(...acceptanceLines(host, screen), '')
      const act = { question: `Accept ${host} as it stands?`, action: `accept ${host}`, needsYes: true }
      await confirmAct(api, { planId: drift.planId, kind: 'other', ...act }, options)
      await acceptLive(api, drift.planId, options.json)
    })
  withExample(command, 'drawbridge accept hello.example.test')
}

/** The run is that of an accept. What differs from its plan is not handed over under this name. */
export function addRelease(program: Command): void {
  const command = withOwner(withApiOptions(program.command('release <planOrHost>')))
    .description(
      'ask, then give a host back as a file of its own and stop managing it; refused if it differs from its plan',
    )
    .action(async (planOrHost: string, options: OwnerOptions) => {
      const { UsageError } = await import('../../terminal/declare.ts')
      const { acceptLive } = await import('../live-run.ts')
      const { acceptanceLines } = await import('../views/drift.ts')
      const api = await apiClient(options)
      const { drift, host } = await shownDrift(api, planOrHost, options.json)
      if (drift.differences.length > 0)
        throw new UsageError(
          `${host} differs from its plan, so it was not released. Run "drawbridge repair ${host}" first, or keep it as it stands with "drawbridge accept ${host}".`,
        )
      const screen = standardOutput()
      if (!options.json) screen.print(...acceptanceLines(host, screen), '')
      const act = { question: `Release ${host}?`, action: `release ${host}`, needsYes: true }
      await confirmAct(api, { planId: drift.planId, kind: 'other', ...act }, options)
      await acceptLive(api, drift.planId, options.json, true)
    })
  withExample(command, 'drawbridge release hello.example.test')
}

/** Compares the plan with files, DNS and certificate, and prints the differences. */
async function shownDrift(
  api: DrawbridgeClient,
  planOrHost: string,
  json: boolean | undefined,
): Promise<{ drift: Drift; host: string }> {
  const { planIdOf } = await import('../plan-of.ts')
  const { driftLines } = await import('../views/drift.ts')
  const planId = await planIdOf(api, planOrHost)
  const [drift, { host }] = await Promise.all([api.drift(planId), api.getPlan(planId)])
  const screen = standardOutput()
  if (!json) screen.print(...driftLines([{ ...drift, host }], screen, api.clock.now()))
  return { drift, host }
}

/** Without a person who answers nothing is overwritten: the service refuses such a repair and says what to do. */
const isAsked = ({ yes }: OwnerOptions): boolean => process.stdin.isTTY && !yes
