import { isPlanId } from '../../model/exposure.ts'
import type { RunName } from '../../model/run.ts'
import type { ChangeItem } from '../contract/change.ts'
import { EdgeFault } from '../contract/fault.ts'
import { areEqual, areServedAlike, entryFault, isHost } from '../record/entry.ts'
import type { Effect, Place, Standing } from './web-server.ts'

/** What an edge knows when it decides about a host. */
export interface Known<S extends Standing> {
  readonly server: string
  readonly find: (host: string) => S | undefined
  /** A host before a run changed it. `kept` false: nobody knows any more. */
  readonly before: (run: RunName, host: string) => { readonly standing: S | undefined } | undefined
  readonly findIn: (generation: number, host: string) => { readonly standing: S | undefined } | undefined
  readonly whereIs: (host: string) => Place
  /** Whether something is only missing of what was rendered: nobody has written anything else in its place. */
  readonly isOnlyMissing: (standing: S) => boolean
  /** Whether another user owns a file of the host. */
  readonly isForeign: (host: string) => boolean
}

/** What is wrong with an item whatever stands, as the end of a sentence. Undefined: every value of it matches its grammar. */
export function itemFault({ host, fence, wanted, takesOver }: ChangeItem): string | undefined {
  if (!isHost(host)) return 'It is not a host'
  if (fence.host !== host) return 'Its fence is that of another host'
  const entry = typeof wanted === 'object' && 'host' in wanted ? wanted : undefined
  const fault = entry && (entryFault(entry) ?? (entry.host === host ? undefined : 'Its entry is that of another host'))
  if (fault !== undefined || !takesOver) return fault
  // The plan names a folder.
  if (!isPlanId(takesOver.plan)) return 'Its site is not taken over for the id of a plan'
  if (wanted === 'before') return undefined
  return entry?.plan === takesOver.plan
    ? undefined
    : 'Its site is taken over without an entry of the same plan in its place'
}

/** Decides what an item of a change does. Throws an EdgeFault if it is refused. Pure: it only reads what is known. */
export function decide<S extends Standing>(item: ChangeItem, run: RunName | undefined, known: Known<S>): Effect<S> {
  const { host, wanted, mend = false } = item
  if (wanted === 'same') return { kind: 'none', isLoaded: false }
  const now = known.find(host)
  if (wanted === 'before') return before(item, run, now, known)
  assertExpected(item, now, known)
  if (now?.isEdited && !mend && wanted !== 'released' && !known.isOnlyMissing(now)) {
    const recertified = recertify(now, wanted)
    if (!recertified) throw edited(host, known)
    return { kind: 'restore', standing: recertified }
  }
  if (wanted === 'absent') return now ? { kind: 'remove' } : SAME
  if (wanted === 'released') {
    if (!now)
      throw new EdgeFault('changed_meanwhile', `Edge ${known.server} does not serve ${host}. Nothing was changed.`)
    return { kind: 'release', standing: now }
  }
  if ('asIn' in wanted) {
    const then = known.findIn(wanted.asIn, host)
    if (!then) throw notKept(`generation ${wanted.asIn}`, known.server)
    return toward(then.standing, now)
  }
  const isSame = now?.entry && !now.isEdited && !now.challenge && areEqual(now.entry, wanted)
  if (isSame && !known.isForeign(host)) return SAME
  return { kind: 'put', entry: wanted, challenge: undefined }
}

/** A host that somebody has edited gets its next certificate all the same. The edit stays. */
function recertify<S extends Standing>(now: S, wanted: ChangeItem['wanted']): S | undefined {
  if (typeof wanted !== 'object' || !('host' in wanted) || !now.entry) return undefined
  const isOther =
    wanted.certificate === null || now.entry.certificate === null || now.entry.certificate === wanted.certificate
  const isAlike = areServedAlike({ ...now.entry, certificate: null }, { ...wanted, certificate: null })
  return isAlike && !isOther ? { ...now, entry: wanted } : undefined
}

const SAME: Effect<never> = { kind: 'none', isLoaded: true }

/** An undo puts back what this run has changed, and nothing that somebody has edited since. */
function before<S extends Standing>(
  { host }: ChangeItem,
  run: RunName | undefined,
  now: S | undefined,
  known: Known<S>,
): Effect<S> {
  const then = run && known.before(run, host)
  // The run has changed nothing here.
  if (!then) return { kind: 'none', isLoaded: false }
  if (then.standing?.revision === now?.revision) return SAME
  if (now?.isEdited && !known.isOnlyMissing(now)) throw edited(host, known)
  return toward(then.standing, now)
}

function toward<S extends Standing>(standing: S | undefined, now: S | undefined): Effect<S> {
  if (standing) return { kind: 'restore', standing }
  return now ? { kind: 'remove' } : SAME
}

function assertExpected<S extends Standing>(
  { host, expected, wanted }: ChangeItem,
  now: S | undefined,
  known: Known<S>,
): void {
  if (expected === 'any') return
  // A change may be sent again after it was made, if its answer was lost.
  const isMade =
    typeof wanted === 'object' && 'host' in wanted && now?.entry && !now.isEdited && areEqual(now.entry, wanted)
  if (isMade || (wanted === 'absent' && !now)) return
  if (expected === 'absent') {
    if (!now) return
    throw new EdgeFault(
      'changed_meanwhile',
      `Edge ${known.server} has an entry of ${host} already (${at(known.whereIs(host))}). Nothing was changed.`,
    )
  }
  if (now?.revision === expected.revision) return
  if (now?.isEdited && !known.isOnlyMissing(now)) throw edited(host, known)
  throw new EdgeFault(
    'changed_meanwhile',
    `The entry of ${host} on edge ${known.server} has changed meanwhile. Nothing was changed.`,
  )
}

const at = ({ file, line }: Place): string => (line === null ? file : `${file}, line ${line}`)

const edited = <S extends Standing>(host: string, known: Known<S>): EdgeFault =>
  new EdgeFault(
    'changed_elsewhere',
    `The entry of ${host} on edge ${known.server} was changed outside Drawbridge (${at(known.whereIs(host))}). It was not overwritten.`,
  )

const notKept = (what: string, server: string): EdgeFault =>
  new EdgeFault('change_invalid', `Edge ${server} does not keep ${what} any more. Nothing was changed.`)
