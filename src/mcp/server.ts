import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { DrawbridgeClient } from '../client/client.ts'
import { answer, failure } from './failure.ts'
import * as shape from './shapes.ts'

const INSTRUCTIONS = `Drawbridge puts a backend on the air under a DNS name, with reverse proxy and HTTPS, or not at all.
Call get_policy first, then plan_exposure (it changes nothing), show its changes, then apply_plan; remove_exposure takes it off again.
An error is JSON with code, detail, retryable and nextAction: do what nextAction says, and repeat a call only when retryable is true.`

const LOOKS = { readOnlyHint: true, openWorldHint: false } as const

interface McpOptions {
  readonly version: string
  /** Leaves out what changes the world. */
  readonly readOnly: boolean
}

/** The API as tools for agents. Credentials are got and spent inside one call and are never part of an answer. */
export function mcpServer(client: DrawbridgeClient, { version, readOnly }: McpOptions): McpServer {
  const server = new McpServer({ name: 'drawbridge', version }, { instructions: INSTRUCTIONS })
  addLooks(server, client)
  addPlanning(server, client)
  if (!readOnly) addChanges(server, client)
  return server
}

function addLooks(server: McpServer, client: DrawbridgeClient): void {
  server.registerTool(
    'get_policy',
    {
      title: 'What is allowed here',
      description: 'The zones, servers and ports that may be used, and what calls from this machine may do.',
      outputSchema: shape.PolicyShape,
      annotations: LOOKS,
    },
    () => told(() => client.policy()),
  )
  server.registerTool(
    'list_hosts',
    {
      title: 'Every host and how it does',
      description: 'The hosts that the edge serves, with their badges, as they were seen last.',
      inputSchema: shape.HostsArguments,
      outputSchema: shape.HostsShape,
      annotations: LOOKS,
    },
    ({ limit, ...query }) => told(() => client.hosts({ ...defined(query), limit: String(limit) })),
  )
  server.registerTool(
    'check_host',
    {
      title: "A host's last check",
      description: 'How one host does: last check, server, path of its configuration file, plan.',
      inputSchema: shape.HostArgument,
      outputSchema: shape.HealthShape,
      annotations: LOOKS,
    },
    ({ host }) => told(() => client.health(host)),
  )
  server.registerTool(
    'diagnose_host',
    {
      title: 'Why a host does not do well',
      description:
        'Looks now, link by link from the name to the backend, and names one cause with advice. Changes nothing.',
      inputSchema: shape.HostArgument,
      outputSchema: shape.DiagnosisShape,
      annotations: LOOKS,
    },
    ({ host }) => told(() => client.diagnose(host)),
  )
}

function addPlanning(server: McpServer, client: DrawbridgeClient): void {
  server.registerTool(
    'plan_exposure',
    {
      title: 'Plan an exposure',
      description:
        'Checks backend health, DNS name and certificate and tells what an apply would do. Changes no system; the plan itself is kept until it expires.',
      inputSchema: shape.ExposureArguments,
      outputSchema: shape.PlanShape,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    ({ expiresIn, ...request }) =>
      told(() => client.plan(expiresIn === undefined ? request : { ...request, expiresIn })),
  )
}

function addChanges(server: McpServer, client: DrawbridgeClient): void {
  server.registerTool(
    'apply_plan',
    {
      title: 'Put a plan on the air',
      description:
        'Makes exactly what the plan says: certificate, proxy and DNS together, verified on the Primary, or everything is put back. Only from the internal network.',
      inputSchema: shape.PlanArgument,
      outputSchema: shape.AppliedShape,
      // It only adds, and a plan that is applied already is refused.
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ planId }) => told(() => client.applyPlan(planId)),
  )
  server.registerTool(
    'remove_exposure',
    {
      title: 'Take an exposure off the air',
      description:
        'Takes away what the plan put on the air: DNS first, then the proxy. Visitors lose the name at once. Only from the internal network.',
      inputSchema: shape.PlanArgument,
      outputSchema: shape.RemovedShape,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ planId }) => told(() => client.removePlan(planId)),
  )
}

const told = (call: () => Promise<object>): Promise<CallToolResult> => call().then(answer, failure)

/** Without the members that were left out. */
const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
