import { createHash } from 'node:crypto'
import type { ZoneRecord } from '../../dns/contract.ts'
import type { Change, ExposureRequest, Plan, ProxyChange } from '../../model/exposure.ts'
import type { ExposureOptions } from '../../model/options/grammar.ts'
import { type ChosenCertificate, idInMark, type Receipt } from '../../model/receipt.ts'
import { BY_CONSOLE, type StepName } from '../../model/run.ts'

/** An entry of Drawbridge as an edge has it. */
export interface FoundEntry {
  readonly host: string
  /** The server of the edge. */
  readonly edge: string
  /** Undefined for an unreadable entry: it was edited, or another version wrote it. */
  readonly record:
    | ({
        readonly planId: string
        readonly tls: boolean
        /** As a plan keeps it. */
        readonly proof: string
        readonly health: string | undefined
        readonly owner: string | undefined
        readonly note: string | undefined
      } & Pick<ProxyChange, 'target' | 'furtherTargets' | 'options'>)
    | undefined
  /** The id of its pair on the edge. */
  readonly certificate: string | undefined
  /** The epoch of the store that changed it last. */
  readonly epoch: number | undefined
  /** The number of its newest run there; 0: none. */
  readonly number: number
  /** The id of that store. Undefined where an earlier version has changed it. */
  readonly store: string | undefined
}

/** A valid request, as this installation would plan it now. */
interface Resolved {
  readonly request: ExposureRequest
  readonly url: string
  /** The records that the zone publishes for the host, without the owner mark. */
  readonly published: readonly Pick<ZoneRecord, 'type' | 'value'>[]
  readonly ttl: number
}

export interface AdoptionParts {
  /** All records of the host and of its owner mark. `unknown`: the zone did not answer for certain. */
  readonly records: (host: string) => Promise<readonly ZoneRecord[] | 'unknown'>
  /** The server and the backend's port that a target belongs to. */
  readonly backendOf: (target: string) => { readonly server: string; readonly port: number } | undefined
  /** Undefined for a host in no zone of this installation. */
  readonly zoneOf: (host: string) => { readonly zone: string; readonly subdomain: string } | undefined
  /** Rejects with Problem if this installation would refuse the request. */
  readonly resolve: (request: ExposureRequest) => Resolved
  /** The certificate with which an edge serves the host. */
  readonly certificateOf: (entry: FoundEntry) => Promise<ChosenCertificate | undefined>
  /** The path that answers with 2xx, for an entry of an earlier version, which does not contain it. */
  readonly healthOf: (entry: FoundEntry) => Promise<string>
  readonly steps: (tls: boolean) => readonly StepName[]
  readonly now: () => number
}

/** Facts that only a file of exposures has. */
export interface Remembered {
  readonly health?: string | undefined
  readonly expiresAt?: number | undefined
}

export interface Adoption {
  readonly host: string
  readonly plan: Plan
  readonly receipt: Receipt
  readonly expiresAt: number | undefined
  readonly epoch: number | undefined
  /** The highest number that an edge is believed. */
  readonly number: number
  /** The facts that were not found and were guessed. */
  readonly guessed: readonly ('health' | 'expiry')[]
}

/** Why an entry is not adopted, as a sentence. */
export class NotOurs extends Error {}

