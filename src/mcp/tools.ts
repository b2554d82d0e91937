import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { diagnosisIn } from '../client/advice.ts'
import type { ExposureOptions, Policy } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { isSameOwner, otherOwnerOf, ownerToSend } from '../client/owner-of.ts'
import { planIdOf } from '../client/plan-of.ts'
import { waitForBadge } from '../client/wait.ts'
import type { FieldError } from '../model/errors.ts'
import * as take from './arguments.ts'
import { answer, badArguments, failure, TOOLS_FOR, Unconfirmed, UnknownPlan } from './failure.ts'
import * as shape from './shapes.ts'

export interface Tool {
  readonly name: string
  /** True for tools that change DNS, the proxy or certificates. */
  readonly changes: boolean
  /** The entry in the list of tools, with the zones and servers of the policy if it is known. */
  list(policy: Policy | undefined): ListedTool
  /** Never rejects: a failure is a result with `isError`. */
  call(given: Readonly<Record<string, unknown>>, report: Report): Promise<CallToolResult>
}

/** Tells the caller what happens while a tool works. The text is ours: it holds a step or a badge, never text of others. */
type Report = (message: string) => void

interface Declared<T extends TObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: ListedTool['annotations']
  readonly changes?: boolean
  readonly input: T
  /** What the schema cannot say of valid arguments. Undefined: nothing is wrong. */
  readonly judge?: (given: Static<T>) => FieldError | undefined
  /** Listed in place of `input` when the policy is known. */
  readonly inputUnder?: (policy: Policy) => TObject
  readonly output: TObject
  readonly run: (given: Static<T>, report: Report) => Promise<object>
}

const READ_ONLY = { readOnlyHint: true, openWorldHint: false } as const

/** The API as tools for agents. A call gets and spends its own capability, which is never part of an answer. */
export const toolsOf = (client: DrawbridgeClient, me?: string): readonly Tool[] => [
  ...readTools(client),
  planTool(client, me),
  ...changeTools(client, me),
  ...driftTools(client, me),
]

const readTools = (client: DrawbridgeClient): Tool[] => [
  tool({
    name: 'get_policy',
    title: 'Get the policy',
    description: 'Returns the zones, servers and ports that may be used, and what calls from this machine may do.',
    annotations: READ_ONLY,
    input: take.PolicyArguments,
    output: shape.PolicyShape,
    run: async ({ verbose }) => brief(await client.policy(), verbose, POLICY_DETAILS),
  }),
  tool({
    name: 'list_hosts',
    title: 'List the hosts',
    description: 'Lists the hosts that the edge serves, with the badge of their last check.',
    annotations: READ_ONLY,
    input: take.HostsArguments,
    output: shape.HostsShape,
    run: async ({ limit, verbose, ...query }) =>
      brief(await client.hosts({ ...defined(query), limit: String(limit) }), verbose, HOST_DETAILS),
  }),
  tool({
    name: 'check_host',
    title: 'Get the last check of a host',
    description: 'Returns the state of one host: last check, server, path of its configuration file, plan.',
    annotations: READ_ONLY,
    input: take.HostArgument,
    output: shape.HealthShape,
    run: async ({ host, verbose }) => brief(await client.health(host), verbose, HOST_DETAILS),
  }),
  tool({
    name: 'diagnose_host',
    title: 'Diagnose a host',
    description:
      'Checks every link from the DNS name to the backend now and names one cause with advice. Changes nothing.',
    annotations: READ_ONLY,
    input: take.HostArgument,
    output: shape.DiagnosisShape,
    run: async ({ host, verbose }) => {
      const diagnosis = diagnosisIn(await client.diagnose(host), TOOLS_FOR)
      // A link that is well tells nothing about the cause.
      return verbose ? diagnosis : { ...diagnosis, chain: diagnosis.chain.filter(({ ok }) => ok !== true) }
    },
  }),
  tool({
    name: 'wait_for_host',
    title: 'Wait for the badge of a host',
    description:
      'Waits until a host has a badge, RUNNING by default, for at most timeoutSeconds. Returns reached: false with the badge that it has then. Changes nothing.',
    annotations: READ_ONLY,
    input: take.WaitArguments,
    output: shape.WaitedShape,
    run: async ({ host, badge, timeoutSeconds }, report) => {
      const onChange = (health: { badge: string }) => report(`The badge is ${health.badge}.`)
      const { reached, health } = await waitForBadge(client, host, badge, timeoutSeconds * 1000, onChange)
      return { reached, ...brief(health ?? (await client.health(host)), false, HOST_DETAILS) }
    },
  }),
  tool({
    name: 'get_plan',
    title: 'Get a plan',
    description: 'Returns a plan by its id, or the applied plan of a host: state, request, checks, changes, runs.',
    annotations: READ_ONLY,
    input: take.GetPlanArguments,
    judge: take.oneOfBoth,
    output: shape.PlanShape,
    run: async ({ verbose, ...given }) =>
      brief(await client.getPlan(await planOf(client, given)), verbose, PLAN_DETAILS),
  }),
  tool({
    name: 'list_plans',
    title: 'List the plans',
    description:
      'Lists recent plans in every state, newest first, with the address and network of whoever made them. Works only from the internal network.',
    annotations: READ_ONLY,
    input: take.PlansArguments,
    output: shape.PlansShape,
    run: async ({ limit, cursor, verbose }) =>
      brief(await client.listPlans({ limit: String(limit), ...defined({ cursor }) }), verbose, ['health']),
  }),
  tool({
    name: 'recent_events',
    title: 'Get recent events',
    description:
      'Lists the newest events, such as applied exposures, changed badges and certificates. Works only from the internal network.',
    annotations: READ_ONLY,
    input: take.EventsArguments,
    output: shape.EventsShape,
    run: async ({ limit, ...query }) =>
      brief(await client.recentEvents({ ...defined(query), limit: String(limit) }), false, ['head', 'nextBefore']),
  }),
  tool({
    name: 'compare_exposure',
    title: 'Compare an exposure with its plan',
    description:
      'Lists how files, DNS records and certificate differ from what was applied. Changes nothing. Works only from the internal network.',
    annotations: READ_ONLY,
    input: take.ExposedArguments,
    judge: take.oneOfBoth,
    output: shape.DriftShape,
    run: async (given) => client.drift(await planOf(client, given)),
  }),
]

