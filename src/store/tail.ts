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
    newest: (limit: number) => Promise<readonly Row[]>,
    read: (afterSeq: number, limit: number) => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    const isFirst = this.head === undefined
    const all: Row[] = []
    let after = this.head ?? (await this.#begin(newest))
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

  /** Undefined where some of the newest rows before `seq` are not remembered. */
  before(seq: number, limit: number): Row[] | undefined {
    if (this.head === undefined) return undefined
    const rows = this.#rows.filter((row) => row.seq < seq).slice(-limit)
    return rows.length === limit || this.#from === 0 ? rows : undefined
  }

  async #begin(newest: (limit: number) => Promise<readonly Row[]>): Promise<number> {
    const rows = await newest(this.#most)
    const [first] = rows
    // Fewer rows are all that there are, whatever their numbers.
    this.#from = first && rows.length === this.#most ? first.seq - 1 : 0
    const head = rows.at(-1)?.seq ?? 0
    this.#keep(rows, head)
    return head
  }

  #keep(rows: readonly Row[], head: number): void {
    const all = [...this.#rows, ...rows]
    const forgotten = all.at(-1 - this.#most)
    if (forgotten) this.#from = forgotten.seq
    this.#rows = all.slice(-this.#most)
    this.head = head
  }
}
