import { type DnsProvider, DnsWriteFault, type ZoneRecord } from '../../dns/contract.ts'
import { sentenceOf } from '../../model/errors.ts'
import { marksPlan } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
import { type Step, StepFault } from '../engine/step.ts'

export type Held = 'yes' | 'no' | 'partly' | 'unknown'

export interface DnsParts {
  readonly provider: DnsProvider
  /** Whether the zone's primary server serves exactly these records. */
  readonly readBack: (records: readonly ZoneRecord[]) => Promise<Held>
  /** Everything at these names that a ZoneRecord can describe. */
  readonly readSets: (names: readonly string[]) => Promise<readonly ZoneRecord[] | 'unknown'>
  /** How long a server without a certain answer is asked again. */
  readonly patienceMs: number
  readonly clock: Clock
}

/**
 * Adds the host's record and its owner mark in one update. Records that are kept must be there. After a crash the journal tells
 * the records: the version that began the run may have written another owner mark.
 */
export function claimNameStep(
  host: string,
  records: readonly ZoneRecord[],
  parts: DnsParts,
): Step<'dns', { readonly records: readonly ZoneRecord[] }> {
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async (before) => {
      const created = createdOf(before)
      const kept = before.records.filter((record) => record.kept)
      if (kept.length > 0 && (await readUntilCertain(kept, parts)) !== 'yes')
        throw new StepFault(`The records of ${host} are not those that the plan keeps.`, {
          untouched: true,
          code: 'plan_stale',
        })
      const outcome = await parts.provider.create(created).catch((error: unknown) => uncertain(error))
      // The verify step reads the records back.
      if (outcome === 'created') return before
      const held = await readUntilCertain(created, parts)
      if (held === 'yes') return before
      if (outcome === 'in_use') {
        const sentence = `${host} got a record outside Drawbridge in the meantime.`
        throw new StepFault(sentence, { untouched: true, code: 'dns_name_taken' })
      }
      throw new StepFault(`The DNS server accepted the records of ${host} but does not serve them (${held}).`, {
        transient: held === 'unknown',
      })
    },
    undo: (before) => withdraw(createdOf(before), parts),
  }
}

const createdOf = ({ records }: { readonly records: readonly ZoneRecord[] }): readonly ZoneRecord[] =>
  records.filter(({ kept }) => !kept)

/** Removes the records that the apply added, if they are unchanged. Undo adds them again. */
export function releaseNameStep(
  host: string,
  records: readonly ZoneRecord[],
  parts: DnsParts,
): Step<'dns', { readonly records: readonly ZoneRecord[] }> {
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async () => {
      await withdraw(records, parts)
      return { records }
    },
    undo: async () => {
      if ((await readUntilCertain(records, parts)) === 'yes') return
      await parts.provider.create(records).catch((error: unknown) => uncertain(error))
      const held = await readUntilCertain(records, parts)
      if (held === 'yes') return
      throw new StepFault(`The records of ${host} could not be put back (${held}).`, { transient: held === 'unknown' })
    },
  }
}

/** Only the owner mark goes; one that somebody changed stays as it is. The host's own record is left alone. */
export function releaseMarkStep(
  host: string,
  records: readonly ZoneRecord[],
  parts: DnsParts,
): Step<'dns', { readonly records: readonly ZoneRecord[] }> {
  const marks = records.filter(({ name }) => name !== host)
  const release = releaseNameStep(host, marks, parts)
  return {
    ...release,
    before: async () => ({ records: (await readUntilCertain(marks, parts)) === 'yes' ? marks : [] }),
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
): Step<'dns', { readonly records: readonly ZoneRecord[] }> {
  const former = records.filter(marksPlan)
  const wanted = former.map((mark) => ({ ...mark, value: text }))
  const rewritten = records.map((record) => (marksPlan(record) ? { ...record, value: text } : record))
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async () => {
      const outcome = await parts.provider.replace(former, wanted).catch((error: unknown) => uncertain(error))
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
    undo: async () => undefined,
  }
}

interface FoundRecords {
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
    throw new StepFault('The DNS server gave no certain answer, so no record was changed.', {
      untouched: true,
      transient: true,
    })
  }
  const foreign = (found: readonly ZoneRecord[]) =>
    found.filter((record) => !records.some((wanted) => isSameRecord(wanted, record)) && !isBeside(record))
  const isBeside = ({ name, type }: ZoneRecord) => !isAlias && name === host && type === 'TXT'
  const wantedBeside = (found: readonly ZoneRecord[]) => [...records, ...found.filter(isBeside)]
  const change = async (from: readonly ZoneRecord[], to: readonly ZoneRecord[]) => {
    if (isSameSet(from, to)) return
    const outcome = await parts.provider.replace(from, to).catch((error: unknown) => uncertain(error))
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
    do: async ({ found }) => {
      if (foreign(found).length > 0 && !overwrite)
        throw new StepFault(`The records of ${host} were changed outside Drawbridge. They were not overwritten.`, {
          untouched: true,
          code: 'changed_elsewhere',
        })
      await change(await read(), wantedBeside(found))
      return { records }
    },
    undo: async ({ found }) => {
      const now = await read()
      if (isSameSet(now, found)) return
      if (!isSameSet(now, wantedBeside(found))) throw changedByOthers(records)
      await change(now, found)
    },
  }
}

const isSameRecord = (left: ZoneRecord, right: ZoneRecord): boolean =>
  left.name === right.name && left.type === right.type && left.value === right.value

const isSameSet = (left: readonly ZoneRecord[], right: readonly ZoneRecord[]): boolean =>
  left.length === right.length && left.every((record) => right.some((other) => isSameRecord(record, other)))

/** A refusal means that nothing changed. After any other fault the outcome is unknown, and reading back decides. */
function uncertain(error: unknown): 'unknown' {
  if (!(error instanceof DnsWriteFault)) throw error
  if (error.kind === 'refused') throw new StepFault(error.message, { untouched: true, cause: error })
  return 'unknown'
}

async function withdraw(records: readonly ZoneRecord[], parts: DnsParts): Promise<void> {
  const held = await readUntilCertain(records, parts)
  if (held === 'no') return
  if (held === 'partly') throw changedByOthers(records)
  if (held === 'unknown') {
    const sentence = 'The DNS server gave no certain answer, so no record was removed.'
    throw new StepFault(sentence, { untouched: true, transient: true })
  }
  const outcome = await parts.provider.remove(records).catch((error: unknown) => {
    if (error instanceof DnsWriteFault && error.kind === 'unknown') return 'unknown' as const
    throw new StepFault(`The records could not be removed. ${sentenceOf(error)}`, { untouched: true, cause: error })
  })
  if (outcome === 'changed') throw changedByOthers(records)
  const still = await readUntilCertain(records, parts)
  if (still !== 'no')
    throw new StepFault(`The records were removed, but the DNS server may still serve them (${still}).`, {
      transient: still === 'unknown',
    })
}

const changedByOthers = ([record]: readonly ZoneRecord[]): StepFault =>
  new StepFault(`The records of ${record?.name} were changed outside Drawbridge. They were not removed.`, {
    untouched: true,
  })

const readUntilCertain = (records: readonly ZoneRecord[], { readBack, patienceMs, clock }: DnsParts): Promise<Held> =>
  poll(
    () => readBack(records),
    (held) => held !== 'unknown',
    { firstMs: 50, factor: 2, withinMs: patienceMs, clock },
  )
