import type { Edge, EdgeFile, FileHash } from '../../edge/contract.ts'
import type { EdgeLock, LockMark, LockTurn } from '../engine/edge-lock.ts'
import { hashOf, isSame } from '../file-hash.ts'

interface Tested {
  readonly since: LockMark
  readonly hashes: Promise<readonly FileHash[]>
}

/**
 * Runs `nginx -t` on the files of a change before the run holds the edge lock, while the checks still run. Under the lock
 * the result counts if the files are the same and no other caller held the lock since; otherwise the test is repeated. Only
 * the caller that can be next tests early: dozens of tests at once would take the processor from everything else.
 */
export class EarlyValidation {
  readonly #edgeLock: EdgeLock
  readonly #tested = new Map<Edge, Tested>()

  constructor(edgeLock: EdgeLock) {
    this.#edgeLock = edgeLock
  }

  /** Resolves when the test has started. */
  begin(edge: Edge, wanted: () => Promise<readonly EdgeFile[]>): Promise<void> {
    const since = this.#edgeLock.markNext(edge)
    if (!since) return Promise.resolve()
    return new Promise((begun) => {
      const hashes = this.#test(edge, wanted, begun)
      this.#tested.set(edge, { since, hashes })
      hashes.catch(() => undefined).finally(begun)
    })
  }

  /** False if the test failed, too: repeated under the lock it reports why. */
  async covers(edge: Edge, files: readonly FileHash[], turn: LockTurn): Promise<boolean> {
    const tested = this.#tested.get(edge)
    const hashes = await tested?.hashes.catch(() => undefined)
    return tested !== undefined && hashes !== undefined && turn.isNextAfter(tested.since) && isSame(hashes, files)
  }

  /** Resolves when no test runs any more. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.#tested.values()].map(({ hashes }) => hashes))
  }

  async #test(edge: Edge, wanted: () => Promise<readonly EdgeFile[]>, begun: () => void): Promise<readonly FileHash[]> {
    const files = await wanted()
    await edge.validate({ files, expected: await edge.hashFiles(files.map(({ path }) => path)) }, begun)
    return files.map(hashOf)
  }
}
