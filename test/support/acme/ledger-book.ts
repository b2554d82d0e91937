import type { LedgerBook } from '../../../src/certificates/contract.ts'
import type { AuthorityPause, LedgerLine } from '../../../src/model/ledger.ts'

export type TestLedger = LedgerBook & { readonly lines: LedgerLine[] }

/** A ledger that outlives its issuers, like a store. */
export function ledgerBook(): TestLedger {
  const lines: LedgerLine[] = []
  const pauses = new Map<string, AuthorityPause>()
  const pauseOf = (directory: string) => pauses.get(directory) ?? { newOrders: 0, everything: 0 }
  let last: Promise<unknown> = Promise.resolve()
  const book: TestLedger = {
    lines,
    transaction: (work) => {
      const mine = last.then(() => work(book))
      last = mine.catch(() => undefined)
      return mine
    },
    holdLedger: async () => undefined,
    appendLedger: async (line) => void lines.push(line),
    readLedger: async ({ directory, since, names }) =>
      lines.filter(
        (line) => line.directory === directory && line.at >= since && (names === undefined || line.names === names),
      ),
    pauseAuthority: async (directory, { newOrders, everything }) => {
      const before = pauseOf(directory)
      pauses.set(directory, {
        newOrders: Math.max(before.newOrders, newOrders),
        everything: Math.max(before.everything, everything),
      })
    },
    authorityPause: async (directory) => pauseOf(directory),
  }
  return book
}
