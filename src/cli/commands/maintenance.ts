import { type Command, InvalidArgumentError } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { print } from '../../terminal/print.ts'
import { apiClient, withApiOptions } from '../api-client.ts'
import { type OwnerOptions, withOwner } from '../ownership.ts'

interface MaintenanceOptions extends OwnerOptions {
  readonly retryAfter?: string
}

export function addMaintenance(program: Command): void {
  const command = withOwner(withApiOptions(program.command('maintenance <host>')))
    .argument('<on|off>', 'whether the edge answers with a maintenance page', onOrOff)
    .description('answer visitors of a host with 503 and a small page, or pass them on to the backend again')
    .option('--retry-after <duration>', 'what Retry-After tells visitors, such as 10m; default: 5m')
    .action(async (host: string, isOn: boolean, options: MaintenanceOptions) => {
      const { applyLive } = await import('../live-run.ts')
      const { confirmAct } = await import('../ownership.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const { planMaintenance } = await import('../../client/maintenance.ts')
      const { parseDuration } = await import('../duration.ts')
      const api = await apiClient(options)
      const { retryAfter } = options
      const seconds = retryAfter === undefined ? undefined : parseDuration(retryAfter, '--retry-after')
      const planId = await planIdOf(api, host)
      const { request } = await api.getPlan(planId)
      if (!isOn && request.options?.maintenance === undefined) {
        const sentence = `Nothing to change: ${host} is not under maintenance.`
        print({ body: await api.getPlan(planId), lines: () => [sentence] }, options.json)
        return
      }
      const act = {
        question: isOn ? `Show visitors of ${host} the maintenance page?` : `Pass visitors of ${host} on again?`,
        action: `change ${host}`,
        needsYes: false,
      }
      await confirmAct(api, { planId, kind: 'other', ...act }, options)
      const plan = await planMaintenance(api, planId, isOn && (seconds === undefined ? {} : { retryAfter: seconds }))
      await applyLive(api, plan.planId, options.json)
    })
  withExample(command, 'drawbridge maintenance hello.example.test on --retry-after 10m')
}

function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('Use on or off.')
  return text === 'on'
}
