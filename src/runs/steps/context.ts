import type {
  CertificateInventory,
  CertificateIssuer,
  ChallengeResponder,
  ChallengeType,
} from '../../certificates/contract.ts'
import { type DnsProvider, type LeasedProvider, leased, type ZoneRecord } from '../../dns/contract.ts'
import type { Edge, EdgeFile, SiteCertificate } from '../../edge/contract.ts'
import { Problem } from '../../model/errors.ts'
import type { Plan, ProxyChange } from '../../model/exposure.ts'
import { type Afters, type ChosenCertificate, type EdgeVerdict, type Receipt, recordsOf } from '../../model/receipt.ts'
import type { Run, RunAction, RunGuard, RunTask, StepName } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import type { EdgeStandings } from '../edge-standings.ts'
import type { CrashPoint } from '../engine/crash-points.ts'
import type { EdgeLock } from '../engine/edge-lock.ts'
import { recordsToClaim } from '../marks.ts'
import { type BackupStep, backupStep } from './backup.ts'
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
  readonly loadPair: (chosen: CertificateFiles) => Promise<SiteCertificate>
  readonly challenge: ChallengeType
  /** The names to order if no installed certificate covers the host. */
  readonly certificateNames: (zone: string, host: string) => readonly string[]
  readonly dnsResponder: (zone: string, provider: LeasedProvider) => ChallengeResponder
  readonly recheck: (plan: Plan) => Promise<unknown>
  readonly findPlan: (planId: string) => Promise<Plan | undefined>
  /** Whether a renewal other than this run is unfinished. */
  readonly renewsElsewhere: (runId: string) => Promise<boolean>
  /** Whether no run but this one is unfinished or blocked. */
  readonly isAlone: (runId: string) => Promise<boolean>
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
  /** The files of the host without a certificate. */
  readonly plainFiles: (edge: Edge) => Promise<readonly EdgeFile[]>
  /** The files of the host with the certificate that an earlier step chose. */
  readonly secureFiles: (edge: Edge, afters: Afters) => Promise<readonly EdgeFile[]>
  /** The removal of the host's files. */
  readonly goneFiles: (edge: Edge) => Promise<readonly EdgeFile[]>
  /** The files of the exposure as its receipt says. */
  readonly formerFiles: (edge: Edge) => Promise<readonly EdgeFile[]>
  /** The pair of a certificate. Its files are read once per run. */
  readonly pairOf: (certificate: CertificateFiles) => Promise<SiteCertificate>
  /** The Primary's files as they were before the run. */
  readonly backedUp: (afters: Afters) => Promise<readonly EdgeFile[]>
  /** The Primary's answer, where it was asked while the DNS name was claimed. */
  readonly first: { answer?: Promise<EdgeVerdict> }
}

export function contextOf(given: StepParts, subject: RunSubject): StepContext {
  const { plan, run, receipt, former, guard } = subject
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
  const pairOf = pairCache(parts.loadPair)
  const proxy = proxyOf(parts, subject, primary, judge)
  const filesOf = async (edge: Edge, of: Plan, certificate: ChosenCertificate | undefined) =>
    keepingPair(
      subject,
      edge,
      await edge.filesFor({ ...siteOf(of), certificate: certificate && (await pairOf(certificate)) }),
    )
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
        if (run.action === 'remove') await primary.raiseFence(guard.fences)
      },
      shelf: parts.shelf,
      touched: () => pathsTouched(subject, primary),
      applied: KEEPS_EDITS.includes(run.action) || subject.task.intact ? (receipt?.files ?? []) : [],
    }),
    plainFiles: (edge) => filesOf(edge, plan, undefined),
    secureFiles: (edge, { certificate }) => filesOf(edge, plan, certificate),
    goneFiles: (edge) => goneFiles(subject, edge),
    formerFiles: (edge) => filesOf(edge, former ?? plan, receipt?.certificate),
    pairOf,
    backedUp: (afters) => fromBackup(parts.shelf, run.runId, afters),
    first: {},
  }
}

/** The backup of this run, or of the run that this one resolves. Empty if another instance keeps it. */
async function fromBackup(shelf: BackupShelf, runId: string, afters: Afters): Promise<readonly EdgeFile[]> {
  const kept = afters.backup?.runId ?? runId
  return (await shelf.list()).some((manifest) => manifest.runId === kept) ? shelf.load(kept) : []
}

/** Actions after which the edges serve the host as the plan says. */
const SERVES: readonly RunAction[] = ['apply', 'update', 'repair', 'renew']

/** Actions that refuse a file that was edited since it was applied. The others look at each file themselves. */
const KEEPS_EDITS: readonly RunAction[] = ['apply', 'update', 'remove']

/** The Primary's files that a run may change. */
async function pathsTouched(subject: RunSubject, edge: Edge): Promise<readonly string[]> {
  const { run, members, receipt } = subject
  const applied = run.action === 'renew' ? members.flatMap((member) => member.receipt.files) : (receipt?.files ?? [])
  const paths = applied.map(({ path }) => path)
  if (run.action === 'renew') return [...new Set(paths.filter((path) => edge.isCertificateFile(path)))]
  return [...new Set([...paths, ...(await goneFiles(subject, edge)).map(({ path }) => path)])]
}

const goneFiles = async (subject: RunSubject, edge: Edge): Promise<readonly EdgeFile[]> =>
  keepingPair(subject, edge, await edge.filesWithout(subject.plan.host))

/** Leaves out the removal of a pair that only edges have: no undo could put it back. A converge removes it when no host uses it. */
function keepingPair(
  { plan: { host }, receipt }: RunSubject,
  edge: Edge,
  files: readonly EdgeFile[],
): readonly EdgeFile[] {
  const { certificate } = receipt ?? {}
  if (!certificate?.pairOnEdge) return files
  const { path: entry } = edge.certificateEntry(host, certificate.fingerprint)
  return files.filter(({ path, content }) => content !== null || path === entry || !edge.isCertificateFile(path))
}

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

export const siteOf = ({ host, planId, proof, changes }: Plan) => {
  const proxy = changes.find((change): change is ProxyChange => change.kind === 'proxy')
  const { target = '', furtherTargets, options } = proxy ?? {}
  return { host, planId, proof, target, ...(furtherTargets && { furtherTargets }), ...(options && { options }) }
}

/** Every wait of the edge ends with the limit of the step that began it. */
const limitedEdge = (edge: Edge, guard: RunGuard): Edge => ({
  ...edge,
  assertValid: () => edge.assertValid(guard.signal),
  change: (proposal) => edge.change({ ...proposal, heldForMs: () => guard.leftMs }),
  tryOut: (files) => edge.tryOut(files, guard.signal),
  ask: (question) => edge.ask(question, guard.signal),
  foreignListeners: (question) => edge.foreignListeners(question, guard.signal),
  handshake: (host) => edge.handshake(host, guard.signal),
})

/** Whether the plan orders a certificate. */
export const issues = ({ changes }: Plan): boolean =>
  changes.some((change) => change.kind === 'certificate' && change.action === 'issue')

/** Reads the files of each certificate once per run. */
function pairCache(loadPair: StepParts['loadPair']): StepParts['loadPair'] {
  const pairs = new Map<string, Promise<SiteCertificate>>()
  return (chosen) => {
    const pair = pairs.get(chosen.fingerprint) ?? loadPair(chosen)
    pairs.set(chosen.fingerprint, pair)
    return pair
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
