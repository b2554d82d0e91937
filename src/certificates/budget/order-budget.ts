import { nameSet } from '../../model/ledger.ts'
import {
  type BudgetVerdict,
  budgetSentence,
  IssueFault,
  type LedgerBook,
  type OrderBudget,
  type OrderRequest,
} from '../contract.ts'
import { type BudgetRules, backoffSeconds, hasLimits, judgeOrder, ledgerSince } from './budget.ts'

export interface OrderBudgetOptions extends BudgetRules {
  readonly directory: string
  readonly ledger: LedgerBook
  /** Milliseconds since 1970. */
  readonly now: () => number
}

type Session = Pick<LedgerBook, 'readLedger' | 'authorityPause'>

/** The budget of one directory, as the store's ledger has it: every directory has its own. */
export function orderBudget(options: OrderBudgetOptions): OrderBudget {
  const { directory, ledger, now, backoff, limits } = options
  const judge = async (wish: OrderRequest, session: Session): Promise<BudgetVerdict> => {
    const at = now()
    const names = hasLimits(options) ? undefined : nameSet(wish.names)
    const [lines, pause] = await Promise.all([
      session.readLedger({ directory, since: ledgerSince(options, at), names }),
      session.authorityPause(directory),
    ])
    return judgeOrder(wish, options, { lines, pause }, at)
  }
  const line = (names: readonly string[]) => ({ directory, names: nameSet(names), at: now(), unproven: [] })
  return {
    check: (wish) => judge(wish, ledger),
    spend: (wish) =>
      ledger.transaction(async (session) => {
        await session.holdLedger(directory)
        assertAllowed(await judge(wish, session), directory)
        await session.appendLedger({ ...line(wish.names), kind: 'ordered' })
      }),
    issued: (names) => ledger.appendLedger({ ...line(names), kind: 'issued' }),
    failed: (wish, fault) =>
      ledger.transaction(async (session) => {
        await session.holdLedger(directory)
        const { unproven, retryAfter } = fault
        await session.appendLedger({ ...line(wish.names), kind: 'failed', unproven })
        if (retryAfter !== undefined) {
          const until = now() + retryAfter * 1000
          const isExempt = limits.renewalsExempt && wish.replaces !== undefined
          await session.pauseAuthority(directory, { newOrders: until, everything: isExempt ? until : 0 })
        }
        const after = await judge({ ...wish, resumes: true }, session)
        const rest = after.kind === 'refused' ? after.retryAfter : backoffSeconds(1, backoff)
        return new IssueFault(fault.kind, fault.message, retryAfter ?? rest, unproven)
      }),
  }
}

/** Rejects with the reason and the seconds to wait. */
export function assertAllowed(verdict: BudgetVerdict, directory: string): void {
  if (verdict.kind === 'free') return
  const { because, retryAfter } = verdict
  throw new IssueFault('over_budget', budgetSentence(directory, because), retryAfter)
}
