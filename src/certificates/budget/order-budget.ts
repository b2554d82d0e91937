import { type LedgerLine, nameSet } from '../../model/ledger.ts'
import {
  type BudgetVerdict,
  budgetSentence,
  IssueFault,
  type LedgerBook,
  type OrderBudget,
  type OrderRequest,
} from '../contract.ts'
import { type BudgetRules, backoffSeconds, hasLimits, judgeOrder, latestPause, ledgerSince } from './budget.ts'

export interface OrderBudgetOptions extends BudgetRules {
  readonly directory: string
  readonly ledger: LedgerBook
  /** Milliseconds since 1970. */
  readonly now: () => number
}

type Session = Pick<LedgerBook, 'readLedger' | 'authorityPause'>

/** The budget of one directory. Each directory has its own ledger in the store. */
export function orderBudget(options: OrderBudgetOptions): OrderBudget {
  const { directory, ledger, now, backoff, limits } = options
  const settled = settledTimes()
  const judge = async (request: OrderRequest, session: Session): Promise<BudgetVerdict> => {
    const at = now()
    const names = hasLimits(options) ? undefined : nameSet(request.names)
    const [lines, pause] = await Promise.all([
      session.readLedger({ directory, since: ledgerSince(options, at), names }),
      session.authorityPause(directory),
    ])
    return judgeOrder(request, options, { lines: settled(lines, at), pause }, at)
  }
  const line = (names: readonly string[]) => ({ directory, names: nameSet(names), at: now(), unproven: [] })
  return {
    check: (request) => judge(request, ledger),
    spend: (request) =>
      ledger.transaction(async (session) => {
        await session.holdLedger(directory)
        assertAllowed(await judge(request, session), directory)
        await session.appendLedger({ ...line(request.names), kind: 'ordered' })
      }),
    issued: (names) =>
      ledger.transaction(async (session) => {
        await session.holdLedger(directory)
        const issued = line(names)
        const since = ledgerSince(options, issued.at)
        const lines = await session.readLedger({ directory, since, names: issued.names })
        if (!isRecorded(lines)) await session.appendLedger({ ...issued, kind: 'issued' })
      }),
    failed: (request, fault) =>
      ledger.transaction(async (session) => {
        await session.holdLedger(directory)
        const { unproven, retryAfter } = fault
        await session.appendLedger({ ...line(request.names), kind: 'failed', unproven })
        if (retryAfter !== undefined) {
          const at = now()
          const until = at + retryAfter * 1000
          const isExempt = limits.renewalsExempt && request.replaces !== undefined
          const pause = { newOrders: until, everything: isExempt ? until : 0 }
          await session.pauseAuthority(directory, pause, latestPause(at))
        }
        const after = await judge({ ...request, resumes: true }, session)
        const rest = after.kind === 'refused' ? after.retryAfter : backoffSeconds(1, backoff)
        return new IssueFault(fault.kind, fault.message, retryAfter ?? rest, unproven)
      }),
  }
}

/** Whether the certificate of the newest order is. `lines` are of the same names. */
const isRecorded = (lines: readonly LedgerLine[]): boolean =>
  lines.slice(lines.findLastIndex(({ kind }) => kind === 'ordered') + 1).some(({ kind }) => kind === 'issued')

/**
 * Gives lines that a clock wrote which was ahead a time that has come: that of the first later line which has one, or the moment at
 * which they were first seen here. With their own time, or always counted as of now, they would block orders until that date.
 */
function settledTimes(): (lines: readonly LedgerLine[], now: number) => LedgerLine[] {
  const firstSeen = new Map<number, number>()
  return (lines, now) => {
    let latest = now
    const settle = (line: LedgerLine): LedgerLine => {
      const isAhead = line.at > now
      if (isAhead) firstSeen.set(line.at, Math.min(firstSeen.get(line.at) ?? now, now))
      else firstSeen.delete(line.at)
      latest = isAhead ? Math.min(latest, firstSeen.get(line.at) ?? now) : line.at
      return isAhead ? { ...line, at: latest } : line
    }
    return lines.toReversed().map(settle).toReversed()
  }
}

/** Throws IssueFault with the reason and the seconds to wait. */
export function assertAllowed(verdict: BudgetVerdict, directory: string): void {
  if (verdict.kind === 'free') return
  const { because, retryAfter } = verdict
  throw new IssueFault('over_budget', budgetSentence(directory, because), retryAfter)
}
