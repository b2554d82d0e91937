import { lstatSync } from 'node:fs'
import { type Drift, type ListedHost, MOST_TOUCHED } from '../../edge/contract/list.ts'
import type { Fences } from '../../edge/fences/fences.ts'
import type { Clock } from '../../primitives/clock.ts'
import { Slices } from '../../primitives/slices.ts'
import type { Parts } from '../config/render-entry.ts'
import { type HostKind, shardOf, TEXT_KINDS } from '../config/shards.ts'
import type { Listening } from '../config/sockets.ts'
import { blockDrift, blockLines } from './block-drift.ts'
import type { PresentGeneration } from './present.ts'
import { renderedAs, type Standing } from './standing.ts'

/** How often a list is begun again because a generation was entered meanwhile. */
const ATTEMPTS = 3

interface Listed {
  /** Undefined: all. */
  readonly hosts: readonly string[] | undefined
  readonly listening: Listening
  readonly clock: Clock
}

/** The hosts of the present generation, or the hosts of this list. */
export async function listHosts(
  present: PresentGeneration,
  fences: Pick<Fences, 'of'>,
  { hosts, listening, clock }: Listed,
): Promise<readonly ListedHost[]> {
  const slices = new Slices(clock)
  const standings = await standingsOf(present, hosts && inOrderOfFiles(hosts), slices)
  const names = standings.map((one) => (typeof one === 'string' ? one : one.host))
  const known = new Map(fences.of(names).map((fence) => [fence.host, fence]))
  const touched = touchedIn(present, slices)
  const withTouched = (one: Standing, drifts: readonly Drift[]) =>
    Promise.all(drifts.map(async (drift) => ({ ...drift, ...sinceOf(drift.file), ...(await touched(one, drift)) })))
  const listed: ListedHost[] = []
  for (const one of standings) {
    if (slices.isOver) await slices.next()
    const host = typeof one === 'string' ? one : one.host
    const fence = known.get(host) ?? null
    const place = present.whereIs(host)
    const drift = typeof one === 'string' ? [] : driftOf(one, present, listening)
    listed.push(
      typeof one === 'string'
        ? { host, entry: null, revision: null, fence, drift: [], ...place }
        : {
            host,
            entry: one.entry ?? null,
            revision: one.revision,
            fence,
            // Without a drift nothing waits: files that were read in this turn are not looked at again.
            drift: drift.length === 0 ? drift : await withTouched(one, drift),
            ...place,
          },
    )
  }
  if (!hosts) return listed
  const found = new Map(listed.map((one) => [one.host, one]))
  return hosts.flatMap((host) => found.get(host) ?? [])
}

/** Files are looked at again in every slice, so that a slice should need few of them. */
const inOrderOfFiles = (hosts: readonly string[]): readonly string[] => [...Map.groupBy(hosts, shardOf).values()].flat()

/** All of one generation: with the fences that are read next, an entry of a former one would look like that of another store. */
async function standingsOf(
  present: PresentGeneration,
  hosts: readonly string[] | undefined,
  slices: Slices,
): Promise<readonly (Standing | string)[]> {
  for (let attempt = 1; ; attempt += 1) {
    const { number } = present
    const standings: (Standing | string)[] = []
    for (const one of hosts ?? present.all()) {
      standings.push(typeof one === 'string' ? (present.find(one) ?? one) : one)
      // Where generations follow each other faster than they are read, the last attempt waits for nobody.
      if (slices.isOver && attempt < ATTEMPTS) await slices.next()
    }
    if (present.number === number || attempt === ATTEMPTS) return standings
  }
}

/** Whom a change of a whole file, or of a certificate, touches as well. */
function touchedIn(
  present: PresentGeneration,
  slices: Slices,
): (standing: Standing, drift: Drift) => Promise<Partial<Drift>> {
  let users: Promise<ReadonlyMap<string, readonly string[]>> | undefined
  const usersOf = async (certificate: string): Promise<readonly string[]> => {
    users ??= usersIn(present, slices)
    return (await users).get(certificate) ?? []
  }
  return async ({ host, entry }, { field, found }) => {
    const lost = field === 'certificate' && found === 'missing' ? entry?.certificate : undefined
    const isWholeFile = field === 'owner' || found === LINK
    const hosts = isWholeFile ? present.sharingFilesOf(host) : lost ? await usersOf(lost) : []
    const others = hosts.filter((other) => other !== host)
    return {
      ...(others.length > 0 && { alsoTouches: others.slice(0, MOST_TOUCHED) }),
      ...(others.length > MOST_TOUCHED && { alsoTouchesMore: others.length - MOST_TOUCHED }),
    }
  }
}

