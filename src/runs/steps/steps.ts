import type {
  CertificateInventory,
  CertificateIssuer,
  ChallengeResponder,
  ChallengeType,
} from '../../certificates/contract.ts'
import type { DnsProvider, ZoneRecord } from '../../dns/contract.ts'
import type { Edge, EdgeAnswer, EdgeFile, FileHash, SiteCertificate } from '../../edge/contract.ts'
import { Problem } from '../../model/errors.ts'
import type { DnsChange, Plan, ProxyChange } from '../../model/exposure.ts'
import type { Run } from '../../model/run.ts'
import type { BackupManifest, BackupShelf } from '../backup-shelf.ts'
import type { CrashPoint } from '../engine/crash-points.ts'
import type { EdgeLock } from '../engine/edge-lock.ts'
import type { Afters, Step } from '../engine/step.ts'
import { hashOf } from '../file-hash.ts'
import { backupStep } from './backup.ts'
import { type ChosenCertificate, certificateStep, edgeResponder } from './certificate.ts'
import { claimNameStep, type DnsParts, type Held, releaseNameStep } from './dns.ts'
import { EarlyValidation } from './early-validation.ts'
import { absent, type ProxyAfter, type ProxyParts, type ProxyTarget, proxyStep, type SecondaryReport } from './proxy.ts'
import { type EdgeVerdict, edgeJudge, type Verification, verifyStep } from './verify.ts'

/** Everything a run works with, each behind its contract. */
export interface StepParts {
  readonly primary: Edge | undefined
  readonly secondary: Edge | undefined
  readonly edgeLock: EdgeLock
  readonly shelf: BackupShelf
  /** Undefined for a zone that can be read but not written. */
  readonly providerFor: (zone: string) => DnsProvider | undefined
  readonly look: (zone: string, records: readonly ZoneRecord[]) => Promise<Held>
  readonly inventory: CertificateInventory
  readonly issuer: CertificateIssuer
  readonly loadPair: (
    chosen: Pick<ChosenCertificate, 'fingerprint' | 'certificateFile' | 'keyFile'>,
  ) => Promise<SiteCertificate>
  readonly challenge: ChallengeType
  /** What is ordered where no certificate covers the host. */
  readonly certificateNames: (zone: string, host: string) => readonly string[]
  readonly dnsResponder: (zone: string, provider: DnsProvider) => ChallengeResponder
  readonly recheck: (plan: Plan) => Promise<unknown>
  readonly crashPoint: CrashPoint
  readonly now: () => number
}

const DNS_PATIENCE_MS = 8_000

