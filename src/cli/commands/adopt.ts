import type { Command } from 'commander'
import { Refusal } from '../../client/refusal.ts'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/print.ts'
import { apiClient, withApiOptions } from '../api-client.ts'
import { confirmAct, type OwnerOptions, withOwner } from '../ownership.ts'
import { ownName } from '../service/own-settings.ts'
import type { FindingView } from '../views/adoption.ts'

interface AdoptOptions extends OwnerOptions {
  readonly acceptLoss?: boolean
  readonly health: string
  readonly note?: string
  readonly config?: string
}

/** What the files of this machine say about the site of a host: every directive that does not stay as it is, with its place. */
export type SiteHere = (configFile: string, host: string) => Promise<readonly FindingView[]>

export function addAdopt(program: Command, siteHere: SiteHere): void {
  const command = withOwner(withApiOptions(program.command('adopt <host>')))
    .description(
      'show what becomes of a hand-written site, ask, and take it under management without dropping a request',
    )
    .option('--accept-loss', 'adopt also if something in the site cannot be carried over')
    .option('--health <path>', 'the path that must answer with HTTP 2xx', '/')
    .option('--note <text>', 'one line about what the exposure is for')
    .option('--config <file>', 'on the machine of the edge: also name file and line of what is not carried over')
    .action(async (typed: string, options: AdoptOptions) => {
      const { namedHost } = await import('../exposure-options.ts')
      const { adoptionLines } = await import('../views/adoption.ts')
      const { applyLive } = await import('../live-run.ts')
      const api = await apiClient(options)
      const host = (await namedHost(api, typed)).toLowerCase().replace(/\.$/, '')
      const { acceptLoss = false, health, note, config } = options
      const here = config === undefined ? [] : await siteHere(config, host)
      const owner = await ownName(options.owner, process.env)
      const labels = { ...(owner !== undefined && { owner }), ...(note !== undefined && { note }) }
      const plan = await api.planAdoption({ host, health, acceptLoss, ...labels }).catch(async (fault: unknown) => {
        throw fault instanceof Refusal ? await located(fault, here) : fault
      })
      const screen = standardOutput()
      if (!options.json) screen.print(...adoptionLines(plan, here, screen, api.clock.now()), '')
      const act = { question: `Adopt ${plan.host}?`, action: `adopt ${plan.host}`, needsYes: true }
      await confirmAct(api, { planId: plan.planId, kind: 'apply', ...act }, options)
      await applyLive(api, plan.planId, options.json, true)
    })
  withExample(
    command,
    'drawbridge adopt shop.example.test',
    'drawbridge adopt shop.example.test --accept-loss --config /etc/drawbridge/drawbridge.yaml',
  )
}

/** The service names directives alone; what this machine reads in the files tells where they stand. */
async function located({ problem }: Refusal, here: readonly FindingView[]): Promise<Refusal> {
  const { locate } = await import('../views/adoption.ts')
  const { losses, reasons } = problem as { losses?: FindingView[]; reasons?: FindingView[] }
  return new Refusal({
    ...problem,
    ...(losses && { losses: locate(losses, here) }),
    ...(reasons && { reasons: locate(reasons, here) }),
  })
}
