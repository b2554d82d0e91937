import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EdgeDescription, LabDescription } from '../../../lab/description.ts'
import { secretIn, statePaths } from '../../../lab/state.ts'
import { holdsExactly } from '../../../src/dns/read-back.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import { recordsOf } from '../../../src/model/receipt.ts'
import { hostLease } from '../../../src/model/run.ts'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { poll } from '../../../src/primitives/retry.ts'
import { type Exposure, eachExposure } from '../../../src/store/ports/exposures.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { type TransferredRecord, zoneRecords } from '../dns/zone-transfer.ts'
import { configurationFault, isPair, listing, serves, viewOf } from '../edge/edge-folder.ts'
import type { TestLab } from './lab.ts'
import { rowsOf, withStore } from './lab-store.ts'

export interface Allowances {
  /** The test itself broke the configuration of the edges. */
  readonly foreignFault?: boolean
  /** The test disturbed the Secondary, so it is not checked. */
  readonly withoutSecondary?: boolean
}

/** What is judged: a lab, or the network of the specification. */
export interface Judged {
  readonly description: Pick<LabDescription, 'zone' | 'dns' | 'edges'>
  readonly withStore: <T>(work: (store: Store) => Promise<T>) => Promise<T>
  readonly rows: <Row>(query: string) => Promise<Row[]>
  /** The state folders and the logs of all services. */
  readonly stateFolders: readonly string[]
  readonly logs: readonly string[]
  readonly secretFiles: readonly string[]
  /** When this use of a shared lab began: the plans of earlier users are over, and were judged by them. */
  readonly since?: number | undefined
  /** The command that runs a program on the machine of an edge. */
  readonly onMachineOf?: (server: string) => readonly string[]
}

function labJudged(lab: TestLab): Judged {
  const { service, log, tsigSecret, adminToken } = statePaths(lab.state)
  return {
    description: lab.description,
    withStore: (work) => withStore(lab, work),
    rows: async (query) => rowsOf(lab, query),
    stateFolders: [service],
    logs: [log],
    secretFiles: [tsigSecret, adminToken],
    since: lab.borrowedAt,
  }
}

const LEFT_BEHIND = 'was left behind'
const UNKNOWN = 'all there: unknown'

interface Books {
  readonly plans: readonly Plan[]
  readonly exposures: readonly Exposure[]
  readonly zone: readonly TransferredRecord[]
}

/**
 * Checks what must always be true, from outside: store, zone, both edges and the state folder. Throws an Error that lists all
 * violations. Skips `blocked` hosts. No run may be in progress.
 */
export const invariants = (lab: TestLab, allowances: Allowances = {}): Promise<void> =>
  judge(labJudged(lab), allowances)

export async function judge(judged: Judged, allowances: Allowances = {}): Promise<void> {
  // An agent that lost its caller in a validation ends it, and takes its files away, a moment after the run. An instance writes the pair
  // that another one ordered. A busy name server answers the next question.
  const mayPass = (sentence: string) => sentence.endsWith(LEFT_BEHIND) || sentence.endsWith(UNKNOWN)
  const broken = await poll(
    () => violations(judged, allowances),
    (found) => found.length === 0 || !found.every(mayPass),
    { firstMs: 500, withinMs: 60_000, clock: systemClock },
  )
  if (broken.length > 0) throw new Error(`Invariants are violated:\n- ${broken.join('\n- ')}`)
}

function violations(judged: Judged, allowances: Allowances): Promise<string[]> {
  const { primary, secondary } = judged.description.edges
  const edges = allowances.withoutSecondary ? [primary] : [primary, secondary]
  return judged.withStore(async (store) => {
    const { since = 0 } = judged
    const books: Books = {
      plans: (await store.listPlans({ limit: 100_000 })).filter(({ createdAt }) => createdAt >= since),
      exposures: await Array.fromAsync(eachExposure(store)),
      zone: await zoneRecords(judged),
    }
    return [
      ...(await brokenBooks(judged, store, books)),
      ...(await brokenNames(judged, books)),
      ...(await Promise.all(edges.map((edge) => brokenEdge(edge, books, { ...allowances, ...judged })))).flat(),
      ...leftInState(judged),
    ]
  })
}

async function brokenBooks(judged: Judged, store: Store, { plans, exposures }: Books): Promise<string[]> {
  const unfinished = await store.unfinishedRuns()
  const leases = await Promise.all(plans.map(({ host }) => store.findLease(hostLease(host), Date.now())))
  const held = new Map(exposures.map((exposure) => [exposure.planId, exposure]))
  const audit = await verifyAudit(store)
  return [
    ...unfinished.map(({ action, host }) => `a run to ${action} ${host} is unfinished`),
    ...new Set(leases.flatMap((lease) => (lease ? [`the lease "${lease.name}" was not released`] : []))),
    ...plans
      .filter(({ state }) => state === 'applying' || state === 'removing')
      .map(({ host, state }) => `the plan of ${host} is still ${state}`),
    ...plans
      .filter(
        ({ planId, state }) =>
          (state === 'applied' || state === 'blocked' ? state : undefined) !== held.get(planId)?.state,
      )
      .map(({ planId, host, state }) => `the plan of ${host} is ${state}, its exposure ${held.get(planId)?.state}`),
    ...(await overspent(judged)),
    ...(audit.ok ? [] : [audit.sentence]),
  ]
}

