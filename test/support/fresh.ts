import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, onTestFinished } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { type TempFolder, tempFolder } from './temp-folder.ts'

/** Paths in a folder that each test of the file, or of the block, gets anew. Without a name: the folder itself. */
export function freshFolder(): (...names: string[]) => string {
  let folder: TempFolder
  beforeEach(() => {
    folder = tempFolder()
  })
  afterEach(() => folder[Symbol.dispose]())
  return (...names) => join(folder.path, ...names)
}

/** A store on SQLite for the tests of a file, and its folder. */
export const storeOfFile = () => storeUntil(afterAll)

/** A store on SQLite for the test that runs, and its folder. */
export const storeOfTest = () => storeUntil(onTestFinished)

async function storeUntil(end: (close: () => Promise<void>) => void): Promise<{ store: Store; folder: string }> {
  const folder = tempFolder()
  const store = await openStore({ kind: 'sqlite', file: join(folder.path, 'drawbridge.db') })
  end(async () => {
    await store.close()
    folder[Symbol.dispose]()
  })
  return { store, folder: folder.path }
}