/** The hosts of each certificate. */
async function usersIn(present: PresentGeneration, slices: Slices): Promise<ReadonlyMap<string, readonly string[]>> {
  const users = new Map<string, string[]>()
  for (const { host, entry } of present.all()) {
    if (slices.isOver) await slices.next()
    if (!entry?.certificate) continue
    const hosts = users.get(entry.certificate)
    if (hosts) hosts.push(host)
    else users.set(entry.certificate, [host])
  }
  return users
}

function sinceOf(file: string): Pick<Drift, 'since'> {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found ? { since: Math.floor(found.mtimeMs) } : {}
}

const LINK = 'a-link'

const FIELDS: Readonly<Record<HostKind, string>> = {
  entries: 'record',
  'names-http': 'name',
  'names-https': 'name',
  backends: 'backend',
  answers: 'proof',
  challenges: 'challenge',
  blocks: 'block',
  'tls/hosts': 'certificate',
}

/** The edits of a host. Must not contain proofs or the text of blocks. */
function driftOf(standing: Standing, present: PresentGeneration, listening: Listening): readonly Drift[] {
  const { host, entry, parts, isEdited } = standing
  const link = isEdited ? present.linkOf(host) : undefined
  if (link !== undefined) return [{ field: FIELDS[link], found: LINK, ...present.whereIs(host, [link]) }]
  if (!isEdited) return [...withoutPair(standing, present), ...foreignOwner(host, present)]
  if (!entry) return [{ field: 'record', ...present.whereIs(host, ['entries']) }]
  const rendered = renderedAs(standing, listening)
  const kinds = differingKinds(parts, rendered)
  // Another version rendered the text, and it was edited since.
  const differing = kinds.length > 0 ? kinds : [parts.has('blocks') ? ('blocks' as const) : ('backends' as const)]
  return differing.flatMap((kind): readonly Drift[] | Drift => {
    const place = { field: FIELDS[kind], ...present.whereIs(host, [kind]) }
    const text = parts.get(kind)
    if (text === undefined) return { ...place, found: 'missing' }
    const wanted = rendered?.get(kind)
    if (kind === 'blocks' && wanted !== undefined)
      return blockDrift(wanted, text).map(({ at, ...told }) => ({
        ...told,
        file: place.file,
        line: place.line === null ? null : place.line + at,
      }))
    const [expected, found] = [valueIn(wanted), valueIn(text)]
    const isTold = (kind === 'backends' || kind === 'tls/hosts') && expected !== found
    return { ...place, ...(isTold && { expected, found }) }
  })
}

/** Reports a file of the host that another user owns. */
function foreignOwner(host: string, present: PresentGeneration): readonly Drift[] {
  const owner = present.foreignOwnerOf(host)
  if (owner === undefined) return []
  return [{ field: 'owner', expected: 'Drawbridge', found: `user-id-${owner}`, ...present.whereIs(host) }]
}

/** Reports a missing certificate: nginx does not have it, although a line names it. */
function withoutPair({ host, entry }: Standing, present: PresentGeneration): readonly Drift[] {
  if (!entry?.certificate || present.hasPem(entry.certificate)) return []
  return [{ field: 'certificate', found: 'missing', ...present.whereIs(host, ['tls/hosts']) }]
}

/**
 * The edits of a host, line by line, by the fields of its drift. Must never leave this machine: these are lines of files. Empty where
 * the edge does not know what it should be.
 */
export function linesOf(standing: Standing, listening: Listening): readonly FieldLines[] {
  const { parts } = standing
  const rendered = renderedAs(standing, listening)
  if (!rendered) return []
  return differingKinds(parts, rendered).flatMap((kind): FieldLines | FieldLines[] => {
    const [wanted = '', text = ''] = [rendered.get(kind), parts.get(kind)]
    if (kind !== 'blocks') return { field: FIELDS[kind], expected: splitLines(wanted), found: splitLines(text) }
    return blockLines(wanted, text).map(({ field, missing, further }) => ({
      field,
      expected: missing.map((line) => line.text),
      found: further.map((line) => line.text),
    }))
  })
}

export interface FieldLines {
  readonly field: string
  readonly expected: readonly string[]
  readonly found: readonly string[]
}

const splitLines = (text: string): string[] => text.split('\n').flatMap((line) => line.trim() || [])

const differingKinds = (parts: Parts, rendered: Parts | undefined): HostKind[] =>
  TEXT_KINDS.filter((kind) => parts.get(kind) !== rendered?.get(kind))

/** The value of a line in a map. */
const valueIn = (part = ''): string | undefined => /^\s*\S+\s+([^\s;{}"']{1,300})\s*;/.exec(part)?.[1]?.toWellFormed()
