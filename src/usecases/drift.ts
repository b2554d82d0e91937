import {
  type AppliedEntry,
  type Difference,
  differences,
  type SeenEntry,
  secondaryDifferences,
} from '../diagnose/drift.ts'
import type { DnsReader } from '../dns/contract.ts'
import type { EdgeView } from '../edge/contract/edge.ts'
import type { ListedHost } from '../edge/contract/list.ts'
import { certificateId } from '../edge/record/entry.ts'
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
  /** Undefined where there is no Secondary on this machine, or it cannot be read. */
  readonly onSecondary: (host: string) => Promise<SeenEntry | undefined>
  /** Whether a certificate and its key are in one of the folders. */
  readonly hasCertificate: (fingerprint: string) => Promise<boolean>
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
  const { host } = plan
  const [entry, records, served, isInStock, secondary] = await Promise.all([
    view && seenOn('', view, host).catch(unavailable),
    seenRecords(parts, plan.request.zone, applied),
    view && receipt.certificate ? servedCertificate(view, plan.host).catch(unavailable) : undefined,
    receipt.certificate ? parts.hasCertificate(receipt.certificate.fingerprint) : true,
    parts.onSecondary(host),
  ])
  const known = appliedEntry(plan, receipt)
  return [
    ...differences({ host, receipt, records: applied, entry: known }, { entry, records, served, isInStock }),
    ...(secondary ? secondaryDifferences(secondary, known) : []),
  ]
}

const RETRY_AFTER_SECONDS = 5

/** The Primary did not tell: unknown is not drift. */
function unavailable(fault: unknown): never {
  throw fault instanceof Fault ? new Problem('unavailable', fault.message, { retryAfter: RETRY_AFTER_SECONDS }) : fault
}

/** What the apply of a plan has given to the edges. */
export const appliedEntry = ({ planId, request }: Plan, { certificate }: Receipt): AppliedEntry => ({
  plan: planId,
  certificate: request.tls && certificate ? certificateId(certificate.fingerprint) : null,
  shown: certificate,
})

/** The entry of a host on an edge. */
export async function seenOn(server: string, view: Pick<EdgeView, 'list'>, host: string): Promise<SeenEntry> {
  const [listed] = (await view.list([host])).hosts
  if (!listed) throw new Fault(`Edge ${server} tells nothing about ${host}.`)
  return seenEntry(server, listed)
}

const seenEntry = (server: string, { entry, drift, file, line }: ListedHost): SeenEntry => ({
  ...{ server, file, line, drift },
  plan: entry?.plan ?? null,
  certificate: entry?.certificate ?? null,
})

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
async function servedCertificate(view: EdgeView, host: string): Promise<ServedCertificate | null | undefined> {
  const { address, ports } = view
  const shown = await view.handshake({ address, port: ports.https }, host, HANDSHAKE_MS)
  if (shown.kind === 'certificate') return shown
  return shown.kind === 'refused' ? null : undefined
}

type ServedCertificate = Extract<Awaited<ReturnType<EdgeView['handshake']>>, { readonly kind: 'certificate' }>
