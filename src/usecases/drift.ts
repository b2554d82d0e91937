import { type Difference, differences, type SeenOnSecondary, secondaryDifferences } from '../diagnose/drift.ts'
import type { DnsReader } from '../dns/contract.ts'
import type { EdgeView } from '../edge/contract.ts'
import { Fault, Problem } from '../model/errors.ts'
import { isPlanId, type Plan } from '../model/exposure.ts'
import { type Receipt, recordsOf, type ZoneRecord } from '../model/receipt.ts'
import type { ExposureStore } from '../store/ports/exposures.ts'
import type { PlanStore } from '../store/ports/plans.ts'

/** Everything that finding drift uses. Every part can only read. */
export interface DriftParts {
  readonly store: Pick<ExposureStore, 'findExposure'> & Pick<PlanStore, 'findPlan'>
  /** Undefined when the Primary's edge is not on this machine. */
  readonly view: EdgeView | undefined
  /** The view of the Secondary. Undefined where there is none. */
  readonly secondaryView: Pick<EdgeView, 'whereIs'> | undefined
  /** The absolute path of the file on disk that has a file of the receipt, by the path of an entry on the same edge. */
  readonly pathBeside: (entryPath: string, name: string) => string
  /** Undefined where there is no Secondary on this machine, or it cannot be read. */
  readonly onSecondary: (plan: Plan, receipt: Receipt) => Promise<SeenOnSecondary | undefined>
  /** Whether a certificate and its key are in one of the folders. */
  readonly hasCertificate: (fingerprint: string) => Promise<boolean>
  readonly isCertificateFile: (path: string) => boolean
  readonly readerFor: (zone: string) => DnsReader | undefined
  /** All records of these names that Drawbridge can write. Rejects with Fault for a value that it cannot write. */
  readonly readSets: (reader: DnsReader, names: readonly string[]) => Promise<readonly ZoneRecord[] | 'unknown'>
}

const HANDSHAKE_MS = 3_000

/** Compares an applied plan with the files of both edges, the zone and the certificate that the Primary shows. */
export async function findDrift(parts: DriftParts, planId: string): Promise<readonly Difference[]> {
  const { store, view } = parts
  const plan = isPlanId(planId) ? await store.findPlan(planId) : undefined
  if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
  const exposure = await store.findExposure(plan.host)
  if (exposure?.planId !== planId || exposure.state !== 'applied' || !exposure.receipt)
    throw new Problem('plan_not_applied', `The plan is ${plan.state}. Only an applied plan can be compared.`)
  const { receipt } = exposure
  const applied = recordsOf(plan, receipt)
  const [files, records, served, isInStock, secondary] = await Promise.all([
    view ? view.hashFiles(receipt.files.map(({ path }) => path)) : receipt.files,
    seenRecords(parts, plan.request.zone, applied),
    view && receipt.certificate ? servedFingerprint(view, plan.host) : undefined,
    receipt.certificate ? parts.hasCertificate(receipt.certificate.fingerprint) : true,
    parts.onSecondary(plan, receipt),
  ])
  const { host } = plan
  const { isCertificateFile } = parts
  const found = [
    ...differences({ host, receipt, records: applied }, { files, records, served, isInStock }, isCertificateFile),
    ...(secondary ? secondaryDifferences(secondary, isCertificateFile) : []),
  ]
  const names = new Set([...receipt.files, ...(secondary?.expected ?? [])].map(({ path }) => path))
  return withPaths(parts, host, names, found)
}

/** A person looks for a file by its path on disk: the names of a receipt are no files there. */
async function withPaths(
  { view, secondaryView, pathBeside }: DriftParts,
  host: string,
  names: ReadonlySet<string>,
  found: readonly Difference[],
): Promise<readonly Difference[]> {
  if (!found.some(({ field }) => names.has(field))) return found
  const entryOn = async (edge: typeof secondaryView) => (await edge?.whereIs(host).catch(() => undefined))?.path
  const [primary, secondary] = await Promise.all([entryOn(view), entryOn(secondaryView)])
  return found.map((difference) => {
    const entry = difference.server === undefined ? primary : secondary
    if (entry === undefined || !names.has(difference.field)) return difference
    return { ...difference, path: pathBeside(entry, difference.field) }
  })
}

/** Everything at the names of the applied records. */
async function seenRecords(
  { readerFor, readSets }: DriftParts,
  zone: string,
  applied: readonly ZoneRecord[],
): Promise<readonly ZoneRecord[]> {
  const reader = readerFor(zone)
  if (!reader) throw new Problem('zone_not_managed', `Zone ${zone} is no longer managed here.`)
  const names = applied.map(({ name }) => name)
  const found = await readSets(reader, names).catch((fault: unknown) => {
    throw fault instanceof Fault ? new Problem('dns_unavailable', fault.message) : fault
  })
  if (found !== 'unknown') return found
  throw new Problem('dns_unavailable', `${reader.server} gave no certain answer about ${names[0]}.`)
}

/** Undefined when the Primary did not answer: then nothing is known about its certificate. */
async function servedFingerprint(view: EdgeView, host: string): Promise<string | null | undefined> {
  const { address, ports } = view
  const shown = await view.handshake({ address, port: ports.https }, host, HANDSHAKE_MS)
  if (shown.kind === 'certificate') return shown.fingerprint
  return shown.kind === 'refused' ? null : undefined
}
