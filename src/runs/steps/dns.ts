import { type DnsProvider, DnsWriteFault, type ZoneRecord } from '../../dns/contract.ts'
import { sentenceOf } from '../../model/errors.ts'
import { poll } from '../../primitives/retry.ts'
import { type Step, StepFault } from '../engine/step.ts'

export type Held = 'yes' | 'no' | 'partly' | 'unknown'

export interface DnsParts {
  readonly provider: DnsProvider
  /** Whether the primary serves exactly these records. */
  readonly look: (records: readonly ZoneRecord[]) => Promise<Held>
  /** How long a server that gives no certain answer is asked again. */
  readonly patienceMs: number
}

/** Lowers the bridge: the host's record and its owner mark in one update. */
export function claimNameStep(host: string, records: readonly ZoneRecord[], parts: DnsParts): Step {
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async () => {
      const outcome = await parts.provider.create(records).catch((error: unknown) => uncertain(error))
      // Read back by the verdict that follows.
      if (outcome === 'created') return { records }
      const held = await lookUntilCertain(records, parts)
      if (held === 'yes') return { records }
      if (outcome === 'in_use') {
        const sentence = `${host} was taken by somebody else meanwhile.`
        throw new StepFault(sentence, { untouched: true, code: 'dns_name_taken' })
      }
      throw new StepFault(`The records of ${host} were sent, but the DNS server does not serve them (${held}).`, {
        transient: held === 'unknown',
      })
    },
    undo: () => withdraw(records, parts),
  }
}

/** Raises the bridge first: only our own records, only if unchanged. Undoing it lowers it again. */
export function releaseNameStep(host: string, records: readonly ZoneRecord[], parts: DnsParts): Step {
  return {
    name: 'dns',
    before: async () => ({ records }),
    do: async () => {
      await withdraw(records, parts)
      return { records }
    },
    undo: async () => {
      if ((await lookUntilCertain(records, parts)) === 'yes') return
      await parts.provider.create(records).catch((error: unknown) => uncertain(error))
      const held = await lookUntilCertain(records, parts)
      if (held === 'yes') return
      throw new StepFault(`The records of ${host} could not be put back (${held}).`, { transient: held === 'unknown' })
    },
  }
}

/** A refusal means that nothing changed. Anything else leaves it open: then looking decides, not guessing. */
function uncertain(error: unknown): 'unknown' {
  if (!(error instanceof DnsWriteFault)) throw error
  if (error.kind === 'refused') throw new StepFault(error.message, { untouched: true, cause: error })
  return 'unknown'
}

async function withdraw(records: readonly ZoneRecord[], parts: DnsParts): Promise<void> {
  const held = await lookUntilCertain(records, parts)
  if (held === 'no') return
  if (held === 'partly') throw changedByOthers(records)
  if (held === 'unknown') {
    const sentence = 'The DNS server gives no certain answer, so nothing could be withdrawn.'
    throw new StepFault(sentence, { untouched: true, transient: true })
  }
  const outcome = await parts.provider.remove(records).catch((error: unknown) => {
    if (error instanceof DnsWriteFault && error.kind === 'unknown') return 'unknown' as const
    throw new StepFault(`The records could not be withdrawn: ${sentenceOf(error)}`, { untouched: true, cause: error })
  })
  if (outcome === 'changed') throw changedByOthers(records)
  const still = await lookUntilCertain(records, parts)
  if (still !== 'no')
    throw new StepFault(`The records were withdrawn, but may still be served (${still}).`, {
      transient: still === 'unknown',
    })
}

const changedByOthers = ([record]: readonly ZoneRecord[]): StepFault =>
  new StepFault(`Somebody changed the records of ${record?.name}; they were left alone.`, { untouched: true })

const lookUntilCertain = (records: readonly ZoneRecord[], { look, patienceMs }: DnsParts): Promise<Held> =>
  poll(
    () => look(records),
    (held) => held !== 'unknown',
    { firstMs: 50, factor: 2, withinMs: patienceMs },
  )
