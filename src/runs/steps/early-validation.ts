import type { Edge, EdgeFile, FileHash } from '../../edge/contract.ts'
import type { EdgeLock, LockMark, LockTurn } from '../engine/edge-lock.ts'
import { hashOf, isSame } from '../file-hash.ts'

interface Tested {
  readonly since: LockMark
  readonly hashes: Promise<readonly FileHash[]>
}

/**
 * Tests what is to stand on an edge ahead of our turn there, while other things are still looked at. At the turn the test
 * counts if the files are the same and nobody had a turn since it began; otherwise it is simply made again. Only for whom
 * it can count it is made: dozens of tests at once would take the processor away from everything else.
 */
export class EarlyValidation {
  readonly #edgeLock: EdgeLock
  readonly #tested = new Map<Edge, Tested>()

  constructor(edgeLock: EdgeLock) {
    this.#edgeLock = edgeLock
  }

  /** Resolves as soon as the test is under way: what is done meanwhile costs it nothing. */
  begin(edge: Edge, wanted: () => Promise<readonly EdgeFile[]>): Promise<void> {
    const since = this.#edgeLock.markNext(edge)
    if (!since) return Promise.resolve()
    return new Promise((begun) => {
      const hashes = this.#test(edge, wanted, begun)
      this.#tested.set(edge, { since, hashes })
      hashes.catch(() => undefined).finally(begun)
    })
  }

  /** False also when the test failed: made again in its place, it tells why. */
  async covers(edge: Edge, files: readonly FileHash[], turn: LockTurn): Promise<boolean> {
    const tested = this.#tested.get(edge)
    const hashes = await tested?.hashes.catch(() => undefined)
    return tested !== undefined && hashes !== undefined && turn.isNextAfter(tested.since) && isSame(hashes, files)
  }

  /** No test is under way any more, and nothing of one is left. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.#tested.values()].map(({ hashes }) => hashes))
  }

  async #test(edge: Edge, wanted: () => Promise<readonly EdgeFile[]>, begun: () => void): Promise<readonly FileHash[]> {
    const files = await wanted()
    await edge.validate({ files, expected: await edge.look(files.map(({ path }) => path)) }, begun)
    return files.map(hashOf)
  }
}
