/** One of several pieces of work that are done together. */
export interface Member<T> {
  readonly work: T
  resolve(): void
  reject(error: unknown): void
  readonly isSettled: boolean
}

/** Does the work of all members. Settles each of them; what it leaves is rejected if it throws, and otherwise done again. */
type Commit<T> = (members: readonly Member<T>[]) => Promise<void>

/**
 * What waits while a commit runs is committed together by the next one. Without a commit under way, work starts at once: nobody
 * waits for others to come.
 */
export class GroupCommit<T> {
  readonly #commit: Commit<T>
  #waiting: Member<T>[] = []
  #isWorking = false

  constructor(commit: Commit<T>) {
    this.#commit = commit
  }

  get isIdle(): boolean {
    return !this.#isWorking
  }

  /** Rejects with the reason of the signal when that aborts: work that still waits is then left out. */
  run(work: T, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { member, settled } = newMember(work)
    this.#waiting.push(member)
    const abort = () => member.reject(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    void this.#workOff()
    return settled.finally(() => signal?.removeEventListener('abort', abort))
  }

  async #workOff(): Promise<void> {
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      for (;;) {
        const members = this.#waiting.filter(({ isSettled }) => !isSettled)
        this.#waiting = []
        if (members.length === 0) return
        await this.#commit(members).catch((error: unknown) => {
          for (const member of members) member.reject(error)
        })
        this.#waiting.push(...members.filter(({ isSettled }) => !isSettled))
      }
    } finally {
      this.#isWorking = false
    }
  }
}

function newMember<T>(work: T) {
  const { promise: settled, resolve, reject } = Promise.withResolvers<void>()
  let isSettled = false
  const once = (settle: () => void) => {
    if (isSettled) return
    isSettled = true
    settle()
  }
  const member: Member<T> = {
    work,
    resolve: () => once(resolve),
    reject: (error) => once(() => reject(error)),
    get isSettled() {
      return isSettled
    },
  }
  return { member, settled }
}

/**
 * Finds one of the items without which a test would pass, by halving. `test` resolves true if these items pass together. Undefined
 * if no single item fails.
 */
export async function findFailing<T>(
  items: readonly T[],
  test: (items: readonly T[]) => Promise<boolean>,
): Promise<T | undefined> {
  let left = items
  while (left.length > 1) {
    const half = left.slice(0, Math.ceil(left.length / 2))
    left = (await test(half)) ? left.slice(half.length) : half
  }
  const [found] = left
  return found !== undefined && !(await test([found])) ? found : undefined
}
