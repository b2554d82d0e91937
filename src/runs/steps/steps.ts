import type {
  CertificateInventory,
  CertificateIssuer,
  ChallengeResponder,
  ChallengeType,
} from '../../certificates/contract.ts'
import type { DnsProvider, ZoneRecord } from '../../dns/contract.ts'
import type { Edge, EdgeFile, SiteCertificate } from '../../edge/contract.ts'
import { Problem } from '../../model/errors.ts'
import type { Plan, ProxyChange } from '../../model/exposure.ts'
import { type Afters, type ChosenCertificate, type EdgeVerdict, type Receipt, recordsOf } from '../../model/receipt.ts'
import type { LeaseGuard, Run, RunAction, StepName } from '../../model/run.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import type { CrashPoint } from '../engine/crash-points.ts'
import type { EdgeLock, LockTurn } from '../engine/edge-lock.ts'
import type { Step } from '../engine/step.ts'
import { hashIn, hashOf } from '../file-hash.ts'
import { type BackupStep, backupStep } from './backup.ts'
import { certificateStep, chosen, edgeResponder } from './certificate.ts'
import { claimNameStep, type DnsParts, type Held, releaseNameStep } from './dns.ts'
import { EarlyValidation } from './early-validation.ts'
import { absent, type ProxyParts, proxyStep, type SecondaryReport } from './proxy.ts'
import { type EdgeJudge, edgeJudge, verifyStep } from './verify.ts'

/** Everything that the steps of a run use, each behind its contract. */
export interface StepParts {
  readonly primary: Edge | undefined
  readonly secondary: Edge | undefined
  readonly edgeLock: EdgeLock
  readonly shelf: BackupShelf
  /** Undefined for a zone without a TSIG key: it can be read but not written. */
  readonly providerFor: (zone: string) => DnsProvider | undefined
  /** Whether the zone's primary server serves exactly these records. */
  readonly readBack: (zone: string, records: readonly ZoneRecord[]) => Promise<Held>
  readonly inventory: CertificateInventory
  readonly issuer: CertificateIssuer
  readonly loadPair: (chosen: CertificateFiles) => Promise<SiteCertificate>
  readonly challenge: ChallengeType
  /** The names to order if no installed certificate covers the host. */
  readonly certificateNames: (zone: string, host: string) => readonly string[]
  readonly dnsResponder: (zone: string, provider: DnsProvider) => ChallengeResponder
  readonly recheck: (plan: Plan) => Promise<unknown>
  readonly crashPoint: CrashPoint
  readonly now: () => number
}

type CertificateFiles = Pick<ChosenCertificate, 'fingerprint' | 'certificateFile' | 'keyFile'>

const DNS_PATIENCE_MS = 8_000

/** What a run works on. `names`: its steps in order, as its plan gives them. */
export interface RunSubject {
  readonly plan: Plan
  readonly run: Run
  readonly names: readonly StepName[]
  /** The receipt of the exposure that the run changes. Undefined for an apply. */
  readonly receipt: Receipt | undefined
  /** The applied plan that an update replaces. */
  readonly former: Plan | undefined
  /** The lease of the run. */
  readonly guard: LeaseGuard
}

/** The steps of a run, made from their names. */
export function stepsFor(parts: StepParts, subject: RunSubject): readonly Step[] {
  const context = contextOf(parts, subject)
  return subject.names.map((name) => {
    const build = BUILDERS[subject.run.action][name]
    if (!build) throw new Problem('internal_error', `A run of ${subject.run.action} has no step ${name}.`)
    return build(context)
  })
}

/** What the steps of one run share. */
interface StepContext extends RunSubject {
  readonly parts: StepParts
  readonly primary: Edge
  readonly provider: DnsProvider
  readonly dns: DnsParts
  readonly records: readonly ZoneRecord[]
  readonly proxy: ProxyParts
  readonly earlyValidation: EarlyValidation
  readonly judge: EdgeJudge
  readonly backup: BackupStep
  /** The files of the host without a certificate. */
  readonly plainFiles: (edge: Edge) => Promise<readonly EdgeFile[]>
  /** The files of the host with the certificate that an earlier step chose. */
  readonly secureFiles: (edge: Edge, afters: Afters) => Promise<readonly EdgeFile[]>
  /** The files of the exposure as its receipt says. */
  readonly formerFiles: (edge: Edge) => Promise<readonly EdgeFile[]>
  /** The Primary's answer, where it was asked while the DNS name was claimed. */
  readonly first: { answer?: Promise<EdgeVerdict> }
  /** The Secondary's answer, or why it does not have the Primary's files. Undefined before it was changed. */
  readonly second: () => Promise<SecondaryReport> | undefined
}

