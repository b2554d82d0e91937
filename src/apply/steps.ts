import type { CertificateInventory, CertificateIssuer, ChallengeResponder } from '../certificates/contract.ts'
import type { DnsProvider, ZoneRecord } from '../dns/contract.ts'
import type { Edge, FileHash, SiteCertificate } from '../edge/contract.ts'
import type { DnsChange, ProxyChange } from '../model/change.ts'
import { Problem } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import type { Run } from '../model/run.ts'
import type { BackupShelf } from './backups.ts'
import type { Reach } from './crash-points.ts'
import type { Afters, Step } from './step.ts'
import { backupStep } from './steps/backup.ts'
import { type ChosenCertificate, certificateStep } from './steps/certificate.ts'
import { checkStep } from './steps/check.ts'
import { claimNameStep, type DnsParts, type Held, releaseNameStep } from './steps/dns.ts'
import { edgeResponder } from './steps/edge-responder.ts'
import { type ProxyAfter, type ProxyParts, type ProxyTarget, proxyStep, type SecondaryReport } from './steps/proxy.ts'
import { verifyStep } from './steps/verify.ts'
import type { Turns } from './turns.ts'

/** Everything a run works with, each behind its contract. */
export interface StepParts {
  readonly primary: Edge | undefined
  readonly secondary: Edge | undefined
  readonly turns: Turns
  readonly shelf: BackupShelf
  /** Undefined for a zone that can be read but not written. */
  readonly providerFor: (zone: string) => DnsProvider | undefined
  readonly look: (zone: string, records: readonly ZoneRecord[]) => Promise<Held>
  readonly inventory: CertificateInventory
  readonly issuer: CertificateIssuer
  readonly loadPair: (chosen: ChosenCertificate) => Promise<SiteCertificate>
  readonly challenge: ChallengeResponder['type']
  readonly dnsResponder: (zone: string, provider: DnsProvider) => ChallengeResponder
  readonly recheck: (plan: Plan) => Promise<unknown>
  readonly reach: Reach
  readonly now: () => number
}

const DNS_PATIENCE_MS = 8_000

/** The steps of a run, in the order in which the bridge is lowered, or raised: the name comes last, and goes first. */
export function stepsFor(parts: StepParts, plan: Plan, run: Run, receipt: unknown): readonly Step[] {
  const { secondary, turns, reach } = parts
  const { zone, health, tls } = plan.request
  const { primary, provider } = assertEquipped(parts, zone)
  const { host } = plan
  const look = (records: readonly ZoneRecord[]) => parts.look(zone, records)
  const dns: DnsParts = { provider, look, patienceMs: DNS_PATIENCE_MS }
  const records = recordsOf(plan)
  let second: Promise<SecondaryReport> | undefined
  const proxy: ProxyParts = {
    primary,
    secondary,
    alone: (edge, work) => turns.alone(edge, work),
    swapped: () => reach(`${run.action} proxy swapped`),
    alsoOnSecondary: (report) => {
      second = report
    },
  }
  const isServed = async (edge: Edge) => (await edge.ask({ host, path: '/', tls: false })).kind === 'answer'
  let tested: Promise<void> | undefined
  const assertSound = () => {
    tested ??= primary.assertValid()
    return tested
  }
  const backup = backupStep({
    runId: run.runId,
    host,
    edge: primary,
    assertSound,
    shelf: parts.shelf,
    applied: appliedFiles(receipt),
  })

  const target = plan.changes.find((change): change is ProxyChange => change.kind === 'proxy')?.target ?? ''
  const plainSite = { host, planId: plan.planId, target }
  const secureFiles = async (edge: Edge, afters: Afters) => {
    const chosen = afters.get('certificate') as ChosenCertificate | undefined
    return edge.filesFor({ ...plainSite, certificate: chosen && (await parts.loadPair(chosen)) })
  }

  if (run.action === 'remove') {
    const gone = proxyStep(proxy, {
      name: 'proxy',
      fresh: false,
      wanted: (edge) => edge.filesWithout(host),
      restored: async (edge, before) =>
        edge === primary
          ? fromBackup(parts.shelf, run.runId, before)
          : secureFiles(edge, new Map(Object.entries(receipt ?? {}))),
      isRestored: isServed,
    })
    return [backup, releaseNameStep(host, records, dns), waitingFor(gone, () => second)]
  }

  const lower = (wanted: ProxyTarget['wanted']) =>
    proxyStep(proxy, {
      name: 'proxy',
      fresh: true,
      wanted,
      restored: (edge) => edge.filesWithout(host),
      isRestored: async (edge) => !(await isServed(edge)),
    })
  // Testing the edge only looks, as the checks do: it begins with them, and the backup waits for it.
  const check = checkStep(() => {
    assertSound().catch(() => undefined)
    return parts.recheck(plan)
  })
  const claim = claimNameStep(host, records, dns)
  const verify = verifyStep({ host, health, tls }, records, {
    primary,
    secondary,
    secondaryReady: async () => second,
    look,
  })
  if (!tls) return [check, backup, lower((edge) => edge.filesFor(plainSite)), claim, verify]

  const certificate = certificateStep(host, {
    ...parts,
    responder: parts.challenge === 'dns-01' ? parts.dnsResponder(zone, provider) : edgeResponder(plainSite, proxy),
    challengeSet: () => reach('apply certificate challenge-set'),
  })
  if (parts.challenge === 'dns-01') return [check, backup, certificate, lower(secureFiles), claim, verify]

  // By http-01 the authority comes through the name and the edge: both must stand before there is a certificate.
  const secure = proxyStep(proxy, {
    name: 'proxy-tls',
    fresh: false,
    wanted: secureFiles,
    restored: (edge) => edge.filesFor(plainSite),
    isRestored: async () => false,
  })
  return [check, backup, lower((edge) => edge.filesFor(plainSite)), claim, certificate, secure, verify]
}

/** The same step, ended only when the Secondary's part has ended too. */
const waitingFor = (step: Step, other: () => Promise<unknown> | undefined): Step => ({
  ...step,
  do: async (...given) => {
    const after = await step.do(...given)
    await other()
    return after
  },
})

/** Only what stood before the run comes back, as the backup holds it. */
async function fromBackup(shelf: BackupShelf, runId: string, before: readonly FileHash[]) {
  const stood = new Set(before.filter(({ hash }) => hash !== null).map(({ path }) => path))
  return (await shelf.load(runId)).filter(({ path }) => stood.has(path))
}

/** What the apply last wrote, by its receipt. */
export function appliedFiles(receipt: unknown): readonly FileHash[] {
  const { proxy, 'proxy-tls': secured } = (receipt ?? {}) as Partial<Record<ProxyTarget['name'], ProxyAfter>>
  return (secured ?? proxy)?.files ?? []
}

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
