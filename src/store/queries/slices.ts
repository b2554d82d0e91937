/** Parts of a list. Both engines limit the values of one statement, and SQLite blocks the event loop during each. */
export const slicesOf = <T>(rows: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))
