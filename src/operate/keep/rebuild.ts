import { createHash } from 'node:crypto'
import type { ZoneRecord } from '../../dns/contract.ts'
import { sentenceOf } from '../../model/errors.ts'
import type { Change, ExposureRequest, Plan, ProxyChange } from '../../model/exposure.ts'
import type { ExposureOptions } from '../../model/options/grammar.ts'
import { type ChosenCertificate, idInMark, type Receipt } from '../../model/receipt.ts'
import { BY_CONSOLE, epochAhead, HIGHEST_NUMBER, type StepName } from '../../model/run.ts'

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

type EdgeLists = readonly (readonly FoundEntry[])[]

export interface RebuildParts {
  /** The hosts on each edge, those of the Primary first, and the servers whose edges could not be read. Rejects if the Primary's cannot. */
  readonly entries: () => Promise<{ readonly lists: EdgeLists; readonly silent: readonly string[] }>
  /** The id of a store that has hosts already. Undefined for one that is empty: it takes the id of the store that was lost. */
  readonly storeId: () => Promise<string | undefined>
  /** Whether the store knows the host or the plan already. */
  readonly isKnown: (host: string, planId: string) => Promise<boolean>
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
interface Remembered {
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

interface NotAdopted {
  readonly host: string
  readonly reason: string
}

export interface Findings {
  readonly adoptions: readonly Adoption[]
  readonly left: readonly NotAdopted[]
  /** Hosts that the store has already. */
  readonly known: number
  /** Servers whose edges could not be read. */
  readonly silent: readonly string[]
  /** The id that the store must have, so that the edges take its changes. Undefined: any. */
  readonly store: string | undefined
}

interface LookOptions {
  /** Also adopts what stores of other epochs than the newest one have changed last. */
  readonly otherEpochs: boolean
  /** By host. */
  readonly remembered: ReadonlyMap<string, Remembered>
}

export interface RebuildOptions extends LookOptions {
  /** Asks whether to adopt what was found. Rejects, or resolves with false, to leave everything as it is. */
  readonly confirm: (found: Findings) => Promise<boolean>
}

export interface RebuildReport extends Findings {
  /** Undefined if nothing was adopted. */
  readonly epoch: number | undefined
}

/** Reads edges, zones and certificates, and reports what can be managed again. Changes nothing. */
export async function lookAtWorld(parts: RebuildParts, options: LookOptions): Promise<Findings> {
  const { lists, silent } = await parts.entries()
  const origin = originOf(lists, await parts.storeId(), parts.now())
  const { store } = origin
  const entries = inOrder(lists, (entry) => numberOf(entry, store, parts.now()))
  const found: (Adoption | NotAdopted | 'known')[] = []
  for (let at = 0; at < entries.length; at += AT_ONCE)
    found.push(
      ...(await Promise.all(entries.slice(at, at + AT_ONCE).map((entry) => judge(entry, origin, parts, options)))),
    )
  const unknown = found.filter((each) => each !== 'known')
  return {
    adoptions: unknown.filter((each) => 'plan' in each),
    left: unknown.filter((each) => 'reason' in each),
    known: found.length - unknown.length,
    silent,
    store,
  }
}

/** The store that was lost. */
interface Origin {
  readonly newest: number
  readonly store: string | undefined
}

/**
 * The Primary tells it, and another edge only where no host of the Primary does: an edge could tell a store of its own, with an epoch
 * above the true one, and every host of the Primary would be left. `known`: the id of the store that has hosts already.
 */
function originOf(lists: EdgeLists, known: string | undefined, now: number): Origin {
  const isTold = ({ epoch, store }: FoundEntry) =>
    isBelieved(epoch, now) && (known === undefined || store === undefined || store === known)
  const told = lists.map((list) => list.filter(isTold)).find((list) => list.length > 0) ?? []
  const newest = told.reduce((highest, { epoch }) => Math.max(highest, epoch ?? 0), 0)
  return { newest, store: known ?? told.find(({ epoch }) => epoch === newest)?.store }
}

const isBelieved = (epoch: number | undefined, now: number): boolean =>
  epoch !== undefined && epochAhead(epoch, now) === undefined

/** What a store goes on from: its numbers grow from here on, and edges must take them. */
const HIGHEST_TAKEN_OVER = HIGHEST_NUMBER / 2

/** The number that an edge is believed. Those of another store say nothing of this one. */
const numberOf = ({ epoch, number, store: of }: FoundEntry, store: string | undefined, now: number): number =>
  isBelieved(epoch, now) && (of === undefined || of === store) ? Math.min(number, HIGHEST_TAKEN_OVER) : 0

/** Each host once: as the first edge has it, with the highest number that any edge is believed. */
function inOrder(lists: EdgeLists, believed: (entry: FoundEntry) => number): readonly FoundEntry[] {
  const hosts = new Map<string, FoundEntry>()
  for (const entry of lists.flat()) {
    const known = hosts.get(entry.host)
    hosts.set(entry.host, { ...(known ?? entry), number: Math.max(known?.number ?? 0, believed(entry)) })
  }
  return [...hosts.values()].toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

/** How many hosts are looked at together. */
const AT_ONCE = 16

async function judge(
  entry: FoundEntry,
  { newest, store }: Origin,
  parts: RebuildParts,
  { otherEpochs, remembered }: LookOptions,
): Promise<Adoption | NotAdopted | 'known'> {
  const { host, record, epoch } = entry
  if (record && (await parts.isKnown(host, record.planId))) return 'known'
  const ahead = epoch === undefined ? undefined : epochAhead(epoch, parts.now())
  if (ahead !== undefined) return { host, reason: futureEpoch(entry.edge, ahead) }
  if (entry.store !== undefined && entry.store !== store) return { host, reason: otherStore(entry, store) }
  if (epoch !== undefined && epoch !== newest && !otherEpochs) return { host, reason: otherEpoch(epoch, newest) }
  return adopt(entry, parts, remembered.get(host)).catch((error: unknown) => ({
    host,
    reason: error instanceof NotOurs ? error.message : sentenceOf(error),
  }))
}

const futureEpoch = (edge: string, ahead: string): string =>
  `Edge ${edge} tells an epoch for it that is ${ahead} ahead of the clock of this machine. Compare the clocks of both machines.`

const otherEpoch = (epoch: number, newest: number): string =>
  `It was changed last by the store of epoch ${epoch}, and other hosts by that of epoch ${newest}. ` +
  'If both are this installation, for example before and after a restore, pass --other-epochs.'

const otherStore = ({ edge, store }: FoundEntry, own: string | undefined): string =>
  `On edge ${edge} it belongs to store ${store}, and this one is ${own ?? 'a new one'}. If that store is gone, run on the machine of the ` +
  `edge: drawbridge edge hand-over ${store} ${own ?? 'STORE'}.`

/** Why an entry is not adopted, as a sentence. */
class NotOurs extends Error {}

async function adopt(entry: FoundEntry, parts: RebuildParts, remembered: Remembered = {}): Promise<Adoption> {
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
  { backendOf }: RebuildParts,
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

async function certificateFor(entry: FoundEntry, parts: RebuildParts): Promise<ChosenCertificate> {
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
