import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Fences } from '../../src/edge/fences/fences.ts'
import type { JournalEntry, RunGuard } from '../../src/model/run.ts'
import { type Clock, systemClock } from '../../src/primitives/clock.ts'
import { openStore, restoreInto, snapshotOf } from '../../src/store/open.ts'
import type { CopiedTable, RowPage, SnapshotContent } from '../../src/store/ports/copy.ts'
import { type Store, type StoreSession, StoreUnavailable } from '../../src/store/ports/store.ts'
import { replaced } from '../support/replaced.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { type IssuedPair, makePairs } from './authority.ts'
import type { Process } from './process.ts'

/** The hosts of the one certificate. */
const SECURED = ['one.lab.test', 'two.lab.test']

/** In memory where the system has such a folder: thousands of histories need no disk. */
export const memoryFolder = (): TempFolder => tempFolder(existsSync('/dev/shm') ? '/dev/shm' : undefined)

/** An empty store of the present schema, to be copied: migrations take longer than a history. */
export interface Template {
  readonly folder: string
  readonly file: string
  /** When it was made. The time of a world begins then. */
  readonly epoch: number
  /** What the authority of a world has. */
  readonly pairs: readonly IssuedPair[]
}

export async function newTemplate(folder: string): Promise<Template> {
  const file = join(folder, 'template.db')
  const store = await openStore({ kind: 'sqlite', file })
  const epoch = await store.epoch()
  await store.close()
  return { folder, file, epoch, pairs: await makePairs(folder, SECURED) }
}

/** What a backup holds of a store. */
export type Copy = SnapshotContent & { readonly rows: readonly RowPage[] }

export const copyOf = (file: string): Promise<Copy> =>
  snapshotOf({ kind: 'sqlite', file }, async ({ pages, ...head }) => {
    const tables: CopiedTable[] = []
    const rows = await Array.fromAsync(pages((table) => tables.push(table)))
    return { ...head, tables, rows, pages: Readable.from([]) }
  })

/** Restores a copy into a new file, as the command does: in a higher epoch than any that an edge knows. */
export async function restoredStore(copy: Copy, file: string, now: number, edges: readonly string[]) {
  const edgeEpoch = Math.max(
    0,
    ...edges.map((folder) => new Fences(folder, { ...systemClock, now: () => now }).highestEpoch()),
  )
  const setting = { kind: 'sqlite', file } as const
  await restoreInto(setting, { ...copy, pages: Readable.from(copy.rows) }, { now, edgeEpoch })
}

export const openAt = (file: string, clock: Clock): Promise<Store> =>
  openStore({ kind: 'sqlite', file }, { upgrade: false, clock })

export async function storeFrom(template: string, file: string, clock: Clock): Promise<Store> {
  copyFileSync(template, file)
  return openAt(file, clock)
}

/** A check of the engine that is taken out. An empty one leaves everything as it is. */
export interface Removal {
  /** Methods that replace those of the store, alone and in transactions. */
  readonly session?: (session: StoreSession) => Partial<StoreSession>
  readonly transaction?: (store: Store) => Store['transaction']
  readonly guard?: (guard: RunGuard) => RunGuard
  /** Recovery does not ask which runs this process executes. */
  readonly recoversOwn?: boolean
}

type Method = (...given: unknown[]) => Promise<unknown>

/**
 * The store as a process sees it. It can be stopped before a call, and after it; in a transaction it can only die, which rolls the
 * transaction back.
 */
export function storeOf(
  process: Process,
  given: Store,
  { session: without = () => ({}), transaction }: Removal,
): Store {
  const plain: Store = {
    ...given,
    ...without(given),
    transaction: (work) => given.transaction((session) => work(replaced(session, without(session)))),
  }
  const store: Store = { ...plain, ...(transaction && { transaction: transaction(plain) }) }
  const passing = (name: string, call: Method): Method =>
    process.gated({ call }, () => silentIf(process.point(`store ${name}`))).call
  const alone = Object.entries(store as unknown as Record<string, Method>).map(([name, call]) => [
    name,
    async (...asked: unknown[]) => {
      const answer = await passing(labelOf(name, asked), call)(...asked)
      silentIf(process.point(`stored: ${labelOf(name, asked)}`))
      return answer
    },
  ])
  return {
    ...(Object.fromEntries(alone) as Store),
    async transaction(work) {
      const writes: string[] = []
      const inside = (session: StoreSession): StoreSession =>
        new Proxy(session, {
          get: (target, name) => {
            const call = Reflect.get(target, name) as Method
            return async (...asked: unknown[]) => {
              const label = labelOf(String(name), asked)
              process.point(`in transaction: ${label}`)
              writes.push(label)
              return call(...asked)
            }
          },
        })
      const begun = passing('transaction', () => store.transaction((session) => work(inside(session))))
      const result = await begun()
      silentIf(process.point(`stored: ${writes.join(', ')}`))
      return result as Awaited<ReturnType<typeof work>>
    },
    // A watch is no call: its notices are the process's own.
    watch: () => () => undefined,
    isWatching: () => false,
    close: async () => undefined,
  }
}

function silentIf(isSilent: boolean): void {
  if (isSilent) throw new StoreUnavailable(new Error('The world made the store silent.'))
}

function labelOf(name: string, [first]: readonly unknown[]): string {
  if (name !== 'appendJournal') return name
  const { step, mark } = first as JournalEntry
  return `write ${step} ${mark}`
}