const planTool = (client: DrawbridgeClient, me: string | undefined): Tool =>
  tool({
    name: 'plan_exposure',
    title: 'Plan an exposure',
    description:
      'Checks backend health, DNS name and certificate, and lists what an apply would change, with its steps in order. With replaces, plans a change of an applied exposure. Changes nothing; the plan is stored until it expires.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input: take.ExposureArguments,
    inputUnder: take.exposureArgumentsUnder,
    output: shape.PlanShape,
    run: async ({ expiresIn, replaces, owner, note, options: given, ...request }) => {
      const options = given as ExposureOptions | undefined
      // A change keeps the former owner, unless the caller names one.
      const named = owner ?? (replaces === undefined ? await ownerToSend(client, me) : undefined)
      return client.plan({ ...request, ...defined({ expiresIn, replaces, owner: named, note, options }) })
    },
  })

const changeTools = (client: DrawbridgeClient, me: string | undefined): Tool[] => [
  tool({
    name: 'apply_plan',
    title: 'Apply a plan',
    description:
      'Makes exactly the changes of the plan: certificate, proxy and DNS together, verified on the Primary. Undoes all changes if one fails. Works only from the internal network.',
    // Idempotent: the service refuses a plan that is already applied.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    changes: true,
    input: take.ApplyArguments,
    output: shape.AppliedShape,
    run: async ({ planId, confirmOwner }, report) => {
      await assertOwn(client, await planOf(client, { planId }), 'apply', { me, confirmOwner })
      return client.applyPlan(planId, steps(report))
    },
  }),
  tool({
    name: 'remove_exposure',
    title: 'Remove an exposure',
    description:
      'Removes what the plan exposed: DNS first, then the proxy. Visitors lose the name at once. Works only from the internal network.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    changes: true,
    input: take.ChangedArguments,
    judge: take.oneOfBoth,
    output: shape.RemovedShape,
    run: async (given, report) => client.removePlan(await ownPlanOf(client, given, me), steps(report)),
  }),
  tool({
    name: 'extend_exposure',
    title: 'Extend an exposure',
    description:
      'Sets a later end of an exposure that has one, in seconds from now. Never shortens it. Works only from the internal network.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    changes: true,
    input: take.ExtendArguments,
    judge: take.oneOfBoth,
    output: shape.ExtendedShape,
    run: async ({ expiresIn, ...given }) => client.extendPlan(await ownPlanOf(client, given, me), expiresIn),
  }),
]

