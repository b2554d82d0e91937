import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput, tell } from '../../terminal/escape-text.ts'
import { type Connected, reach, throughApi } from '../api-client.ts'
import { type ExposureOptions, parseDuration, planFor, withExposure } from '../exposure-options.ts'

export function addUp(program: Command): void {
  const command = throughApi(withExposure(program.command('up <host>')))
    .description('plan, show, ask, apply')
    .option('-y, --yes', 'do not ask')
    .action(async (host: string, options: ExposureOptions & { yes?: boolean }) => {
      const { planLines } = await import('../views/plan.ts')
      const { insistOn } = await import('../../terminal/declare.ts')
      const { applyLive } = await import('../live-run.ts')
      const api = await reach(options)
      const plan = await planFor(api, host, options)
      const screen = standardOutput()
      if (!options.json) screen.say(...planLines(plan, screen, Date.now()), '')
      await insistOn(`Put ${plan.host} on the air?`, options.yes)
      await applyLive(api, plan.planId, options.json)
    })
  withExample(command, 'drawbridge up hello.example.test --server 25 --port 3000 --expires-in 2h')
}

export function addDown(program: Command): void {
  const command = throughApi(program.command('down <host>'))
    .description('ask, then take a host off the air')
    .option('-y, --yes', 'do not ask')
    .action(async (host: string, options: Connected & { yes?: boolean }) => {
      const { insistOn } = await import('../../terminal/declare.ts')
      const { removeLive } = await import('../live-run.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const api = await reach(options)
      const planId = await planIdOf(api, host)
      await insistOn(`Take ${host} off the air?`, options.yes)
      await removeLive(api, planId, options.json)
    })
  withExample(command, 'drawbridge down hello.example.test')
}

export function addPlan(program: Command): void {
  const command = throughApi(withExposure(program.command('plan <host>')))
    .description('check backend, name, certificate and edge, and show what an apply would do; changes nothing')
    .action(async (host: string, options: ExposureOptions) => {
      const { planLines } = await import('../views/plan.ts')
      const plan = await planFor(await reach(options), host, options)
      const next = `Next: drawbridge apply ${plan.planId}`
      tell({ body: plan, lines: (screen) => [...planLines(plan, screen, Date.now()), '', next] }, options.json)
    })
  withExample(command, 'drawbridge plan hello.example.test --server 25 --port 3000 --health /healthz')
}

export function addApply(program: Command): void {
  const command = throughApi(program.command('apply <planId>'))
    .description('make a plan real: certificate, proxy and DNS together, or everything is put back')
    .action(async (planId: string, options: Connected) => {
      const { applyLive } = await import('../live-run.ts')
      await applyLive(await reach(options), planId, options.json)
    })
  withExample(command, 'drawbridge apply plan_4c7p0wq9d2f6h8k1m3n5r7t9v0')
}

export function addRemove(program: Command): void {
  const command = throughApi(program.command('remove <planOrHost>'))
    .description('take what a plan put on the air off it again: DNS first, then the proxy')
    .action(async (planOrHost: string, options: Connected) => {
      const { removeLive } = await import('../live-run.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const api = await reach(options)
      await removeLive(api, await planIdOf(api, planOrHost), options.json)
    })
  withExample(command, 'drawbridge remove hello.example.test')
}

export function addExtend(program: Command): void {
  const command = throughApi(program.command('extend <planId>'))
    .description('prolong the life of an exposure, counted from now; never shortens it')
    .requiredOption('--for <duration>', 'such as 30m, 2h or 7d')
    .action(async (planId: string, options: Connected & { for: string }) => {
      const seconds = parseDuration(options.for, '--for')
      const extended = await (await reach(options)).extendPlan(planId, seconds)
      tell({ body: extended, lines: () => [`${planId} lives until ${extended.expiresAt}.`] }, options.json)
    })
  withExample(command, 'drawbridge extend plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 --for 2h')
}

export function addRenew(program: Command): void {
  const command = throughApi(program.command('renew <planOrHost>'))
    .description("renew a host's certificate now, due or not, within the order budget")
    .action(async (planOrHost: string, options: Connected) => {
      const { planIdOf } = await import('../plan-of.ts')
      const api = await reach(options)
      const renewed = await api.renewPlan(await planIdOf(api, planOrHost))
      const { names, notAfter, source } = renewed.certificate
      const how = source === 'issued' ? 'The authority issued it just now' : 'It was in the folders'
      const lines = () => [
        `${renewed.host} is served with a certificate for ${names.join(', ')}, valid until ${notAfter}. ${how}.`,
        ...renewed.warnings,
      ]
      tell({ body: renewed, lines }, options.json)
    })
  withExample(command, 'drawbridge renew hello.example.test')
}
