/** The text of an error or a sentence without its last full stop, to stand before other punctuation. */
export const clauseOf = (said: unknown): string =>
  (said instanceof Error ? said.message : String(said)).replace(/[.\s]+$/, '')
