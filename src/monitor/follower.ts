import type { Store } from '../store/contract.ts'
import type { Board } from './board.ts'

/** Reads along what another instance sees of the hosts. */
export class Follower {
  readonly #store: Store
  readonly #board: Board
  #version = -1

  constructor(store: Store, board: Board) {
    this.#store = store
    this.#board = board
  }

  async look(): Promise<void> {
    const { count, version } = await this.#store.hostsMark()
    if (version > this.#version)
      for (const status of await this.#store.readHosts(this.#version)) this.#board.put(status)
    this.#version = version
    // Nobody tells of hosts that are gone: the count does.
    if (this.#board.size !== count) await this.#readAll()
  }

  async #readAll(): Promise<void> {
    const all = await this.#store.readHosts(-1)
    const names = new Set(all.map(({ host }) => host))
    for (const { host } of [...this.#board.all()]) if (!names.has(host)) this.#board.remove(host)
    for (const status of all) this.#board.put(status)
  }
}
