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
    pauseAuthority: async (directory, { newOrders, everything }, latest) => {
      const before = pauseOf(directory)
      const longer = (stored: number, until: number) => (stored > latest ? until : Math.max(stored, until))
      pauses.set(directory, {
        newOrders: longer(before.newOrders, newOrders),
        everything: longer(before.everything, everything),
      })
    },
    authorityPause: async (directory) => pauseOf(directory),
  }
  return book
}