function contextOf(parts: StepParts, subject: RunSubject): StepContext {
  const { plan, run, receipt, former, guard } = subject
  const { zone, health, tls } = plan.request
  const { primary, provider: unguarded } = assertEquipped(parts, zone)
  const provider = guardedProvider(unguarded, guard)
  const { host, proof } = plan
  const judge = edgeJudge({ host, health, tls, proof })
  const earlyValidation = new EarlyValidation(parts.edgeLock)
  const pairOf = pairCache(parts.loadPair)
  const { proxy, second } = proxyOf(parts, subject, primary, judge, earlyValidation)
  const filesOf = async (edge: Edge, of: Plan, certificate: ChosenCertificate | undefined) =>
    edge.filesFor({ ...siteOf(of), certificate: certificate && (await pairOf(certificate)) })
  return {
    ...subject,
    parts,
    primary,
    provider,
    dns: { provider, readBack: (records) => parts.readBack(zone, records), patienceMs: DNS_PATIENCE_MS },
    records: recordsOf(plan, receipt),
    proxy,
    earlyValidation,
    judge,
    // The proxy step validates the edge before it writes. Steps before it must not act on an edge that is broken.
    backup: backupStep({
      runId: run.runId,
      host,
      edge: primary,
      assertSound: async () => {
        if (run.action === 'remove' || issues(plan)) await primary.assertValid()
      },
      shelf: parts.shelf,
      applied: receipt?.files ?? [],
    }),
    plainFiles: (edge) => filesOf(edge, plan, undefined),
    secureFiles: (edge, { certificate }) => filesOf(edge, plan, certificate),
    formerFiles: (edge) => filesOf(edge, former ?? plan, receipt?.certificate),
    first: {},
    second,
  }
}

/** How the proxy steps of one run work on both edges, and what became of the Secondary. */
function proxyOf(
  { secondary, edgeLock, crashPoint }: StepParts,
  { run, guard }: RunSubject,
  primary: Edge,
  judge: EdgeJudge,
  earlyValidation: EarlyValidation,
): Pick<StepContext, 'proxy' | 'second'> {
  let second: Promise<SecondaryReport> | undefined
  let secondEnded: Promise<unknown> | undefined
  const proxy: ProxyParts = {
    primary,
    secondary,
    hold: (edge, work) => edgeLock.hold(edge, (turn) => work(guardedTurn(turn, guard))),
    beforeSwap: () => crashPoint(`${run.action} proxy before-swap`),
    earlyValidation,
    swapped: () => crashPoint(`${run.action} proxy swapped`),
    alsoOnSecondary: (edge, work, afters) => {
      secondEnded = work
      second = run.action !== 'remove' ? work.then((report) => (report.ok ? judge(edge, afters) : report)) : work
      second.catch(() => undefined)
    },
    secondaryEnded: async () => secondEnded,
  }
  return { proxy, second: () => second }
}

/** The one table from the name of a step to its implementation. */
const BUILDERS: Readonly<Record<RunAction, Partial<Record<StepName, (context: StepContext) => Step>>>> = {
  apply: {
    check: checkStep,
    backup: ({ backup }) => backup,
    certificate: chooseCertificate,
    proxy: serveStep,
    dns: claimStep,
    'proxy-tls': secureStep,
    verify: verdictStep,
  },
  update: {
    check: checkStep,
    backup: ({ backup }) => backup,
    certificate: chooseCertificate,
    proxy: changeStep,
    verify: verdictStep,
  },
  remove: {
    backup: ({ backup }) => backup,
    dns: ({ plan, records, dns }) => releaseNameStep(plan.host, records, dns),
    proxy: takeAwayStep,
  },
}

/** Whether the entry is written without TLS first, because the certificate is ordered through it. */
const servesPlainFirst = ({ names }: StepContext): boolean => names.includes('proxy-tls')

