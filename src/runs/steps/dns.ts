import type { ZoneRecord } from '../../dns/contract.ts'
import { marksPlan } from '../../model/receipt.ts'
import { poll } from '../../primitives/retry.ts'
import { type Note, type Step, StepFault } from '../engine/step.ts'
import { type DnsParts, noCertainAnswer, readUntilCertain, type SentUpdates, ZoneUpdates } from './zone-updates.ts'

/** The records that a step is about, and what it has sent. */
interface NamedRecords extends SentUpdates {
  readonly records: readonly ZoneRecord[]
}

const updatesOf = <Before extends SentUpdates>(
  parts: DnsParts,
  direction: 'do' | 'undo',
  before: Before,
  note: Note<Before>,
): ZoneUpdates => new ZoneUpdates(parts, direction, before, (sent, detail) => note({ ...before, ...sent }, detail))

/**
 * Adds the host's record and its owner mark in one update. Records that are kept must be there. After a crash the journal tells
 * the records: the version that began the run may have written another owner mark.
 */
export function claimNameStep(
  host: string,
  records: readonly ZoneRecord[],
  parts: DnsParts,
): Step<'dns', NamedRecords> {
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async (before, _afters, note) => {
      const created = createdOf(before)
      const updates = updatesOf(parts, 'do', before, note)
      await updates.settleEarlier(false)
      const kept = before.records.filter((record) => record.kept)
      if (kept.length > 0 && (await readUntilCertain(kept, parts)) !== 'yes')
        throw new StepFault(`The records of ${host} are not those that the plan keeps.`, {
          untouched: true,
          code: 'plan_stale',
        })
      const outcome = await updates.send((signing) => parts.provider.create(created, signing))
      const after = { records: before.records }
      // The verify step reads the records back.
      if (outcome === 'created') return after
      const held = await readUntilCertain(created, parts)
      if (held === 'yes') return after
      if (outcome === 'in_use') {
        const sentence = `${host} got a record outside Drawbridge in the meantime.`
        throw new StepFault(sentence, { untouched: true, code: 'dns_name_taken' })
      }
      throw new StepFault(
        held === 'no'
          ? `The DNS server did not make the update of ${host} in time. It was stalled. Try again.`
          : `The DNS server does not serve the records of ${host} (${held}).`,
        { untouched: held === 'no', transient: held === 'unknown' },
      )
    },
    undo: async (before, { dns }, note) => {
      const updates = updatesOf(parts, 'undo', before, note)
      await updates.settleEarlier(dns !== undefined)
      await withdraw(createdOf(before), updates, parts)
    },
  }
}

const createdOf = ({ records }: { readonly records: readonly ZoneRecord[] }): readonly ZoneRecord[] =>
  records.filter(({ kept }) => !kept)

/** Removes the records that the apply added, if they are unchanged. Undo adds them again. */
export function releaseNameStep(
  host: string,
  records: readonly ZoneRecord[],
  parts: DnsParts,
): Step<'dns', NamedRecords> {
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async (before, _afters, note) => {
      const updates = updatesOf(parts, 'do', before, note)
      await updates.settleEarlier(false)
      await withdraw(records, updates, parts)
      return { records }
    },
    undo: async (before, { dns }, note) => {
      const updates = updatesOf(parts, 'undo', before, note)
      await updates.settleEarlier(dns !== undefined)
      if ((await readUntilCertain(records, parts)) === 'yes') return
      await updates.send((signing) => parts.provider.create(records, signing))
      const held = await readUntilCertain(records, parts)
      if (held === 'yes') return
      const sentence = `The records of ${host} could not be put back (${held}).`
      throw held === 'partly' ? new StepFault(sentence) : noCertainAnswer(sentence)
    },
  }
}

/** Only the owner mark goes; one that somebody changed stays as it is. The host's own record is left alone. */
export function releaseMarkStep(
  host: string,
  records: readonly ZoneRecord[],
  parts: DnsParts,
): Step<'dns', NamedRecords> {
  const marks = records.filter(({ name }) => name !== host)
  const release = releaseNameStep(host, marks, parts)
  return {
    ...release,
    before: async () => {
      const held = await readUntilCertain(marks, parts)
      if (held !== 'unknown') return { records: held === 'yes' ? marks : [] }
      throw noCertainAnswer('The DNS server gave no certain answer, so the host was not given back.')
    },
    do: async (before, ...given) => (before.records.length > 0 ? release.do(before, ...given) : before),
    undo: async (before, ...given) => {
      if (before.records.length > 0) await release.undo(before, ...given)
    },
  }
}

/**
 * Gives the owner mark another text. A mark that somebody changed stays as it is. There is no undo: both texts are ours, and the
 * next attempt has the same text, so it finishes what this one began.
 */
