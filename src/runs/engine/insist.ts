import { setTimeout as sleep } from 'node:timers/promises'
import { StoreUnavailable } from '../../store/ports/store.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_200

/** Tries again while the store does not answer, for some seconds: one that comes back in time loses nothing. */
export async function insistently<T>(work: () => Promise<T>): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || pause > LONGEST_PAUSE_MS) throw error
      await sleep(pause)
    }
  }
}
