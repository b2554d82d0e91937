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
import type { Run } from '../../model/run.ts'
import type { BackupManifest, BackupShelf } from '../backup-shelf.ts'
import type { CrashPoint } from '../engine/crash-points.ts'
import type { EdgeLock } from '../engine/edge-lock.ts'
import type { Afters, Step } from '../engine/step.ts'
import { hashOf } from '../file-hash.ts'
import { type BackupStep, backupStep } from './backup.ts'
import { type ChosenCertificate, certificateStep, edgeResponder } from './certificate.ts'
import { claimNameStep, type DnsParts, type Held, releaseNameStep } from './dns.ts'
import { EarlyValidation } from './early-validation.ts'
import { absent, type ProxyParts, type ProxyTarget, proxyStep, type SecondaryReport } from './proxy.ts'
import { appliedFiles, recordsOf } from './receipt.ts'
import { type EdgeJudge, type EdgeVerdict, edgeJudge, verifyStep } from './verify.ts'

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

/** The ordered steps of a run. An apply adds the DNS name last, a remove takes it away first: no name points at an edge that does not serve it. */
export function stepsFor(parts: StepParts, plan: Plan, run: Run, receipt: unknown): readonly Step[] {
  const context = contextOf(parts, plan, run, receipt)
  return run.action === 'remove' ? removeSteps(context) : applySteps(context)
}

/** What the steps of one run share. */
interface StepContext {
  readonly parts: StepParts
  readonly plan: Plan
  readonly run: Run
  readonly receipt: unknown
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
  /** The Secondary's answer, or why it does not have the Primary's files. Undefined before it was changed. */
  readonly second: () => Promise<SecondaryReport> | undefined
  /** Whether the edge serves the plan's entry. */
  readonly isServed: (edge: Edge) => Promise<boolean>
}

function contextOf(parts: StepParts, plan: Plan, run: Run, receipt: unknown): StepContext {
  const { zone, health, tls } = plan.request
  const { primary, provider } = assertEquipped(parts, zone)
  const { host, proof } = plan
  const judge = edgeJudge({ host, health, tls, proof })
  const earlyValidation = new EarlyValidation(parts.edgeLock)
  const plainSite = siteOf(plan)
  const pairOf = pairCache(parts.loadPair)
  const { proxy, second } = proxyOf(parts, run, primary, judge, earlyValidation)
  return {
    parts,
    plan,
    run,
    receipt,
    primary,
    provider,
    dns: { provider, readBack: (records) => parts.readBack(zone, records), patienceMs: DNS_PATIENCE_MS },
    records: recordsOf(plan),
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
      applied: appliedFiles(receipt),
    }),
    plainFiles: (edge) => edge.filesFor(plainSite),
    secureFiles: async (edge, afters) => {
      const chosen = afters.get('certificate') as ChosenCertificate | undefined
      return edge.filesFor({ ...plainSite, certificate: chosen && (await pairOf(chosen)) })
    },
    second,
    isServed: async (edge) => {
      const answer = await edge.ask({ host, path: '/', tls: false, proof })
      return answer.kind === 'answer' && answer.entry !== 'other'
    },
  }
}

/** How the proxy steps of one run work on both edges, and what became of the Secondary. */
function proxyOf(
  { secondary, edgeLock, crashPoint }: StepParts,
  run: Run,
  primary: Edge,
  judge: EdgeJudge,
  earlyValidation: EarlyValidation,
): Pick<StepContext, 'proxy' | 'second'> {
  let second: Promise<SecondaryReport> | undefined
  let secondEnded: Promise<unknown> | undefined
  const proxy: ProxyParts = {
    primary,
    secondary,
    hold: (edge, work) => edgeLock.hold(edge, work),
    earlyValidation,
    swapped: () => crashPoint(`${run.action} proxy swapped`),
    alsoOnSecondary: (edge, work, afters) => {
      secondEnded = work
      second = run.action === 'apply' ? work.then((report) => (report.ok ? judge(edge, afters) : report)) : work
      second.catch(() => undefined)
    },
    secondaryEnded: async () => secondEnded,
  }
  return { proxy, second: () => second }
}

