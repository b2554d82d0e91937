/** What `make` makes of the present value of `source`. Made again only when `source` returns another value. */
export function derived<S, T>(source: () => S, make: (value: S) => T): () => T {
  let last: { readonly from: S; readonly made: T } | undefined
  return () => {
    const from = source()
    if (!last || last.from !== from) last = { from, made: make(from) }
    return last.made
  }
}
