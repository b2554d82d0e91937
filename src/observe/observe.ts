import type { DnsReader, ZoneRecord } from '../dns/contract.ts'
import type { EdgePreflight } from '../edge/contract/edge.ts'
import { sentenceOf } from '../model/errors.ts'
import type { CertificateFact, HealthFact, NameFact, Observation, ProxyFact } from '../model/finding.ts'
import type { FoundSite } from '../model/options/adoption.ts'
import type { Desired } from '../plan/desired.ts'
import { type CertificateSources, checkCertificate } from './certificate-check.ts'
import type { HealthTarget } from './health-probe.ts'
import { nameInUse } from './name-in-use.ts'

/** Read-only: none of these parts can change anything. */
export interface ObserveParts extends Omit<CertificateSources, 'reader'> {
  /** A reader of the zone's own primary. */
  readonly readerFor: (zone: string) => DnsReader
  readonly probe: (target: ProbeTarget) => Promise<HealthFact>
  /** What already uses the host in Drawbridge: a live exposure, or a run for it. */
  readonly holder: (
    host: string,
  ) => Promise<{ readonly by: 'exposure' | 'run'; readonly planId?: string | undefined } | undefined>
  /** The records of the exposure whose place a plan takes: the name must hold exactly these. Undefined for a new name. */
  readonly kept?: readonly ZoneRecord[] | undefined
  /** Whether a server serves exactly these records. */
  readonly readBack: (reader: DnsReader, records: readonly ZoneRecord[]) => Promise<'yes' | 'no' | 'partly' | 'unknown'>
  /** All records of these names that Drawbridge can write. */
  readonly readSets: (reader: DnsReader, names: readonly string[]) => Promise<readonly ZoneRecord[] | 'unknown'>
  /** The hand-written site of a host on the Primary. */
  readonly site: (host: string) => Promise<FoundSite | undefined>
  /** The Primary's nginx; undefined where no edge is configured. */
  readonly edge: EdgePreflight | undefined
}

interface ProbeTarget extends Omit<HealthTarget, 'tls' | 'trust'> {
  /** The authority that the backend's certificate must be of, and the name in it. Undefined: the backend speaks HTTP. */
  readonly authority?: { readonly id: string; readonly name: string } | undefined
}

/** Does the four checks at the same time. */
export async function observe(parts: ObserveParts, desired: Desired): Promise<Observation> {
  const { host, backend, request } = desired
  const { backendTls } = request.options ?? {}
  const authority = backendTls && { id: backendTls.authority, name: backendTls.name ?? host }
  const reader = parts.readerFor(request.zone)
  const [health, name, certificate, proxy] = await Promise.all([
    parts.probe({ ...backend, path: request.health, host, ...(authority && { authority }) }),
    checkName(parts, reader, request, host),
    certificateFact(parts, reader, desired),
    checkProxy(parts, host, request),
  ])
  return { health, name, certificate, proxy }
}

/** A host that Drawbridge itself uses is taken, whatever DNS answers. */
async function checkName(
  parts: ObserveParts,
  reader: DnsReader,
  { zone, adopt }: Desired['request'],
  host: string,
): Promise<NameFact> {
  const { kept } = parts
  const fact = kept
    ? keptName(parts, reader, kept)
    : nameInUse(reader, zone, host, parts.clock).then((seen) => (adopt ? heldName(parts, reader, host, seen) : seen))
  const [seen, held] = await Promise.all([fact, parts.holder(host)])
  if (!held) return seen
  const { by, planId } = held
  return { kind: 'taken', by, types: [], at: host, ...(planId !== undefined && { planId }) }
}

async function keptName({ readBack }: ObserveParts, reader: DnsReader, kept: readonly ZoneRecord[]): Promise<NameFact> {
  const held = await readBack(reader, kept)
  if (held === 'unknown')
    return { kind: 'unknown', reason: `${reader.server} gave no certain answer about the records` }
  return { kind: held === 'yes' ? 'kept' : 'changed' }
}

/** The records of a name whose site is adopted are no conflict: they stay. */
async function heldName(
  { readSets }: ObserveParts,
  reader: DnsReader,
  host: string,
  seen: NameFact,
): Promise<NameFact> {
  if (seen.kind !== 'taken' || seen.by !== 'record') return seen
  try {
    const records = await readSets(reader, [host])
    if (records !== 'unknown') return { kind: 'held', records: records.filter(({ type }) => type !== 'TXT') }
    return { kind: 'unknown', reason: `${reader.server} gave no certain answer about the records` }
  } catch (error) {
    return { kind: 'unknown', reason: sentenceOf(error) }
  }
}

async function certificateFact(parts: ObserveParts, reader: DnsReader, desired: Desired): Promise<CertificateFact> {
  const { host, request } = desired
  return request.tls ? checkCertificate({ ...parts, reader }, request.zone, host) : { kind: 'not_required' }
}

async function checkProxy({ edge, site }: ObserveParts, host: string, request: Desired['request']): Promise<ProxyFact> {
  const fact = edge ? await edge.check(host, request.tls) : { kind: 'not_required' as const }
  if (!request.adopt) return fact
  const found = await site(host)
  if (found?.digest !== request.adopt.site || found.text !== request.adopt.text) return { kind: 'moved' }
  const isIts = fact.kind === 'taken' && found.blocks.some(({ file, line }) => file === fact.file && line === fact.line)
  if (fact.kind !== 'free' && !isIts) return fact
  const { carried, lost, changed } = found
  return { kind: 'adopted', carried, lost, changed }
}