/** What to do about a host that is not as it was applied. */
const driftTools = (client: DrawbridgeClient, me: string | undefined): Tool[] => [
  tool({
    name: 'repair_exposure',
    title: 'Repair an exposure',
    description:
      'Writes certificate, proxy entry and DNS records again as they were applied. Refuses to overwrite what was changed outside Drawbridge unless overwrite is true: call compare_exposure and ask a person before you send it. Works only from the internal network.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    changes: true,
    input: take.RepairArguments,
    judge: take.oneOfBoth,
    output: shape.RepairedShape,
    run: async ({ overwrite, ...exposed }, report) =>
      client.repairPlan(await ownPlanOf(client, exposed, me), { overwrite, ...steps(report) }),
  }),
  tool({
    name: 'accept_exposure',
    title: 'Accept a host as it stands',
    description:
      'Leaves the host on the air as it stands and stops managing it: nobody renews its certificate or removes it any more. Ask a person first. Works only from the internal network.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    changes: true,
    input: take.ChangedArguments,
    judge: take.oneOfBoth,
    output: shape.ReleasedShape,
    run: async (given, report) => client.acceptPlan(await ownPlanOf(client, given, me), steps(report)),
  }),
  tool({
    name: 'renew_certificate',
    title: 'Renew a certificate',
    description:
      'Renews the certificate of an exposed host now, within the order budget. Drawbridge also renews certificates automatically. Works only from the internal network.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    changes: true,
    input: take.ChangedArguments,
    judge: take.oneOfBoth,
    output: shape.RenewedShape,
    run: async (given, report) => client.renewPlan(await ownPlanOf(client, given, me), steps(report)),
  }),
]

/** Reports each step of a run as it starts and ends. */
const steps = (report: Report) => ({
  onProgress: ({ step, name }: { readonly step: string; readonly name: string }) => report(`${step}: ${name}`),
})

/** What an agent seldom needs. `verbose` returns it, too. */
const HOST_DETAILS = ['strip', 'latencies', 'checkedAt']
const PLAN_DETAILS = ['digest', 'events', 'evidence', 'budget', 'fingerprint', 'lastRun']
const POLICY_DETAILS = ['rateLimits', 'callOrder', 'conflictingRecordTypes', 'capability', 'adminToken']

/** The body without members of these names, at every depth. */
const brief = (body: object, verbose: boolean, details: readonly string[]): object =>
  verbose
    ? body
    : JSON.parse(JSON.stringify(body, (name, value: unknown) => (details.includes(name) ? undefined : value)))

/** The plan of an exposure. The schemas of the arguments require one of both. */
async function planOf(client: DrawbridgeClient, { planId, host = '' }: take.Exposed): Promise<string> {
  if (planId === undefined) return planIdOf(client, host)
  // Other text could be no part of an address of the API.
  if (!/^[0-9A-Za-z_-]+$/.test(planId)) throw new UnknownPlan()
  return planId
}

/** The same for a tool that changes the exposure: it must be the caller's own, or nobody's, or confirmed. */
async function ownPlanOf(
  client: DrawbridgeClient,
  { confirmOwner, ...exposed }: take.Exposed & { readonly confirmOwner?: string | undefined },
  me: string | undefined,
): Promise<string> {
  const planId = await planOf(client, exposed)
  await assertOwn(client, planId, 'other', { me, confirmOwner })
  return planId
}

async function assertOwn(
  client: DrawbridgeClient,
  planId: string,
  act: 'apply' | 'other',
  { me, confirmOwner }: { readonly me: string | undefined; readonly confirmOwner: string | undefined },
): Promise<void> {
  const other = await otherOwnerOf(client, planId, act, me)
  if (other && !(confirmOwner !== undefined && isSameOwner(confirmOwner, other.owner))) throw new Unconfirmed(other)
}

function tool<T extends TObject>(declared: Declared<T>): Tool {
  const { input, judge, inputUnder, output, run, changes = false, ...listed } = declared
  const { name } = listed
  return {
    name,
    changes,
    list: (policy) => ({
      ...listed,
      inputSchema: jsonSchema(policy && inputUnder ? inputUnder(policy) : input),
      outputSchema: jsonSchema(output),
    }),
    async call(given, report) {
      const { args, errors } = take.taken(input, given)
      if (errors) return badArguments(name, errors)
      const fault = judge?.(args)
      return fault ? badArguments(name, [fault]) : run(args, report).then(answer, failure)
    },
  }
}

/** What a client may leave out is not required: an argument with a default. */
function jsonSchema({ properties, required: _, ...schema }: TObject): ListedTool['inputSchema'] {
  const needed = Object.entries<TSchema>(properties)
    .filter(([, property]) => !Type.IsOptional(property) && !('default' in property))
    .map(([name]) => name)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    type: 'object',
    properties,
    ...(needed.length > 0 && { required: needed }),
  }
}

/** A copy without undefined members. */
const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
