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