/** The number of runs of callers minus the number of spent capabilities. A release is a run to accept, and an adoption one to apply. */
async function overspent({ rows }: Judged): Promise<string[]> {
  const found = await rows<{ host: string; action: string }>(
    `select r.host, r.action from runs r where r.actor not in ('drawbridge', 'console') group by r.plan_id, r.host, r.action having count(*) >
      (select count(*) from capabilities c where c.plan_id = r.plan_id and c.action in (case r.action when 'update' then 'apply' else r.action end, case r.action when 'accept' then 'release' when 'apply' then 'adopt' end) and c.used_at is not null)`,
  )
  return found.map(({ host, action }) => `${host} has more runs to ${action} than capabilities were spent`)
}

async function brokenNames({ description }: Judged, { plans, exposures, zone }: Books): Promise<string[]> {
  const { dns, edges } = description
  const reader = dnsReader(dns.primary)
  const states = new Map(exposures.map(({ planId, state }) => [planId, state]))
  const receipts = new Map(exposures.map(({ planId, receipt }) => [planId, receipt]))
  const held = await Promise.all(
    plans.map(async (plan) => ({ plan, held: await holdsExactly(reader, recordsOf(plan, receipts.get(plan.planId))) })),
  )
  const hosts = new Set(exposures.map(({ host }) => host))
  const ownServers = zone.filter(({ type }) => type === 'NS').map(({ value }) => value.replace(/\.$/, ''))
  return [
    ...held
      .filter(({ plan, held }) => states.get(plan.planId) === 'applied' && held !== 'yes')
      .map(({ plan, held }) => `${plan.host} is applied, but its records are not all there: ${held}`),
    ...zone
      .filter(({ name }) => name.startsWith('_drawbridge.') && !hosts.has(name.replace('_drawbridge.', '')))
      .map(({ name }) => `the owner mark ${name} stands without an exposure`),
    ...zone
      .filter(
        ({ name }) => name.startsWith('_drawbridge.') && !zone.some((other) => `_drawbridge.${other.name}` === name),
      )
      .map(({ name }) => `the owner mark ${name} stands without its record`),
    ...zone
      .filter(({ type, value, name }) => type === 'A' && value === edges.primary.address && !ownServers.includes(name))
      .filter(({ name }) => !hosts.has(name))
      .map(({ name }) => `${name} points at the edge without an exposure`),
    ...zone
      .filter(({ name }) => name.startsWith('_acme-challenge.'))
      .map(({ name }) => `the challenge ${name} was left in the zone`),
  ]
}

async function brokenEdge(
  edge: EdgeDescription,
  { plans, exposures }: Books,
  { foreignFault, onMachineOf }: Allowances & Pick<Judged, 'onMachineOf'>,
): Promise<string[]> {
  const view = viewOf(edge)
  const byHost = new Map(exposures.map((exposure) => [exposure.host, exposure]))
  const isBlocked = (host: string) => byHost.get(host)?.state === 'blocked'
  const isTls = (host: string) => plans.find(({ planId }) => planId === byHost.get(host)?.planId)?.request.tls === true
  const known = [...new Set(plans.map(({ host }) => host))].filter((host) => !isBlocked(host))
  const served = await Promise.all(known.map((host) => serves(edge, host)))
  const ids = new Set(view.entries.values())
  const fault = foreignFault ? '' : await configurationFault(edge, onMachineOf?.(edge.server))
  return [
    ...(fault === '' ? [] : [`nginx would not load its configuration: ${fault}`]),
    ...[...view.hosts]
      .filter(([host, planId]) => planId !== undefined && byHost.get(host)?.planId !== planId)
      .map(([host]) => `${host} has a file without an exposure`),
    ...known
      .filter((host) => byHost.has(host) && view.hosts.get(host) !== byHost.get(host)?.planId)
      .map((host) => `${host} is applied and has no file of its plan`),
    ...known
      .filter((host, i) => served[i] !== view.hosts.has(host))
      .map((host) => `${host} has ${view.hosts.has(host) ? 'a' : 'no'} file, and nginx runs otherwise`),
    ...[...view.entries.keys(), ...known]
      .filter((host) => !isBlocked(host) && view.entries.has(host) !== isTls(host))
      .map((host) => `${host} has ${view.entries.has(host) ? 'a' : 'no'} certificate entry, its plan says otherwise`),
    ...[...new Set([...ids, ...view.certificates, ...view.keys])]
      .filter((id) => !(ids.has(id) && view.certificates.includes(id) && view.keys.includes(id) && isPair(view, id)))
      .map((id) => `certificate ${id} is unused, incomplete or not of its key`),
    ...tooOpen(join(view.present, 'tls')),
    ...view.leftOvers.map((name) => `${name} ${LEFT_BEHIND}`),
  ].map((sentence) => `${edge.server}: ${sentence}`)
}

/** Faults in the state folders: unfinished files, files that others can read, secrets in a log. */
function leftInState({ stateFolders, logs, secretFiles }: Judged): string[] {
  const names = stateFolders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  const logged = logs.map((log) => readFileSync(log, 'utf8')).join('')
  return [
    ...names
      .filter((name) => /\.(new|tmp|draft)$/.test(name))
      .map((name) => `${name} in the state folder ${LEFT_BEHIND}`),
    ...stateFolders.flatMap(tooOpen),
    ...[...secretFiles.map(secretIn), 'PRIVATE KEY']
      .filter((secret) => logged.includes(secret))
      .map(() => 'a secret is in the log'),
  ]
}

const tooOpen = (folder: string): string[] => {
  if ((lstatSync(folder).mode & 0o077) !== 0) return [`${folder} is open to others`]
  return listing(folder)
    .filter(
      (line) => /(^|\/)(keys|privkey\.pem|account\.key)|\.key-\d/.test(line) && !/^\S+\/? [0-7]00( |$)/.test(line),
    )
    .map((line) => `${join(folder, line)} is open to others`)
}