/** Rejects with NotOurs, or with the Problem of a request that this installation would refuse. */
export async function adopt(entry: FoundEntry, parts: AdoptionParts, remembered: Remembered = {}): Promise<Adoption> {
  const { host, record, epoch, number } = entry
  if (!record) throw new NotOurs(`The entry on edge ${entry.edge} was edited, or another version wrote it.`)
  const named = parts.zoneOf(host)
  if (!named) throw new NotOurs('No zone of the configuration contains it.')
  const backend = parts.backendOf(record.target)
  if (!backend) throw new NotOurs(`No deployment target of the configuration has the address of ${record.target}.`)
  const { owner, note } = record
  const known = remembered.health ?? record.health
  const health = known ?? (await parts.healthOf(entry))
  const options = requestedOptions(record, parts)
  const wanted = { ...named, ...backend, health, tls: record.tls, ...(options && { options }), owner, note }
  const { request, url, published, ttl } = parts.resolve(wanted)
  const { exposureId, records } = ownRecords(host, await parts.records(host), published)
  const certificate = record.tls ? await certificateFor(entry, parts) : undefined
  const createdAt = parts.now()
  const draft = {
    planId: record.planId,
    state: 'applied',
    host,
    url,
    request,
    checks: [],
    changes: changesOf(record, certificate, records, ttl),
    steps: parts.steps(record.tls),
    createdAt,
    expiresAt: createdAt,
    createdBy: BY_CONSOLE.actor,
    network: BY_CONSOLE.network,
    proof: record.proof,
    exposureId,
  } as const
  const plan: Plan = { ...draft, digest: digestOf(draft) }
  const receipt: Receipt = { version: 2, records, ...(certificate && { certificate }) }
  const guessed = [
    ...(known === undefined ? (['health'] as const) : []),
    ...('expiresAt' in remembered ? [] : (['expiry'] as const)),
  ]
  return { host, plan, receipt, expiresAt: remembered.expiresAt, epoch, number, guessed }
}

/** The options of an entry as a caller writes them: a further backend is a server and a port. */
function requestedOptions(
  { options, furtherTargets }: NonNullable<FoundEntry['record']>,
  { backendOf }: AdoptionParts,
): ExposureOptions | undefined {
  const backends = furtherTargets?.map((target) => {
    const backend = backendOf(target)
    if (!backend) throw new NotOurs(`No deployment target of the configuration has the address of ${target}.`)
    return backend
  })
  return options || backends ? { ...options, ...(backends && { backends }) } : undefined
}

/** The records under our owner mark. Refuses a name whose records are not those that this installation publishes. */
function ownRecords(
  host: string,
  found: readonly ZoneRecord[] | 'unknown',
  published: Resolved['published'],
): { readonly exposureId: string; readonly records: readonly ZoneRecord[] } {
  if (found === 'unknown') throw new NotOurs('The DNS server of its zone gave no certain answer. Try again.')
  const marks = found.filter(({ name, type }) => type === 'TXT' && name !== host)
  const [mark] = marks
  const exposureId = idInMark(mark?.value ?? '')
  if (!mark || marks.length !== 1 || exposureId === undefined)
    throw new NotOurs(`Its owner mark, the TXT record of _drawbridge.${host}, is missing or was changed.`)
  const own = found.filter(({ name, type }) => name === host && type !== 'TXT')
  const keysOf = (records: Resolved['published']) => new Set(records.map(({ type, value }) => `${type} ${value}`))
  if (keysOf(own).symmetricDifference(keysOf(published)).size > 0)
    throw new NotOurs('Its address records are not those that the zone publishes in the configuration.')
  return { exposureId, records: [...own, mark] }
}

async function certificateFor(entry: FoundEntry, parts: AdoptionParts): Promise<ChosenCertificate> {
  const found = await parts.certificateOf(entry)
  if (!found)
    throw new NotOurs(
      `Edge ${entry.edge} does not show the certificate that the entry names, or that certificate is not for this host.`,
    )
  return found
}

function changesOf(
  { target, tls, furtherTargets, options }: NonNullable<FoundEntry['record']>,
  certificate: ChosenCertificate | undefined,
  records: readonly ZoneRecord[],
  ttl: number,
): readonly Change[] {
  const [{ name: serverName } = { name: '' }] = records
  return [
    ...(certificate ? [{ kind: 'certificate', action: 'reuse', names: certificate.names } as const] : []),
    {
      ...{ kind: 'proxy', action: 'create', serverName, target, https: tls },
      ...(furtherTargets && { furtherTargets }),
      ...(options && { options }),
    },
    ...records.map((record) => ({ kind: 'dns', action: 'create', ...record, ttl }) as const),
  ]
}

const digestOf = (draft: object): string => `sha256:${createHash('sha256').update(JSON.stringify(draft)).digest('hex')}`