/** The steps of a run, in the order in which the bridge is lowered, or raised: the name comes last, and goes first. */
export function stepsFor(parts: StepParts, plan: Plan, run: Run, receipt: unknown): readonly Step[] {
  const { secondary, edgeLock, crashPoint } = parts
  const { zone, health, tls } = plan.request
  const { primary, provider } = assertEquipped(parts, zone)
  const { host } = plan
  const look = (records: readonly ZoneRecord[]) => parts.look(zone, records)
  const dns: DnsParts = { provider, look, patienceMs: DNS_PATIENCE_MS }
  const records = recordsOf(plan)
  const earlyValidation = new EarlyValidation(edgeLock)
  const judge = edgeJudge({ host, health, tls, proof: plan.proof })
  /** What the Secondary answers, where the host was given to it, or what became of it. */
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
      second = run.action === 'apply' ? work.then((told) => (told.ok ? judge(edge, afters) : told)) : work
      second.catch(() => undefined)
    },
    secondaryEnded: async () => secondEnded,
  }
  const isServed = async (edge: Edge) => {
    const answer = await edge.ask({ host, path: '/', tls: false, proof: plan.proof })
    return answer.kind === 'answer' && answer.entry !== 'other'
  }
  // The proxy step tests the edge before it touches it. What comes before that step must not be done in vain.
  const issues = plan.changes.some((change) => change.kind === 'certificate' && change.action === 'issue')
  const assertSound = () => (run.action === 'remove' || issues ? primary.assertValid() : Promise.resolve())
  const backup = backupStep({
    runId: run.runId,
    host,
    edge: primary,
    assertSound,
    shelf: parts.shelf,
    applied: appliedFiles(receipt),
  })

  const target = plan.changes.find((change): change is ProxyChange => change.kind === 'proxy')?.target ?? ''
  const plainSite = { host, planId: plan.planId, target, proof: plan.proof }
  const pairs = new Map<string, Promise<SiteCertificate>>()
  const pairOf = (chosen: Pick<ChosenCertificate, 'fingerprint' | 'certificateFile' | 'keyFile'>) => {
    const pair = pairs.get(chosen.fingerprint) ?? parts.loadPair(chosen)
    pairs.set(chosen.fingerprint, pair)
    return pair
  }
  const secureFiles = async (edge: Edge, afters: Afters) => {
    const chosen = afters.get('certificate') as ChosenCertificate | undefined
    return edge.filesFor({ ...plainSite, certificate: chosen && (await pairOf(chosen)) })
  }

  /** The files as they will be, as far as can be said before the certificate step. */
  const ahead = async (edge: Edge) => {
    const chosen = tls ? await parts.inventory.covering(host, parts.now()) : undefined
    return secureFiles(edge, new Map(chosen && [['certificate', chosen]]))
  }

  if (run.action === 'remove') {
    // What a crash in the midst of the removal left of the host's files is known by the receipt alone.
    const written = appliedFiles(receipt)
    const applied = written.map(({ path }) => absent(path))
    const gone = proxyStep(proxy, {
      name: 'proxy',
      ours: async (edge) => (edge === primary && written.length > 0 ? written : undefined),
      wanted: async (edge) => byPath([...applied, ...(await edge.filesWithout(host))]),
      former: async (edge, afters) => {
        const rendered = secureFiles(edge, new Map(Object.entries(receipt ?? {})))
        if (edge !== primary) return rendered
        return [...(await rendered.catch(() => [])), ...(await fromBackup(parts.shelf, run.runId, afters))]
      },
      isRestored: isServed,
    })
    return [backup, releaseNameStep(host, records, dns), waitingFor(gone, () => second)]
  }

  const lower = (wanted: ProxyTarget['wanted']) =>
    proxyStep(proxy, {
      name: 'proxy',
      ours: async () => [],
      wanted,
      former: async () => [],
      isRestored: async (edge) => !(await isServed(edge)),
    })
  const check = checkStep(
    async () => {
      if (tls) await primary.assertNoDebugLog()
      if (!issues) await earlyValidation.begin(primary, () => ahead(primary))
      backup.begin()
      await parts.recheck(plan)
    },
    async () => {
      await Promise.all([earlyValidation.ended(), backup.abandon()])
    },
  )
  let first: Promise<EdgeVerdict> | undefined
  const claim = claimNameStep(host, records, dns)
  // What the edge answers does not depend on the name: it is asked while the name is claimed.
  const claimMeanwhile = beside(claim, (afters) => {
    first = judge(primary, afters)
    first.catch(() => undefined)
  })
  const verify = verifyStep(records, { primary, secondary, judge, first: () => first, second: () => second, look })
  if (!tls) return [check, backup, lower((edge) => edge.filesFor(plainSite)), claimMeanwhile, verify]

  const challengesOnPrimary = edgeResponder({
    edge: primary,
    hold: proxy.hold,
    rendered: (challenges) => primary.filesFor({ ...plainSite, challenges }),
  })
  const certificate = certificateStep(host, {
    ...parts,
    responder: parts.challenge === 'dns-01' ? parts.dnsResponder(zone, provider) : challengesOnPrimary,
    names: parts.certificateNames(zone, host),
    holdOrder: (names, work) => edgeLock.holdOrder(names, work),
    challengeSet: () => crashPoint('apply certificate challenge-set'),
  })
  if (parts.challenge === 'dns-01') return [check, backup, certificate, lower(secureFiles), claimMeanwhile, verify]

  // By http-01 the authority comes through the name and the edge: both must stand before there is a certificate.
  const secure = proxyStep(proxy, {
    name: 'proxy-tls',
    ours: async (edge) => (await edge.filesFor(plainSite)).map(hashOf),
    wanted: secureFiles,
    former: (edge) => edge.filesFor(plainSite),
    isRestored: async () => false,
  })
  return [check, backup, lower((edge) => edge.filesFor(plainSite)), claim, certificate, secure, verify]
}

