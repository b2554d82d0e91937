import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Until it is disposed of, the system refuses to read what `isMeant` says of a path. Root may read every file, so no mode does it. */
export function unreadable(isMeant: (path: string) => boolean, code = 'EACCES'): Disposable {
  const { readFileSync, readdirSync } = fs
  const refusing = (read: (...given: unknown[]) => unknown) =>
    ((...given: unknown[]) => {
      if (isMeant(String(given[0]))) throw Object.assign(new Error(`${code}: no reading`), { code })
      return read(...given)
    }) as never
  const set = (calls: Partial<typeof fs>) => {
    Object.assign(fs, calls)
    syncBuiltinESMExports()
  }
  set({ readFileSync: refusing(readFileSync as never), readdirSync: refusing(readdirSync as never) })
  return { [Symbol.dispose]: () => set({ readFileSync, readdirSync }) }
}
