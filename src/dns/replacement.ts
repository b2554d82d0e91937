import { CONFLICTING_TYPES } from '../model/finding.ts'
import type { ZoneRecord } from './contract.ts'
import { UnwritableValue } from './wire/rdata.ts'
import type { OutgoingRecord } from './wire/record.ts'
import { adds, deletes, nameNotInUse, rrsetAbsent, rrsetIs, type Update } from './wire/update.ts'

/**
 * The update that puts `wanted` in the place of `found`. Its prerequisites hold while the zone is as `found` says. Throws
 * `UnwritableValue` if `wanted` has an alias beside another record: a server would ignore one of them without a word.
 */
export function replacement(
  found: readonly ZoneRecord[],
  wanted: readonly ZoneRecord[],
): Pick<Update, 'prerequisites' | 'changes'> {
  const names = [...new Set([...found, ...wanted].map(({ name }) => name))]
  const sites = names.map((name) => ({ name, found: at(found, name), wanted: at(wanted, name) }))
  for (const site of sites) assertAliasAlone(site)
  const changed = sites.flatMap(changedSets)
  return {
    prerequisites: sites.flatMap(prerequisitesOf),
    // A server makes the changes in this order, and ignores an alias that is added beside other records (RFC 2136 section 3.4.2.2).
    changes: [...changed.flatMap((set) => set.found.map(deletes)), ...changed.flatMap((set) => set.wanted.map(adds))],
  }
}

/** The records of one name. */
interface Site {
  readonly name: string
  readonly found: readonly ZoneRecord[]
  readonly wanted: readonly ZoneRecord[]
}

const at = (records: readonly ZoneRecord[], name: string) => records.filter((record) => record.name === name)

function assertAliasAlone({ name, wanted }: Site): void {
  if (wanted.length > 1 && wanted.some(({ type }) => type === 'CNAME'))
    throw new UnwritableValue(`${name} cannot have a CNAME record beside another record`)
}

/**
 * A type that was not found must be absent where we add it. All types must be absent where we add an alias; where we add
 * another type, a record that was found already excludes an alias that was not.
 */
function prerequisitesOf({ name, found, wanted }: Site): OutgoingRecord[] {
  if (found.length === 0) return [nameNotInUse(name)]
  const standing = new Set<string>(found.map(({ type }) => type))
  const absent = new Set(wanted.flatMap(({ type }) => (type === 'CNAME' ? CONFLICTING_TYPES : [type])))
  return [...found.map(rrsetIs), ...[...absent.difference(standing)].map((type) => rrsetAbsent(name, type))]
}

/** The sets that differ, whole: the records of a set share one TTL, so a set with another TTL is written anew. */
function changedSets({ found, wanted }: Site): Pick<Site, 'found' | 'wanted'>[] {
  const types = [...new Set([...found, ...wanted].map(({ type }) => type))]
  const sets = types.map((type) => ({ found: ofType(found, type), wanted: ofType(wanted, type) }))
  return sets.filter((set) => !isSameSet(set.found, set.wanted))
}

const ofType = (records: readonly ZoneRecord[], type: string) => records.filter((record) => record.type === type)

const isSameSet = (left: readonly ZoneRecord[], right: readonly ZoneRecord[]): boolean =>
  contentOf(left).symmetricDifference(contentOf(right)).size === 0

const contentOf = (records: readonly ZoneRecord[]) => new Set(records.map(({ ttl, value }) => `${ttl} ${value}`))