/** The same step, with something begun beside it. */
const beside = (step: Step, other: (afters: Afters) => void): Step => ({
  ...step,
  do: (before, afters, note) => {
    other(afters)
    return step.do(before, afters, note)
  },
})

/** The same step, ended only when the Secondary's part has ended too. */
const waitingFor = (step: Step, other: () => Promise<unknown> | undefined): Step => ({
  ...step,
  do: async (...given) => {
    const after = await step.do(...given)
    await other()
    return after
  },
})

/** What stood before the run; nothing where another instance keeps it. A run that resolves an earlier one goes by that one's backup. */
async function fromBackup(shelf: BackupShelf, runId: string, afters: Afters): Promise<readonly EdgeFile[]> {
  const kept = (afters.get('backup') as BackupManifest | undefined)?.runId ?? runId
  return (await shelf.list()).some((manifest) => manifest.runId === kept) ? shelf.load(kept) : []
}

/** One file for each path: the last one given. */
const byPath = (files: readonly EdgeFile[]): EdgeFile[] => [...new Map(files.map((file) => [file.path, file])).values()]

/** What the apply last wrote, by its receipt. */
export function appliedFiles(receipt: unknown): readonly FileHash[] {
  const { proxy, 'proxy-tls': secured } = (receipt ?? {}) as Partial<Record<ProxyTarget['name'], ProxyAfter>>
  return (secured ?? proxy)?.files ?? []
}

/** What the Primary answered when the apply was verified, by its receipt: with TLS the certificate was proven to be this one. */
export function verifiedAnswer(receipt: unknown): EdgeAnswer | undefined {
  const { verify, certificate } = (receipt ?? {}) as { verify?: Verification; certificate?: ChosenCertificate }
  const { httpStatus, latencyMs } = verify?.primary ?? {}
  if (httpStatus === undefined || latencyMs === undefined) return undefined
  if (!certificate) return { kind: 'answer', httpStatus, latencyMs }
  const { fingerprint, names } = certificate
  const notBefore = new Date(certificate.notBefore).toISOString()
  const notAfter = new Date(certificate.notAfter).toISOString()
  return {
    kind: 'answer',
    httpStatus,
    latencyMs,
    certificate: { fingerprint, names, coversHost: true, notBefore, notAfter },
  }
}

/** A receipt that says: these files, instead of those that were written before. */
export function withFiles(receipt: Receipt, files: readonly FileHash[]): Receipt {
  const step: ProxyTarget['name'] = 'proxy-tls' in receipt ? 'proxy-tls' : 'proxy'
  return { ...receipt, [step]: { files } satisfies ProxyAfter }
}

/** What a run left, by step. */
export type Receipt = Readonly<Record<string, unknown>>

export const recordsOf = ({ changes }: Plan): ZoneRecord[] =>
  changes
    .filter((change): change is DnsChange => change.kind === 'dns')
    .map(({ name, type, ttl, value }) => ({ name, type, ttl, value }))

/** What a run cannot do without. Asked before it begins, and again for its steps. */
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

/** Looks again: what the plan saw must still be so. A failing check keeps its own code. `ended`: nothing that was begun here goes on. */
function checkStep(recheck: () => Promise<unknown>, ended: () => Promise<void>): Step {
  return {
    name: 'check',
    before: async () => null,
    do: recheck,
    undo: ended,
  }
}