function applySteps(context: StepContext): readonly Step[] {
  const { parts, plan, primary, provider, dns, records, judge, backup, plainFiles, secureFiles, second } = context
  const { host } = plan
  const { zone, tls } = plan.request
  const check = checkStep(context)
  let first: Promise<EdgeVerdict> | undefined
  const claim = claimNameStep(host, records, dns)
  // The edge's answer does not depend on the DNS name, so the edge is asked while the name is claimed.
  const claimAndAsk = startingBeside(claim, (afters) => {
    first = judge(primary, afters)
    first.catch(() => undefined)
  })
  const { readBack } = dns
  const verify = verifyStep(records, {
    primary,
    secondary: parts.secondary,
    judge,
    first: () => first,
    second,
    readBack,
  })
  if (!tls) return [check, backup, serveStep(context, plainFiles), claimAndAsk, verify]

  const challengesOnPrimary = edgeResponder({
    edge: primary,
    hold: context.proxy.hold,
    rendered: (challenges) => primary.filesFor({ ...siteOf(plan), challenges }),
  })
  const certificate = certificateStep(host, {
    ...parts,
    responder: parts.challenge === 'dns-01' ? parts.dnsResponder(zone, provider) : challengesOnPrimary,
    names: parts.certificateNames(zone, host),
    holdOrder: (names, work) => parts.edgeLock.holdOrder(names, work),
    challengeSet: () => parts.crashPoint('apply certificate challenge-set'),
  })
  if (parts.challenge === 'dns-01') {
    return [check, backup, certificate, serveStep(context, secureFiles), claimAndAsk, verify]
  }
  // With http-01 the authority visits the name through the edge: both must work before there is a certificate.
  return [check, backup, serveStep(context, plainFiles), claim, certificate, secureStep(context), verify]
}

function removeSteps(context: StepContext): readonly Step[] {
  const { parts, plan, run, receipt, primary, dns, records, backup, secureFiles, isServed, second } = context
  // After a crash in the middle of a removal only the receipt knows all files of the host.
  const written = appliedFiles(receipt)
  const takeAway = proxyStep(context.proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary && written.length > 0 ? written : undefined),
    wanted: async (edge) =>
      byPath([...written.map(({ path }) => absent(path)), ...(await edge.filesWithout(plan.host))]),
    former: async (edge, afters) => {
      const rendered = secureFiles(edge, new Map(Object.entries(receipt ?? {})))
      if (edge !== primary) return rendered
      return [...(await rendered.catch(() => [])), ...(await fromBackup(parts.shelf, run.runId, afters))]
    },
    isRestored: isServed,
  })
  return [backup, releaseNameStep(plan.host, records, dns), endingAfter(takeAway, second)]
}

/** Repeats the checks of the plan. Starts what does not depend on them: the backup and an early `nginx -t`. */
function checkStep({ parts, plan, primary, earlyValidation, backup, secureFiles }: StepContext): Step {
  const { tls } = plan.request
  /** The files that the proxy step will write, as far as they are known before the certificate step. */
  const expectedFiles = async () => {
    const chosen = tls ? await parts.inventory.covering(plan.host, parts.now()) : undefined
    return secureFiles(primary, new Map(chosen && [['certificate', chosen]]))
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

/** Makes the edges serve the host. */
const serveStep = ({ proxy, isServed }: StepContext, wanted: ProxyTarget['wanted']): Step =>
  proxyStep(proxy, {
    name: 'proxy',
    ours: async () => [],
    wanted,
    former: async () => [],
    isRestored: async (edge) => !(await isServed(edge)),
  })

/** http-01: adds TLS to a host that is served without it. */
const secureStep = ({ proxy, plainFiles, secureFiles }: StepContext): Step =>
  proxyStep(proxy, {
    name: 'proxy-tls',
    ours: async (edge) => (await plainFiles(edge)).map(hashOf),
    wanted: secureFiles,
    former: plainFiles,
    isRestored: async () => false,
  })

const siteOf = ({ host, planId, proof, changes }: Plan) => ({
  host,
  planId,
  proof,
  target: changes.find((change): change is ProxyChange => change.kind === 'proxy')?.target ?? '',
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
  const kept = (afters.get('backup') as BackupManifest | undefined)?.runId ?? runId
  return (await shelf.list()).some((manifest) => manifest.runId === kept) ? shelf.load(kept) : []
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
