import { diagnosisIn } from '../client/advice.ts'
import type { ExposureOptions, HostRow } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { suggesting } from '../client/did-you-mean.ts'
import { ownerToSend } from '../client/owner-of.ts'
import * as take from './arguments.ts'
import { allChangeTools } from './change-tools.ts'
import { planOf } from './exposed-plan.ts'
import { TOOLS_FOR } from './failure.ts'
import * as shape from './shapes.ts'
import { defined, type Tool, tool } from './tool.ts'

const READ_ONLY = { readOnlyHint: true, openWorldHint: false } as const

/** The API as tools for agents. A call gets and spends its own capability, which is never part of an answer. */
export const toolsOf = (client: DrawbridgeClient, me?: string): readonly Tool[] => [
  ...readTools(client),
  planTool(client, me),
  ...allChangeTools(client, me),
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
    description: 'Lists the hosts that the edge serves with their badges, the worst first.',
    annotations: READ_ONLY,
    input: take.HostsArguments,
    output: shape.HostsShape,
    run: async ({ limit, verbose, needsAttention, ...query }) => {
      const asked = { ...defined(query), ...(needsAttention && { needsAttention: 'true' as const }) }
      const page = await client.hosts({ sort: 'badge', ...asked, limit: String(limit) })
      if (verbose) return page
      return brief({ ...page, hosts: page.hosts.map(shortRow) }, false, PAGE_DETAILS)
    },
  }),
  tool({
    name: 'check_host',
    title: 'Get the last check of a host',
    description: 'Returns the state of one host: last check, server, path of its configuration file, plan.',
    annotations: READ_ONLY,
    input: take.HostArgument,
    output: shape.HealthShape,
    run: async ({ host, verbose }) => brief(await suggesting(client, host, client.health(host)), verbose, HOST_DETAILS),
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
      const diagnosis = diagnosisIn(await suggesting(client, host, client.diagnose(host)), TOOLS_FOR)
      // A link that is well tells nothing about the cause.
      return verbose ? diagnosis : { ...diagnosis, chain: diagnosis.chain.filter(({ ok }) => ok !== true) }
    },
  }),
  tool({
    name: 'wait_for_host',
    title: 'Wait for the badge of a host',
    description:
      'Waits until a host has a badge, for at most timeoutSeconds. reached: false comes with the badge that it has then.',
    annotations: READ_ONLY,
    input: take.WaitArguments,
    output: shape.WaitedShape,
    run: async ({ host, badge, timeoutSeconds }, report) => {
      const timeoutMs = timeoutSeconds * 1000
      const onChange = (health: { badge: string }) => report(`The badge is ${health.badge}.`)
      const { reached, health } = await client.waitForHost(host, { badge, timeoutMs, onChange })
      const known = health ?? (await suggesting(client, host, client.health(host)))
      return { reached, ...brief(known, false, HOST_DETAILS) }
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
    description: 'Lists recent plans in every state, newest first.',
    annotations: READ_ONLY,
    input: take.PlansArguments,
    output: shape.PlansShape,
    run: async ({ limit, cursor, verbose }) =>
      brief(await client.listPlans({ limit: String(limit), ...defined({ cursor }) }), verbose, ['health']),
  }),
  tool({
    name: 'recent_events',
    title: 'Get recent events',
    description: 'Lists the newest events, such as applied exposures, changed badges and certificates.',
    annotations: READ_ONLY,
    input: take.EventsArguments,
    output: shape.EventsShape,
    run: async ({ limit, ...query }) =>
      brief(await client.recentEvents({ ...defined(query), limit: String(limit) }), false, ['head', 'nextBefore']),
  }),
  tool({
    name: 'compare_exposure',
    title: 'Compare an exposure with its plan',
    description: 'Lists how files, DNS records and certificate differ from what was applied. Changes nothing.',
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
      'Checks backend health, DNS name and certificate, and lists what an apply would change. With replaces, plans a change of an applied exposure. Changes nothing; the plan is stored until it expires.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    input: take.ExposureArguments,
    inputUnder: take.exposureArgumentsUnder,
    judge: take.hostOrLabel,
    output: shape.PlanShape,
    run: async ({ host, zone, subdomain, expiresIn, replaces, owner, note, options: given, ...more }) => {
      const request = { ...more, ...(await nameOf(client, { host, zone, subdomain })) }
      const options = given as ExposureOptions | undefined
      // A change keeps the former owner, unless the caller names one.
      const named = owner ?? (replaces === undefined ? await ownerToSend(client, me) : undefined)
      return client.plan({ ...request, ...defined({ expiresIn, replaces, owner: named, note, options }) })
    },
  })

/** The zone and the label of a new host. The service refuses a zone that it does not manage. */
async function nameOf(
  client: DrawbridgeClient,
  { host, zone = '', subdomain = '' }: take.NewHost,
): Promise<{ readonly zone: string; readonly subdomain: string }> {
  if (host === undefined) return { zone, subdomain }
  const name = host.toLowerCase().replace(/\.$/, '')
  const { zones } = await client.policy()
  const longest = zones.filter((one) => name.endsWith(`.${one}`)).toSorted((a, b) => b.length - a.length)[0]
  const label = longest === undefined ? (name.split('.', 1)[0] ?? '') : name.slice(0, -longest.length - 1)
  return { subdomain: label, zone: name.slice(label.length + 1) || name }
}

/** At most 160 characters for a name of usual length. What is as usual is left out. */
const shortRow = ({ host, badge, server, managed, planId, blocked, maintenance, muted }: HostRow) => ({
  host,
  badge,
  server,
  ...(!managed && { managed }),
  ...(planId !== undefined && { planId }),
  ...(blocked && { blocked }),
  ...(maintenance && { maintenance }),
  ...(muted && { muted: true }),
})

/** What an agent seldom needs. `verbose` returns it, too. */
const HOST_DETAILS = ['strip', 'latencies', 'checkedAt']
const PAGE_DETAILS = ['servers', 'at', 'patterns', 'edges']
const PLAN_DETAILS = ['digest', 'events', 'evidence', 'budget', 'fingerprint', 'lastRun']
const POLICY_DETAILS = ['rateLimits', 'callOrder', 'conflictingRecordTypes', 'capability', 'adminToken']

/** The body without members of these names, at every depth. */
const brief = (body: object, verbose: boolean, details: readonly string[]): object =>
  verbose
    ? body
    : JSON.parse(JSON.stringify(body, (name, value: unknown) => (details.includes(name) ? undefined : value)))
