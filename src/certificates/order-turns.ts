import { IssueFault } from './contract.ts'

/** Waits for its turn, then works. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Orders at one authority are placed one after the other, so that the first one that is told to come later is heard by all.
 * Who waited behind one that got no answer is told the same at once: a silent authority is not asked once more by each.
 */
export function orderTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  let silence: { readonly at: number; readonly fault: IssueFault } | undefined

  return (work) => {
    const since = performance.now()
    const turn = last.then(async () => {
      if (silence && silence.at >= since) throw silence.fault
      try {
        return await work()
      } catch (error) {
        if (error instanceof IssueFault && error.kind === 'unavailable')
          silence = { at: performance.now(), fault: error }
        throw error
      }
    })
    last = turn.catch(() => undefined)
    return turn
  }
}
