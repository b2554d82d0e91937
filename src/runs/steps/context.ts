import type { CertificateInventory, CertificateIssuer, ChallengeResponder } from '../../certificates/contract.ts'
import { type DnsProvider, type LeasedProvider, leased, type ZoneRecord } from '../../dns/contract.ts'
import type { EdgePoint, Pair } from '../../edge/contract/change.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { Entry } from '../../edge/record/entry.ts'
import { certificateId } from '../../edge/record/entry.ts'
import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import { type ChosenCertificate, recordsOf } from '../../model/receipt.ts'
import type { Run, RunGuard, RunTask } from '../../model/run.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import type { EdgeStandings } from '../edge-standings.ts'
import type { Carried } from '../engine/begin.ts'
import type { CertificateLock } from '../engine/certificate-lock.ts'
import type { CrashPoint } from '../engine/crash-points.ts'
import { recordsToClaim } from '../marks.ts'
import { entryOf } from './entry-of.ts'
import type { ProxyParts } from './proxy.ts'
import { certificateJudge } from './renew.ts'
import { SecondaryWork } from './secondary.ts'
import type { CertificateSubject, HostAction, HostSubject, SubjectParts } from './subject.ts'
import { type EdgeJudge, edgeJudge } from './verify.ts'
import type { DnsParts, Held } from './zone-updates.ts'

/** Everything that the steps of a run use, each behind its contract. */
export interface StepParts extends SubjectParts {
  readonly primary: Edge | undefined
  readonly secondary: Edge | undefined
  readonly standings: EdgeStandings
  readonly certificateLock: CertificateLock
  readonly shelf: BackupShelf
  /** Undefined for a zone without a TSIG key: it can be read but not written. */
  readonly providerFor: (zone: string) => DnsProvider | undefined
  /** Whether the zone's primary server serves exactly these records. */
  readonly readBack: (zone: string, records: readonly ZoneRecord[], signal: AbortSignal) => Promise<Held>
  readonly readSets: (
    zone: string,
    names: readonly string[],
    signal: AbortSignal,
  ) => Promise<readonly ZoneRecord[] | 'unknown'>
  readonly inventory: CertificateInventory
  readonly issuer: CertificateIssuer
  /** Undefined: only edges have the pair. */
  readonly loadPair: (chosen: CertificateFiles) => Promise<Pair | undefined>
  /** The names to order if no installed certificate covers the host. */
  readonly certificateNames: (zone: string, host: string) => readonly string[]
  readonly dnsResponder: (zone: string, provider: LeasedProvider) => ChallengeResponder
  readonly recheck: (plan: Plan) => Promise<unknown>
  readonly crashPoint: CrashPoint
}

type CertificateFiles = Pick<ChosenCertificate, 'fingerprint' | 'certificateFile' | 'keyFile' | 'pairOnEdge'>

const DNS_PATIENCE_MS = 8_000

/** What the steps of every run share. Every wait of `parts.primary` and `parts.secondary` ends with the limit of its step. */
export interface StepContext {
  readonly parts: StepParts
  readonly run: Run
  readonly task: RunTask
  /** What the run shows with every effect. */
  readonly guard: RunGuard
  /** Gives the edge the certificate of a host, if it does not have it. Resolves with its id. */
  readonly give: (edge: Edge, certificate: ChosenCertificate) => Promise<string>
  /** What the edge shall do for a plan, whose certificate it then has. */
  readonly entryFor: (edge: Edge, plan: Plan, certificate: ChosenCertificate | undefined) => Promise<Entry>
  readonly onCrashPoint: (point: EdgePoint) => void
}

/** What the steps of a run share that changes the Primary, and then the Secondary as well as it can. */
interface EdgesContext extends StepContext {
  readonly primary: Edge
  readonly proxy: ProxyParts
  readonly judge: EdgeJudge
}

export interface HostContext extends HostSubject, EdgesContext {
  readonly dns: DnsParts
  readonly records: readonly ZoneRecord[]
}

export interface CertificateContext extends CertificateSubject, EdgesContext {}

export function contextOf(given: StepParts, { run, task }: Carried, guard: RunGuard): StepContext {
  const limited = (edge: Edge | undefined) => edge && limitedEdge(edge, guard)
  const parts = { ...given, primary: limited(given.primary), secondary: limited(given.secondary) }
  const give = giver(parts.loadPair)
  return {
    parts,
    run,
    task,
    guard,
    give,
    entryFor: async (edge, plan, certificate) => {
      if (certificate) await give(edge, certificate)
      return entryOf(plan, certificate)
    },
    onCrashPoint: (point) => parts.crashPoint(`${run.action} proxy ${point}`),
  }
}