export function rewriteMarkStep(
  host: string,
  records: readonly ZoneRecord[],
  text: string,
  parts: DnsParts,
): Step<'dns', NamedRecords> {
  const former = records.filter(marksPlan)
  const wanted = former.map((mark) => ({ ...mark, value: text }))
  const rewritten = records.map((record) => (marksPlan(record) ? { ...record, value: text } : record))
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async (before, _afters, note) => {
      const updates = updatesOf(parts, 'do', before, note)
      await updates.settleEarlier(false)
      const outcome = await updates.send((signing) => parts.provider.replace(former, wanted, signing))
      if (outcome === 'replaced') return { records: rewritten }
      const held = await readUntilCertain(wanted, parts)
      if (held === 'yes') return { records: rewritten }
      throw new StepFault(
        held === 'unknown'
          ? 'The DNS server gave no certain answer about the owner mark.'
          : `The owner mark of ${host} was changed outside Drawbridge. It was not rewritten.`,
        { untouched: true, code: 'changed_elsewhere' },
      )
    },
    undo: async (before, { dns }, note) => updatesOf(parts, 'undo', before, note).settleEarlier(dns !== undefined),
  }
}

interface FoundRecords extends SentUpdates {
  readonly found: readonly ZoneRecord[]
}

/**
 * Makes the records of an applied host what its receipt says. `overwrite`: also where somebody gave the names other records.
 * Texts that somebody put beside an address record stay.
 */
export function repairNameStep(
  host: string,
  records: readonly ZoneRecord[],
  overwrite: boolean,
  parts: DnsParts,
): Step<'dns', FoundRecords> {
  const names = [...new Set(records.map(({ name }) => name))]
  const isAlias = records.some(({ type }) => type === 'CNAME')
  const read = async () => {
    const found = await poll(
      () => parts.readSets(names),
      (sets) => sets !== 'unknown',
      { firstMs: 50, factor: 2, withinMs: parts.patienceMs, clock: parts.clock },
    )
    if (found !== 'unknown') return found
    throw noCertainAnswer('The DNS server gave no certain answer, so no record was changed.')
  }
  const foreign = (found: readonly ZoneRecord[]) =>
    found.filter((record) => !records.some((wanted) => isSameRecord(wanted, record)) && !isBeside(record))
  const isBeside = ({ name, type }: ZoneRecord) => !isAlias && name === host && type === 'TXT'
  const wantedBeside = (found: readonly ZoneRecord[]) => [...records, ...found.filter(isBeside)]
  const change = async (updates: ZoneUpdates, from: readonly ZoneRecord[], to: readonly ZoneRecord[]) => {
    if (isSameSet(from, to)) return
    const outcome = await updates.send((signing) => parts.provider.replace(from, to, signing))
    if (outcome === 'replaced' || (outcome === 'unknown' && isSameSet(await read(), to))) return
    throw new StepFault(`The records of ${host} were changed outside Drawbridge at the same time.`, {
      untouched: outcome === 'changed',
      transient: outcome === 'unknown',
      code: 'changed_elsewhere',
    })
  }
  return {
    name: 'dns',
    before: async () => ({ found: await read() }),
    do: async (before, _afters, note) => {
      const { found } = before
      const updates = updatesOf(parts, 'do', before, note)
      await updates.settleEarlier(false)
      if (foreign(found).length > 0 && !overwrite)
        throw new StepFault(`The records of ${host} were changed outside Drawbridge. They were not overwritten.`, {
          untouched: true,
          code: 'changed_elsewhere',
        })
      await change(updates, await read(), wantedBeside(found))
      return { records }
    },
    undo: async (before, { dns }, note) => {
      const { found } = before
      const updates = updatesOf(parts, 'undo', before, note)
      await updates.settleEarlier(dns !== undefined)
      const now = await read()
      if (isSameSet(now, found)) return
      if (!isSameSet(now, wantedBeside(found))) throw changedByOthers(records)
      await change(updates, now, found)
    },
  }
}

const isSameRecord = (left: ZoneRecord, right: ZoneRecord): boolean =>
  left.name === right.name && left.type === right.type && left.value === right.value

const isSameSet = (left: readonly ZoneRecord[], right: readonly ZoneRecord[]): boolean =>
  left.length === right.length && left.every((record) => right.some((other) => isSameRecord(record, other)))

async function withdraw(records: readonly ZoneRecord[], updates: ZoneUpdates, parts: DnsParts): Promise<void> {
  const held = await readUntilCertain(records, parts)
  if (held === 'no') return
  if (held === 'partly') throw changedByOthers(records)
  if (held === 'unknown') throw noCertainAnswer('The DNS server gave no certain answer, so no record was removed.')
  const outcome = await updates.send((signing) => parts.provider.remove(records, signing))
  if (outcome === 'changed') throw changedByOthers(records)
  const still = await readUntilCertain(records, parts)
  if (still === 'no') return
  if (outcome === 'unknown' && still === 'yes')
    throw noCertainAnswer('The DNS server did not remove the records in time. It was stalled. Try again.')
  const sentence = `The records were removed, but the DNS server may still serve them (${still}).`
  throw new StepFault(sentence, { transient: still === 'unknown' })
}

const changedByOthers = ([record]: readonly ZoneRecord[]): StepFault =>
  new StepFault(`The records of ${record?.name} were changed outside Drawbridge. They were not removed.`, {
    untouched: true,
  })
