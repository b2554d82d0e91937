import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { Policy } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import * as take from './arguments.ts'
import { answer, badArguments, failure } from './failure.ts'
import * as shape from './shapes.ts'

export interface Tool {
  readonly name: string
  /** Changes the world: DNS, the proxy, certificates. */
  readonly changes: boolean
  /** As agents are told of it, with the zones and servers of the policy where it is known. */
  list(policy: Policy | undefined): ListedTool
  /** Never rejects: what goes wrong is a result with `isError`. */
  call(given: Readonly<Record<string, unknown>>): Promise<CallToolResult>
}

interface Declared<T> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: ListedTool['annotations']
  readonly changes?: boolean
  readonly input: z.ZodType<T>
  /** What is listed in place of `input`, where the policy says more. */
  readonly inputUnder?: (policy: Policy) => z.ZodType
  readonly output: z.ZodType
  readonly run: (given: T) => Promise<object>
}

const LOOKS = { readOnlyHint: true, openWorldHint: false } as const

/** The API as tools for agents. Credentials are got and spent inside one call and are never part of an answer. */
export const toolsOf = (client: DrawbridgeClient): readonly Tool[] => [
  ...looks(client),
  planning(client),
  ...changes(client),
]

const looks = (client: DrawbridgeClient): Tool[] => [
  tool({
    name: 'get_policy',
    title: 'What is allowed here',
    description: 'The zones, servers and ports that may be used, and what calls from this machine may do.',
    annotations: LOOKS,
    input: take.NoArguments,
    output: shape.PolicyShape,
    run: () => client.policy(),
  }),
  tool({
    name: 'list_hosts',
    title: 'Every host and how it does',
    description: 'The hosts that the edge serves, with their badges, as they were seen last.',
    annotations: LOOKS,
    input: take.HostsArguments,
    output: shape.HostsShape,
    run: ({ limit, ...query }) => client.hosts({ ...defined(query), limit: String(limit) }),
  }),
  tool({
    name: 'check_host',
    title: "A host's last check",
    description: 'How one host does: last check, server, path of its configuration file, plan.',
    annotations: LOOKS,
    input: take.HostArgument,
    output: shape.HealthShape,
    run: ({ host }) => client.health(host),
  }),
  tool({
    name: 'diagnose_host',
    title: 'Why a host does not do well',
    description:
      'Looks now, link by link from the name to the backend, and names one cause with advice. Changes nothing.',
    annotations: LOOKS,
    input: take.HostArgument,
    output: shape.DiagnosisShape,
    run: ({ host }) => client.diagnose(host),
  }),
]

const planning = (client: DrawbridgeClient): Tool =>
  tool({
    name: 'plan_exposure',
    title: 'Plan an exposure',
    description:
      'Checks backend health, DNS name and certificate and tells what an apply would do. Changes no system; the plan itself is kept until it expires.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input: take.ExposureArguments,
    inputUnder: take.exposureArgumentsUnder,
    output: shape.PlanShape,
    run: ({ expiresIn, ...request }) => client.plan(expiresIn === undefined ? request : { ...request, expiresIn }),
  })

const changes = (client: DrawbridgeClient): Tool[] => [
  tool({
    name: 'apply_plan',
    title: 'Put a plan on the air',
    description:
      'Makes exactly what the plan says: certificate, proxy and DNS together, verified on the Primary, or everything is put back. Only from the internal network.',
    // It only adds, and a plan that is applied already is refused.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    changes: true,
    input: take.PlanArgument,
    output: shape.AppliedShape,
    run: ({ planId }) => client.applyPlan(planId),
  }),
  tool({
    name: 'remove_exposure',
    title: 'Take an exposure off the air',
    description:
      'Takes away what the plan put on the air: DNS first, then the proxy. Visitors lose the name at once. Only from the internal network.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    changes: true,
    input: take.PlanArgument,
    output: shape.RemovedShape,
    run: ({ planId }) => client.removePlan(planId),
  }),
]

function tool<T>({ input, inputUnder, output, run, changes = false, ...told }: Declared<T>): Tool {
  const { name } = told
  return {
    name,
    changes,
    list: (policy) => ({
      ...told,
      inputSchema: jsonSchema(policy && inputUnder ? inputUnder(policy) : input, 'input'),
      outputSchema: jsonSchema(output, 'output'),
    }),
    async call(given) {
      const { data, error } = input.safeParse(given)
      return error ? badArguments(name, take.argumentErrors(error, given)) : run(data).then(answer, failure)
    },
  }
}

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output') =>
  ({ ...z.toJSONSchema(schema, { target: 'draft-7', io }), type: 'object' }) as ListedTool['inputSchema']

/** Without the members that were left out. */
const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
