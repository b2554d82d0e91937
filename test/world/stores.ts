import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Fences } from '../../src/edge/fences/fences.ts'
import type { Clock } from '../../src/primitives/clock.ts'
import { openStore, restoreInto, snapshotOf } from '../../src/store/open.ts'
import type { CopiedTable, RowPage, SnapshotContent } from '../../src/store/ports/copy.ts'
import type { Store, StoreSession } from '../../src/store/ports/store.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import type { Process } from './process.ts'

/** In memory where the system has such a folder: thousands of histories need no disk. */
export const memoryFolder = (): TempFolder => tempFolder(existsSync('/dev/shm') ? '/dev/shm' : undefined)

/** An empty store of the present schema, to be copied: migrations take longer than a history. */
export interface Template {
  readonly folder: string
  readonly file: string
  /** When it was made. The time of a world begins then. */
  readonly epoch: number
}

export async function newTemplate(folder: string): Promise<Template> {
  const file = join(folder, 'template.db')
  const store = await openStore({ kind: 'sqlite', file })
  const epoch = await store.epoch()
  await store.close()
  return { folder, file, epoch }
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
  const edgeEpoch = Math.max(0, ...edges.map((folder) => new Fences(folder, { now: () => now }).highestEpoch()))
  const setting = { kind: 'sqlite', file } as const
  await restoreInto(setting, { ...copy, pages: Readable.from(copy.rows) }, { now, edgeEpoch })
}

export const openAt = (file: string, clock: Clock): Promise<Store> =>
  openStore({ kind: 'sqlite', file }, { upgrade: false, clock })

export async function storeFrom(template: string, file: string, clock: Clock): Promise<Store> {
  copyFileSync(template, file)
  return openAt(file, clock)
}

/**
 * The store as a process sees it: a call is a point at which the process can be stopped, and so is the end of a call. In a
 * transaction it can only die, which rolls the transaction back: one that is stopped there would lock out everybody else.
 */
export function storeOf(process: Process, store: Store): Store {
  const inside = (session: StoreSession): StoreSession =>
    new Proxy(session, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...given: unknown[]) => unknown
        return async (...given: unknown[]) => {
          process.assertAlive()
          return method(...given)
        }
      },
    })
  const gated = process.gated(
    {
      ...store,
      transaction: ((work) => store.transaction((session) => work(inside(session)))) as Store['transaction'],
    },
    (name) => process.point(`store ${name}`),
  )
  // A watch is no call: its notices are the process's own.
  return { ...gated, watch: () => () => undefined, isWatching: () => false, close: async () => undefined }
}
