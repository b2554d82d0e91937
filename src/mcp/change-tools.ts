import type { DrawbridgeClient } from '../client/client.ts'
import { suggesting } from '../client/did-you-mean.ts'
import { planMaintenance } from '../client/maintenance.ts'
import { type RunAction, STEPS_OF } from '../model/run.ts'
import * as take from './arguments.ts'
import { assertOwn, ownPlanOf, planOf } from './exposed-plan.ts'
import * as shape from './shapes.ts'
import { defined, type Report, type Tool, tool } from './tool.ts'

/** The tools that change something, or whom it is told. */
export const allChangeTools = (client: DrawbridgeClient, me: string | undefined): Tool[] => [
  ...changeTools(client, me),
  ...driftTools(client, me),
  ...quietTools(client, me),
]

const changeTools = (client: DrawbridgeClient, me: string | undefined): Tool[] => [
  tool({
    name: 'apply_plan',
    title: 'Apply a plan',
    description:
      'Makes exactly the changes of the plan: certificate, proxy and DNS together, verified on the Primary. Undoes all changes if one fails.',
    // Idempotent: the service refuses a plan that is already applied.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    changes: true,
    input: take.ApplyArguments,
    output: shape.DoneShape,
    run: async ({ planId, confirmOwner }, report) => {
      await assertOwn(client, await planOf(client, { planId }), 'apply', { me, confirmOwner })
      return client.applyPlan(planId, await steps(client, planId, report))
    },
  }),
  tool({
    name: 'remove_exposure',
    title: 'Remove an exposure',
    description: 'Removes what the plan exposed: DNS first, then the proxy. Visitors lose the name at once.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    changes: true,
    input: take.ChangedArguments,
    judge: take.oneOfBoth,
    output: shape.DoneShape,
    run: async (given, report) => client.removePlan(await ownPlanOf(client, given, me), told(report, 'remove')),
  }),
  tool({
    name: 'extend_exposure',
    title: 'Extend an exposure',
    description: 'Sets a later end of an exposure that has one, in seconds from now. Never shortens it.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    changes: true,
    input: take.ExtendArguments,
    judge: take.oneOfBoth,
    output: shape.DoneShape,
    run: async ({ expiresIn, ...given }) => client.extendPlan(await ownPlanOf(client, given, me), expiresIn),
  }),
]

/** What to do about a host that is not as it was applied. */
const driftTools = (client: DrawbridgeClient, me: string | undefined): Tool[] => [
  tool({
    name: 'repair_exposure',
    title: 'Repair an exposure',
    description:
      'Writes certificate, proxy entry and DNS records again as they were applied. Refuses to overwrite what was changed outside Drawbridge unless overwrite is true: call compare_exposure and ask a person before you send it.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    changes: true,
    input: take.RepairArguments,
    judge: take.oneOfBoth,
    output: shape.DoneShape,
    run: async ({ overwrite, ...exposed }, report) =>
      client.repairPlan(await ownPlanOf(client, exposed, me), { overwrite, ...told(report, 'repair') }),
  }),
  tool({
    name: 'accept_exposure',
    title: 'Accept a host as it stands',
    description:
      'Leaves the host on the air as it stands and stops managing it: nobody renews its certificate or removes it any more. Ask a person first.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    changes: true,
    input: take.ChangedArguments,
    judge: take.oneOfBoth,
    output: shape.DoneShape,
    run: async (given, report) => client.acceptPlan(await ownPlanOf(client, given, me), told(report, 'accept')),
  }),
  tool({
    name: 'renew_certificate',
    title: 'Renew a certificate',
    description:
      'Renews the certificate of an exposed host now, within the order budget. Drawbridge also renews certificates automatically.',
    annotations: { readOnlyHint: false, destructiveHint: false },
    changes: true,
    input: take.ChangedArguments,
    judge: take.oneOfBoth,
    output: shape.DoneShape,
    run: async (given, report) => client.renewPlan(await ownPlanOf(client, given, me), told(report, 'renew')),
  }),
]

/** For work on a host: visitors see a page, and nobody is alerted. */
const quietTools = (client: DrawbridgeClient, me: string | undefined): Tool[] => [
  tool({
    name: 'set_maintenance',
    title: 'Show or end the maintenance page',
    description: 'Answers visitors with 503 and a small page, or passes them on again. A change without a gap.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    changes: true,
    input: take.MaintenanceArguments,
    judge: take.oneOfBoth,
    output: shape.DoneShape,
    run: async ({ on, retryAfter, ...given }, report) => {
      const planId = await ownPlanOf(client, given, me)
      const now = await client.getPlan(planId)
      if (!on && now.request.options?.maintenance === undefined) return now
      const plan = await planMaintenance(client, planId, on && (retryAfter === undefined ? {} : { retryAfter }))
      return client.applyPlan(plan.planId, reported(report, plan.steps.length))
    },
  }),
  tool({
    name: 'mute_host',
    title: 'Mute a host, or end its mute',
    description: 'A muted host is still checked, but its trouble causes no alert.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    changes: true,
    input: take.MuteArguments,
    output: shape.MutedShape,
    run: async ({ host, on, ...request }) =>
      suggesting(client, host, on ? client.mute(host, defined(request)) : client.unmute(host)),
  }),
]

/** Reports each step of a run as it starts and ends. `total`: as many reports as a run of so many steps makes. */
const reported = (report: Report, count: number) => ({
  onProgress: ({ step, name }: { readonly step: string; readonly name: string }) =>
    report(`${step}: ${name}`, 2 * count + RUN_EVENTS),
})
/** A run tells its own beginning and its end. */
const RUN_EVENTS = 2

const told = (report: Report, action: RunAction) => reported(report, STEPS_OF[action].length)

/** An apply has the steps that its plan names. */
const steps = async (client: DrawbridgeClient, planId: string, report: Report) =>
  reported(report, (await client.getPlan(planId)).steps.length)
