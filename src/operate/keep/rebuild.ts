import { sentenceOf } from '../../model/errors.ts'
import { epochAhead, HIGHEST_NUMBER } from '../../model/run.ts'
import {
  type Adoption,
  type AdoptionParts,
  adopt,
  type FoundEntry,
  NotOurs,
  type Remembered,
} from './rebuilt-exposure.ts'

type EdgeLists = readonly (readonly FoundEntry[])[]

export interface RebuildParts extends AdoptionParts {
  /** The hosts on each edge, those of the Primary first, and the servers whose edges could not be read. Rejects if the Primary's cannot. */
  readonly entries: () => Promise<{ readonly lists: EdgeLists; readonly silent: readonly string[] }>
  /** The id of a store that has hosts already. Undefined for one that is empty: it takes the id of the store that was lost. */
  readonly storeId: () => Promise<string | undefined>
  /** Whether the store knows the host or the plan already. */
  readonly isKnown: (host: string, planId: string) => Promise<boolean>
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