function claimStep(context: StepContext): Step {
  const { plan, records, dns, judge, primary, first } = context
  const claim = claimNameStep(plan.host, records, dns)
  if (servesPlainFirst(context)) return claim
  // The edge's answer does not depend on the DNS name, so the edge is asked while the name is claimed.
  return startingBeside(claim, (afters) => {
    first.answer = judge(primary, afters)
    first.answer.catch(() => undefined)
  })
}

function verdictStep({ parts, primary, records, judge, first, second, dns }: StepContext): Step {
  const { secondary } = parts
  return verifyStep(records, { primary, secondary, judge, first: () => first.answer, second, readBack: dns.readBack })
}

function chooseCertificate(context: StepContext): Step {
  const { parts, plan, run, primary, provider, proxy, receipt } = context
  const { host } = plan
  const { zone } = plan.request
  const challengesOnPrimary = () =>
    edgeResponder({
      edge: primary,
      hold: proxy.hold,
      rendered: async (challenges) => {
        const served = siteOf(context.former ?? plan)
        const inUse = receipt?.certificate
        const certificate = inUse && (await parts.loadPair(inUse))
        const files = await primary.filesFor({ ...served, challenges, certificate })
        return receipt && !challenges ? asApplied(files, receipt, host, parts.shelf) : files
      },
      ...(receipt && { written: receipt.files }),
    })
  return certificateStep(host, {
    ...parts,
    guard: context.guard,
    responder: parts.challenge === 'dns-01' ? parts.dnsResponder(zone, provider) : challengesOnPrimary(),
    names: parts.certificateNames(zone, host),
    holdOrder: (names, work) => parts.edgeLock.holdOrder(names, work),
    challengeSet: () => parts.crashPoint(`${run.action} certificate challenge-set`),
  })
}

/** Repeats the checks of the plan. Starts what does not depend on them: the backup and an early `nginx -t`. */
function checkStep({ parts, plan, primary, earlyValidation, backup, secureFiles }: StepContext): Step {
  const { tls } = plan.request
  /** The files that the proxy step will write, as far as they are known before the certificate step. */
  const expectedFiles = async () => {
    const covering = tls ? await parts.inventory.covering(plan.host, parts.now()) : undefined
    return secureFiles(primary, covering ? { certificate: chosen(covering, 'installed') } : {})
  }
  return {
    name: 'check',
    before: async () => null,
    do: async () => {
      if (tls) await primary.assertNoDebugLog()
      if (!issues(plan)) await earlyValidation.begin(primary, expectedFiles)
      backup.begin()
      await parts.recheck(plan)
      return null
    },
    undo: async () => {
      await Promise.all([earlyValidation.ended(), backup.abandon()])
    },
  }
}

/** Makes the edges serve a host that they do not serve yet. */
function serveStep(context: StepContext): Step {
  const { plan, proxy, plainFiles, secureFiles } = context
  return proxyStep(proxy, {
    name: 'proxy',
    ours: async () => [],
    wanted: servesPlainFirst(context) ? plainFiles : secureFiles,
    former: async () => [],
    isRestored: async (edge) => !(await serves(edge, plan)),
  })
}

/** http-01: adds TLS to a host that is served without it. */
function secureStep({ proxy, plainFiles, secureFiles }: StepContext): Step {
  return proxyStep(proxy, {
    name: 'proxy-tls',
    ours: async (edge) => (await plainFiles(edge)).map(hashOf),
    wanted: secureFiles,
    former: plainFiles,
    isRestored: async () => false,
  })
}

/** Changes the entry of a host that the edges serve, in one reload: every request meets the former entry or the new one. */
function changeStep({
  parts,
  run,
  primary,
  proxy,
  receipt,
  former,
  plan,
  secureFiles,
  formerFiles,
}: StepContext): Step {
  return proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary ? receipt?.files : undefined),
    wanted: secureFiles,
    former: async (edge, afters) => {
      const rendered = formerFiles(edge)
      if (edge !== primary) return rendered
      return [...(await rendered.catch(() => [])), ...(await fromBackup(parts.shelf, run.runId, afters))]
    },
    // A former plan of the first version has no proof, so its own answer cannot tell it from the new entry.
    isRestored: async (edge) => !(await serves(edge, plan)) && serves(edge, former ?? plan),
  })
}

