import type { Command } from 'commander'
import { UsageError, withExample } from '../../terminal/declare.ts'
import { print, standardOutput } from '../../terminal/print.ts'
import { apiClient, withApiOptions } from '../api-client.ts'
import { parseDuration } from '../duration.ts'
import { type ExposureOptions, requestFor, withExposure } from '../exposure-options.ts'
import { type OwnerOptions, withOwner } from '../ownership.ts'
import { ownName } from '../service/own-settings.ts'
import { applyFile, type FileOptions, withFile } from './exposures.ts'

export function addUp(program: Command): void {
  const command = withApiOptions(withExposure(program.command('up <host>')))
    .description('make a plan, show it, ask, and apply it; changes a host that is already exposed here')
    .action(async (host: string, options: ExposureOptions) => {
      const { planLines } = await import('../views/plan.ts')
      const { applyLive } = await import('../live-run.ts')
      const { confirmAct } = await import('../ownership.ts')
      const { assertMayApply, planOrChange } = await import('../change.ts')
      const api = await apiClient(options)
      assertMayApply(await api.policy())
      const habits = { me: await ownName(options.owner, process.env), keeps: options.options !== false }
      const planned = await planOrChange(api, await requestFor(api, host, options), habits)
      if ('unchanged' in planned) {
        const { unchanged } = planned
        const sentence = `Nothing to change: ${unchanged.host} is already exposed with these values.`
        print({ body: unchanged, lines: () => [sentence] }, options.json)
        return
      }
      const { plan, former } = planned
      const screen = standardOutput()
      if (!options.json) screen.print(...planLines(plan, screen, api.clock.now(), former), '')
      const [verb, action] = former ? ['Change', `change ${plan.host}`] : ['Expose', 'apply']
      const question = `${verb} ${plan.host}?`
      await confirmAct(api, { planId: plan.planId, kind: 'apply', question, action, needsYes: true }, options)
      await applyLive(api, plan.planId, options.json)
    })
  withExample(command, 'drawbridge up hello.example.test --server 25 --port 3000 --expires-in 2h')
}

export function addDown(program: Command): void {
  const command = withOwner(withApiOptions(program.command('down <host>')))
    .description('ask, then remove an exposed host')
    .action(removeAsked)
  withExample(command, 'drawbridge down hello.example.test')
}

/** Names the host, asks, and removes what the plan exposed. */
async function removeAsked(planOrHost: string, options: OwnerOptions): Promise<void> {
  const { removeLive } = await import('../live-run.ts')
  const { confirmAct } = await import('../ownership.ts')
  const { planIdOf } = await import('../plan-of.ts')
  const api = await apiClient(options)
  const planId = await planIdOf(api, planOrHost)
  const { host } = await api.getPlan(planId)
  const act = {
    planId,
    kind: 'other',
    question: `Remove ${host}?`,
    action: `remove ${host}`,
    needsYes: true,
  } as const
  await confirmAct(api, act, options)
  await removeLive(api, planId, options.json)
}

export function addPlan(program: Command): void {
  const command = withApiOptions(withExposure(program.command('plan <host>')))
    .description('check backend, name, certificate and edge, and show what an apply would do; changes nothing')
    .action(async (host: string, options: ExposureOptions) => {
      const { planLines } = await import('../views/plan.ts')
      const { planWithFormer } = await import('../change.ts')
      const api = await apiClient(options)
      const habits = { me: await ownName(options.owner, process.env), keeps: options.options !== false }
      const { plan, former } = await planWithFormer(api, await requestFor(api, host, options), habits)
      const next = `Next: drawbridge apply ${plan.planId}`
      print(
        { body: plan, lines: (screen) => [...planLines(plan, screen, api.clock.now(), former), '', next] },
        options.json,
      )
    })
  withExample(command, 'drawbridge plan hello.example.test --server 25 --port 3000 --health /healthz')
}

export function addApply(program: Command): void {
  const command = withFile(withOwner(withApiOptions(program.command('apply [planId]'))))
    .description(
      'apply a plan: change certificate, proxy and DNS together, and undo all changes if one fails; or a file',
    )
    .action(async (planId: string | undefined, options: FileOptions) => {
      if (options.file !== undefined && planId === undefined) return applyFile(options.file, options)
      if (planId === undefined || options.file !== undefined || options.prune)
        throw new UsageError('Name a plan, or a file of exposures with -f.')
      if (!planId.startsWith('plan_'))
        throw new UsageError(
          `${planId} is not a plan id. drawbridge plans lists the plans; drawbridge up HOST plans and applies in one step.`,
        )
      const { applyLive } = await import('../live-run.ts')
      const { confirmAct } = await import('../ownership.ts')
      const api = await apiClient(options)
      const { planLines } = await import('../views/plan.ts')
      const plan = await api.getPlan(planId)
      const { request, host } = plan
      const screen = standardOutput()
      if (!options.json && !options.yes && process.stdin.isTTY)
        screen.print(...planLines(plan, screen, api.clock.now()), '')
      const act = { question: `Apply this plan of ${host}?`, action: `apply ${planId}`, needsYes: false }
      await confirmAct(api, { planId, kind: 'apply', ...act }, options)
      await applyLive(api, planId, options.json, request.adopt !== undefined)
    })
  withExample(command, 'drawbridge apply plan_4c7p0wq9d2f6h8k1m3n5r7t9v0', 'drawbridge apply -f exposures.yaml --prune')
}

export function addRemove(program: Command): void {
  const command = withOwner(withApiOptions(program.command('remove <planOrHost>')))
    .description('ask, then remove what a plan exposed: DNS first, then the proxy')
    .action(removeAsked)
  withExample(command, 'drawbridge remove hello.example.test')
}

export function addExtend(program: Command): void {
  const command = withOwner(withApiOptions(program.command('extend <planOrHost>')))
    .description('set a later expiry of an exposure, counted from now; never shortens it')
    .requiredOption('--for <duration>', 'duration from now, such as 30m, 2h or 7d')
    .action(async (planOrHost: string, options: OwnerOptions & { for: string }) => {
      const seconds = parseDuration(options.for, '--for')
      const { confirmAct } = await import('../ownership.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const api = await apiClient(options)
      const planId = await planIdOf(api, planOrHost)
      const act = {
        question: `Extend ${planOrHost} to end ${options.for} from now?`,
        action: `extend ${planOrHost}`,
        needsYes: false,
      }
      await confirmAct(api, { planId, kind: 'other', ...act }, options)
      const extended = await api.extendPlan(planId, seconds)
      print({ body: extended, lines: () => [`${planOrHost} expires at ${extended.expiresAt}.`] }, options.json)
    })
  withExample(command, 'drawbridge extend hello.example.test --for 2h')
}

export function addRenew(program: Command): void {
  const command = withOwner(withApiOptions(program.command('renew <planOrHost>')))
    .description('renew the certificate of a host now, within the order budget')
    .action(async (planOrHost: string, options: OwnerOptions) => {
      const { renewLive } = await import('../live-run.ts')
      const { confirmAct } = await import('../ownership.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const api = await apiClient(options)
      const planId = await planIdOf(api, planOrHost)
      const act = {
        question: `Renew the certificate of ${planOrHost} now?`,
        action: `renew ${planOrHost}`,
        needsYes: false,
      }
      await confirmAct(api, { planId, kind: 'other', ...act }, options)
      await renewLive(api, planId, options.json)
    })
  withExample(command, 'drawbridge renew hello.example.test')
}