export function hostContext(context: StepContext, subject: HostSubject): HostContext {
  const { parts, guard } = context
  const { action, plan, receipt } = subject
  const { host, proof, request } = plan
  const { zone, health, tls, options } = request
  const primary = primaryOf(parts)
  const provider = leased(providerOf(parts, zone), guard)
  const judge = edgeJudge({ host, health, tls, proof, options })
  return {
    ...context,
    ...subject,
    primary,
    judge,
    proxy: proxyOf(context, primary, judge, SERVES.includes(action)),
    dns: {
      provider,
      readBack: (records) => parts.readBack(zone, records, guard.signal),
      readSets: (names) => parts.readSets(zone, names, guard.signal),
      patienceMs: DNS_PATIENCE_MS,
      clock: parts.clock,
    },
    records: action === 'apply' ? recordsToClaim(plan) : recordsOf(plan, receipt),
  }
}

export function certificateContext(context: StepContext, subject: CertificateSubject): CertificateContext {
  const { parts } = context
  const primary = primaryOf(parts)
  const judge = certificateJudge(subject.members, primary, parts.clock)
  return {
    ...context,
    ...subject,
    primary,
    judge,
    proxy: proxyOf(context, primary, judge, true),
  }
}

/** Actions after which the edges serve the host as the plan says. */
const SERVES: readonly HostAction[] = ['apply', 'update', 'repair']

/** How the proxy steps of one run work on both edges. `serves`: the edges serve the hosts after the run. */
function proxyOf(
  { parts, run, guard, onCrashPoint }: StepContext,
  primary: Edge,
  judge: EdgeJudge,
  serves: boolean,
): ProxyParts {
  const { secondary, standings, clock } = parts
  return {
    primary,
    secondary: secondary && new SecondaryWork({ edge: secondary, host: run.host, standings, clock }),
    guard,
    onCrashPoint,
    judgeSecondary: serves ? judge : undefined,
  }
}

/** Every wait of the edge ends with the limit of the step that began it. */
const limitedEdge = (edge: Edge, guard: RunGuard): Edge => ({
  ...edge,
  assertValid: () => edge.assertValid(guard.signal),
  ask: (question) => edge.ask(question, guard.signal),
  foreignListeners: (question) => edge.foreignListeners(question, guard.signal),
  handshake: (host) => edge.handshake(host, guard.signal),
})

/** Each edge is given each certificate once in a run. */
function giver(loadPair: StepParts['loadPair']): StepContext['give'] {
  const given = new Map<string, Promise<string>>()
  const giveOnce = async (edge: Edge, certificate: ChosenCertificate) => {
    const id = certificateId(certificate.fingerprint)
    if (await edge.hasCertificate(id)) return id
    const pair = await loadPair(certificate)
    // Only other edges have the pair. The change says that this one does not.
    return pair ? edge.certificate(pair) : id
  }
  return (edge, certificate) => {
    const key = `${edge.server} ${certificate.fingerprint}`
    const giving = given.get(key) ?? giveOnce(edge, certificate)
    given.set(key, giving)
    giving.catch(() => given.delete(key))
    return giving
  }
}

/** The edge of the Primary. Throws if this installation has none. */
function primaryOf({ primary }: Pick<StepParts, 'primary'>): Edge {
  if (primary) return primary
  throw onlyPlans('no edge is configured for the Primary', 'Configure edges and start the service again.')
}

/** The writer of a zone. Throws if this installation has no DNS key for it. */
export function providerOf({ providerFor }: Pick<StepParts, 'providerFor'>, zone: string): DnsProvider {
  const provider = providerFor(zone)
  if (provider) return provider
  throw onlyPlans(`zone ${zone} has no tsig key`, `Configure zones.${zone}.tsig and run: drawbridge reload.`)
}

/** Refuses a change of a host for which this installation has no edge or no DNS key. */
export function assertEquipped(parts: Pick<StepParts, 'primary' | 'providerFor'>, zone: string): void {
  primaryOf(parts)
  providerOf(parts, zone)
}

const onlyPlans = (missing: string, nextAction: string): Problem =>
  new Problem('unavailable', `This installation can only plan: ${missing}.`, { nextAction })
