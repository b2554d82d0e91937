const PAGE = 200

/** The newest rows of a table that only grows, without a gap. */
export class Tail<Row extends { readonly seq: number }> {
  readonly #most: number
  #rows: readonly Row[] = []
  /** Every row with a higher number, up to `head`, is remembered. */
  #from = 0
  /** The newest number that was read. Undefined before the first look. */
  head: number | undefined

  constructor(most: number) {
    this.#most = most
  }

  get last(): Row | undefined {
    return this.#rows.at(-1)
  }

  /** Reads on from the last row, at first the newest ones. Resolves with those that came since the call before. */
  async readOn(
    headOf: () => Promise<number>,
    read: (afterSeq: number, limit: number) => Promise<Row[]>,
  ): Promise<readonly Row[]> {
    const isFirst = this.head === undefined
    const all: Row[] = []
    let after = this.head ?? Math.max(0, (await headOf()) - this.#most)
    if (isFirst) this.#from = after
    for (let isEnd = false; !isEnd; ) {
      const rows = await read(after, PAGE)
      all.push(...rows)
      after = rows.at(-1)?.seq ?? after
      this.#keep(rows, after)
      isEnd = rows.length < PAGE
    }
    return isFirst ? [] : all
  }

  /** Undefined where some of them are not remembered. */
  after(seq: number, limit: number): Row[] | undefined {
    if (this.head === undefined || seq < this.#from) return undefined
    return this.#rows.filter((row) => row.seq > seq).slice(0, limit)
  }

  #keep(rows: readonly Row[], head: number): void {
    const all = [...this.#rows, ...rows]
    const forgotten = all.at(-1 - this.#most)
    if (forgotten) this.#from = forgotten.seq
    this.#rows = all.slice(-this.#most)
    this.head = head
  }
}