/** Removes the entry of the host from the edges. */
function takeAwayStep({ parts, plan, run, receipt, primary, proxy, formerFiles, second }: StepContext): Step {
  // After a crash in the middle of a removal only the receipt knows all files of the host.
  const written = receipt?.files ?? []
  const takeAway = proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary && written.length > 0 ? written : undefined),
    wanted: async (edge) =>
      byPath([...written.map(({ path }) => absent(path)), ...(await edge.filesWithout(plan.host))]),
    former: async (edge, afters) => {
      const rendered = formerFiles(edge)
      if (edge !== primary) return rendered
      return [...(await rendered.catch(() => [])), ...(await fromBackup(parts.shelf, run.runId, afters))]
    },
    isRestored: (edge) => serves(edge, plan),
  })
  return endingAfter(takeAway, second)
}

/** Whether the edge serves the entry of this plan. */
async function serves(edge: Edge, { host, proof }: Plan): Promise<boolean> {
  const answer = await edge.ask({ host, path: '/', tls: false, proof })
  return answer.kind === 'answer' && answer.entry !== 'other'
}

const siteOf = ({ host, planId, proof, changes }: Plan) => ({
  host,
  planId,
  proof,
  target: changes.find((change): change is ProxyChange => change.kind === 'proxy')?.target ?? '',
})

/** Every update carries the lease of the run. */
const guardedProvider = (provider: DnsProvider, guard: LeaseGuard): DnsProvider => ({
  create: (records) => provider.create(records, guard),
  remove: (records) => provider.remove(records, guard),
  addValue: (record) => provider.addValue(record, guard),
  removeValue: (record) => provider.removeValue(record, guard),
  checkAccess: () => provider.checkAccess(),
})

/** An effect on an edge needs both leases: that of the run and that of the edge. */
const guardedTurn = (turn: LockTurn, guard: LeaseGuard): LockTurn => ({
  ...turn,
  assertHeld: () => {
    guard.assertHeld()
    turn.assertHeld()
  },
})

/** Whether the plan orders a certificate. */
const issues = ({ changes }: Plan): boolean =>
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

/** The same step. `other` starts when the step starts and is not awaited. */
const startingBeside = (step: Step, other: (afters: Afters) => void): Step => ({
  ...step,
  do: (before, afters, note) => {
    other(afters)
    return step.do(before, afters, note)
  },
})

/** The same step. It is done only after `other` has ended as well. */
const endingAfter = (step: Step, other: () => Promise<unknown> | undefined): Step => ({
  ...step,
  do: async (...given) => {
    const after = await step.do(...given)
    await other()
    return after
  },
})

/** The backup of this run, or of the run that this one resolves. Empty if another instance keeps it. */
async function fromBackup(shelf: BackupShelf, runId: string, afters: Afters): Promise<readonly EdgeFile[]> {
  const kept = afters.backup?.runId ?? runId
  return (await shelf.list()).some((manifest) => manifest.runId === kept) ? shelf.load(kept) : []
}

/**
 * The files of an applied host exactly as its receipt says, where the host's newest backup holds them: an earlier version
 * may have rendered them otherwise, and what is put back must be what was applied.
 */
async function asApplied(
  rendered: readonly EdgeFile[],
  { files }: Receipt,
  host: string,
  shelf: BackupShelf,
): Promise<readonly EdgeFile[]> {
  const newest = (await shelf.list()).find((manifest) => manifest.host === host)
  const kept = newest ? await shelf.load(newest.runId) : []
  const isApplied = (file: EdgeFile) => hashOf(file).hash === hashIn(files, file.path)
  return rendered.map((file) => kept.find((copy) => copy.path === file.path && isApplied(copy)) ?? file)
}

/** One file for each path: the last one given. */
const byPath = (files: readonly EdgeFile[]): EdgeFile[] => [...new Map(files.map((file) => [file.path, file])).values()]

/** Refuses a run for which this installation has no edge or no DNS key. */
export function assertEquipped(
  { primary, providerFor }: Pick<StepParts, 'primary' | 'providerFor'>,
  zone: string,
): { primary: Edge; provider: DnsProvider } {
  const provider = providerFor(zone)
  if (primary && provider) return { primary, provider }
  const missing = primary ? `zone ${zone} has no tsig key` : 'no edge is configured for the Primary'
  throw new Problem('unavailable', `This installation can only plan: ${missing}.`, {
    nextAction: `Configure ${primary ? `zones.${zone}.tsig` : 'edges'} and start the service again.`,
  })
}
