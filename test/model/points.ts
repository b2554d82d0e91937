import type { JournalEntry, Run } from '../../src/model/run.ts'
import { type Store, type StoreSession, StoreUnavailable } from '../../src/store/ports/store.ts'
import { counted, currentOperation, PowerLoss, passInTransaction, point } from './schedule.ts'

/**
 * The same store. Its caller passes a point before every call, inside every transaction and after every commit. `adopted` is
 * called with every run that was adopted.
 */
export function withPoints(store: Store, adopted: (runId: string) => void): Store {
  const alone = mapMethods(store, (name, call) => async (...given) => {
    const trouble = await point(labelOf(name, given))
    if (trouble === 'outage') throw silence()
    const answer = await counted(() => call(...given))
    if (trouble === 'lost') throw silence()
    return answer
  })
  return {
    ...alone,
    adoptRun: async (runId, holder, fence) => {
      const isAdopted = await alone.adoptRun(runId, holder, fence)
      if (!isAdopted) return false
      adopted(runId)
      noteRun({ runId, fence })
      return true
    },
    async transaction(work) {
      if ((await point('transaction')) === 'outage') throw silence()
      const { result, seen } = await committed(store, work)
      if (seen.begun) noteRun(seen.begun)
      if ((await point(`committed: ${seen.writes.join(', ')}`)) === 'lost') throw silence()
      return result
    },
  }
}

/** What a transaction did. */
interface Seen {
  begun?: Run
  readonly writes: string[]
}

/** Runs a transaction. Never resolves in a process that dies in it. */
async function committed<T>(
  store: Store,
  work: (session: StoreSession) => Promise<T>,
): Promise<{ result: T; seen: Seen }> {
  const seen: Seen = { writes: [] }
  const inside = (session: StoreSession): StoreSession => {
    const passing = mapMethods(session, (name, call) => async (...given) => {
      const label = labelOf(name, given)
      passInTransaction(label)
      if (name === 'appendJournal') seen.writes.push(label)
      return call(...given)
    })
    const insertRun: StoreSession['insertRun'] = async (run) => {
      await passing.insertRun(run)
      seen.begun = run
    }
    return { ...passing, insertRun }
  }
  try {
    return { result: await counted(() => store.transaction((session) => work(inside(session)))), seen }
  } catch (error) {
    if (error instanceof PowerLoss) await currentOperation()?.gate(false)
    throw error
  }
}

const silence = (): StoreUnavailable => new StoreUnavailable(new Error('the model made the store silent'))

function noteRun({ runId, fence }: { readonly runId: string; readonly fence: number }): void {
  const operation = currentOperation()
  if (operation) operation.run = { runId, fence }
}

type Method = (...given: unknown[]) => Promise<unknown>

function mapMethods<T extends StoreSession>(session: T, map: (name: string, call: Method) => Method): T {
  const methods = Object.entries(session as unknown as Record<string, Method>)
  return Object.fromEntries(methods.map(([name, call]) => [name, map(name, call)])) as unknown as T
}

function labelOf(name: string, [first]: readonly unknown[]): string {
  if (name !== 'appendJournal') return name
  const { step, mark } = first as JournalEntry
  return `write ${step} ${mark}`
}
