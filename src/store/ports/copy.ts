/** What was copied of one table. The hash does not depend on the order of rows, which differs between engines. */
export interface CopiedTable {
  readonly table: string
  readonly rows: number
  readonly hash: string
}

export interface CopyReport {
  readonly storeId: string
  readonly epoch: { readonly from: number; readonly to: number }
  readonly tables: readonly CopiedTable[]
}

export interface CopyProgress {
  readonly table: string
  readonly rows: number
  readonly of: number
}

export type Row = Readonly<Record<string, unknown>>

/** What identifies a store at the moment of a snapshot. */
export interface SnapshotHead {
  readonly schema: number
  readonly storeId: string
  readonly epoch: number
  /** The key with which its secrets are sealed. Null before the first one. */
  readonly keyId: string | null
}

/** Rows of one table. A table comes after those that it refers to. */
export interface RowPage {
  readonly table: string
  readonly rows: readonly Row[]
}

/** One state of a store, whatever others write meanwhile. It exists only while the work that got it runs. */
export interface StoreSnapshot extends SnapshotHead {
  /** All tables, each with at least one page. `done` is called after the last page of a table. */
  pages(done: (table: CopiedTable) => void): AsyncGenerator<RowPage>
}

/** What is restored. The pages are read once. */
export interface SnapshotContent extends SnapshotHead {
  readonly pages: AsyncIterable<RowPage>
  /** How many rows each table has, and their hash. */
  readonly tables: readonly CopiedTable[]
}
