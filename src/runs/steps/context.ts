import type {
  CertificateInventory,
  CertificateIssuer,
  ChallengeResponder,
  ChallengeType,
} from '../../certificates/contract.ts'
import { type DnsProvider, type LeasedProvider, leased, type ZoneRecord } from '../../dns/contract.ts'
import type { Edge, Entry, Pair } from '../../edge/contract.ts'
import { certificateId } from '../../edge/record/entry.ts'
import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import { type ChosenCertificate, type EdgeVerdict, type Receipt, recordsOf } from '../../model/receipt.ts'
import type { Run, RunAction, RunGuard, RunTask, StepName } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import type { EdgeStandings } from '../edge-standings.ts'
import type { CrashPoint } from '../engine/crash-points.ts'
import type { EdgeLock } from '../engine/edge-lock.ts'
import { recordsToClaim } from '../marks.ts'
import { type BackupStep, backupStep } from './backup.ts'
import { entryOf } from './entry-of.ts'
import type { ProxyParts } from './proxy.ts'
import { certificateJudge, type Member } from './renew.ts'
import { SecondaryWork } from './secondary.ts'
import { type EdgeJudge, edgeJudge } from './verify.ts'
import type { DnsParts, Held } from './zone-updates.ts'

/** Everything that the steps of a run use, each behind its contract. */
export interface StepParts {
  readonly primary: Edge | undefined
  readonly secondary: Edge | undefined
  readonly standings: EdgeStandings
  readonly edgeLock: EdgeLock
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
  readonly challenge: ChallengeType
  /** The names to order if no installed certificate covers the host. */
  readonly certificateNames: (zone: string, host: string) => readonly string[]
  readonly dnsResponder: (zone: string, provider: LeasedProvider) => ChallengeResponder
  readonly recheck: (plan: Plan) => Promise<unknown>
  readonly findPlan: (planId: string) => Promise<Plan | undefined>
  readonly crashPoint: CrashPoint
  readonly clock: Clock
}

type CertificateFiles = Pick<ChosenCertificate, 'fingerprint' | 'certificateFile' | 'keyFile' | 'pairOnEdge'>

const DNS_PATIENCE_MS = 8_000

/** What a run works on. `names`: its steps in order, as its plan gives them. */
export interface RunSubject {
  readonly plan: Plan
  readonly run: Run
  readonly task: RunTask
  readonly names: readonly StepName[]
  /** The exposures that a renewal changes. */
  readonly members: readonly Member[]
  /** The receipt of the exposure that the run changes. Undefined for an apply. */
  readonly receipt: Receipt | undefined
  /** The applied plan that an update replaces. */
  readonly former: Plan | undefined
  /** What the run shows with every effect. */
  readonly guard: RunGuard
}

/** What the steps of one run share. */
export interface StepContext extends RunSubject {
  readonly parts: StepParts
  readonly primary: Edge
  readonly provider: LeasedProvider
  readonly dns: DnsParts
  readonly records: readonly ZoneRecord[]
  readonly proxy: ProxyParts
  readonly judge: EdgeJudge
  readonly backup: BackupStep
  /** Gives the edge the certificate of a host, if it does not have it. Resolves with its id. */
  readonly give: (edge: Edge, certificate: ChosenCertificate) => Promise<string>
  /** What the edge shall do for a plan, whose certificate it then has. */
  readonly entryFor: (edge: Edge, plan: Plan, certificate: ChosenCertificate | undefined) => Promise<Entry>
  /** The Primary's answer, where it was asked while the DNS name was claimed. */
  readonly first: { answer?: Promise<EdgeVerdict> }
}

export function contextOf(given: StepParts, subject: RunSubject): StepContext {
  const { plan, run, receipt, guard } = subject
  const { zone, health, tls } = plan.request
  const { primary: unlimited, provider: unguarded } = assertEquipped(given, zone)
  const primary = limitedEdge(unlimited, guard)
  const parts = { ...given, primary, secondary: given.secondary && limitedEdge(given.secondary, guard) }
  const provider = leased(unguarded, guard)
  const { host, proof } = plan
  const judge =
    run.action === 'renew'
      ? certificateJudge(subject.members, primary, parts.clock)
      : edgeJudge({ host, health, tls, proof, options: plan.request.options })
  const proxy = proxyOf(parts, subject, primary, judge)
  const give = giver(parts.loadPair)
  return {
    ...subject,
    parts,
    primary,
    provider,
    dns: {
      provider,
      readBack: (records) => parts.readBack(zone, records, guard.signal),
      readSets: (names) => parts.readSets(zone, names, guard.signal),
      patienceMs: DNS_PATIENCE_MS,
      clock: parts.clock,
    },
    records: run.action === 'apply' ? recordsToClaim(plan) : recordsOf(plan, receipt),
    proxy,
    judge,
    // The proxy step validates the edge before it writes. Steps before it must not act on an edge that is broken.
    backup: backupStep({
      runId: run.runId,
      host,
      edge: primary,
      assertSound: async () => {
        if (run.action === 'remove' || (KEEPS_EDITS.includes(run.action) && issues(plan))) await primary.assertValid()
        // The DNS name would be gone before the edge says that the host belongs to another store.
        if (run.action === 'remove')
          await primary.change({
            items: guard.fences.map((fence) => ({ host: fence.host, fence, expected: 'any', wanted: 'same' })),
          })
      },
      shelf: parts.shelf,
      certificate: receipt?.certificate,
      isIntact: KEEPS_EDITS.includes(run.action) || (subject.task.intact ?? false),
    }),
    give,
    entryFor: async (edge, of, certificate) => {
      if (certificate) await give(edge, certificate)
      return entryOf(of, certificate)
    },
    first: {},
  }
}

/** Actions after which the edges serve the host as the plan says. */
const SERVES: readonly RunAction[] = ['apply', 'update', 'repair', 'renew']

/** Actions that refuse a file that was edited since it was applied. The others look at each file themselves. */
const KEEPS_EDITS: readonly RunAction[] = ['apply', 'update', 'remove']

/** How the proxy steps of one run work on both edges. */
function proxyOf(
  { secondary, standings, crashPoint, clock }: StepParts,
  { plan, run, guard }: RunSubject,
  primary: Edge,
  judge: EdgeJudge,
): ProxyParts {
  return {
    primary,
    secondary: secondary && new SecondaryWork({ edge: secondary, host: plan.host, standings, clock }),
    guard,
    reached: (point) => crashPoint(`${run.action} proxy ${point}`),
    judgeSecondary: SERVES.includes(run.action) ? judge : undefined,
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

/** Whether the plan orders a certificate. */
const issues = ({ changes }: Plan): boolean =>
  changes.some((change) => change.kind === 'certificate' && change.action === 'issue')

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

/** Refuses a run for which this installation has no edge or no DNS key. */
export function assertEquipped(
  { primary, providerFor }: Pick<StepParts, 'primary' | 'providerFor'>,
  zone: string,
): { primary: Edge; provider: DnsProvider } {
  const provider = providerFor(zone)
  if (primary && provider) return { primary, provider }
  const missing = primary ? `zone ${zone} has no tsig key` : 'no edge is configured for the Primary'
  throw new Problem('unavailable', `This installation can only plan: ${missing}.`, {
    nextAction: primary
      ? `Configure zones.${zone}.tsig and run: drawbridge reload.`
      : 'Configure edges and start the service again.',
  })
}
