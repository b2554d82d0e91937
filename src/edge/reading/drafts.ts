import type { Listening } from './listen.ts'

/** `set $name value`. One within an `if` may happen or not. */
export interface Assignment {
  readonly name: string
  readonly value: string
  readonly isConditional: boolean
}

/** Where a location sends its requests, and what was set on the way there. */
export interface Passing {
  readonly to: string
  readonly assignments: readonly Assignment[]
}

/** A server block as it is written, before variables, upstreams and other blocks are looked at. */
export interface ServerDraft {
  readonly path: string
  readonly line: number
  readonly names: readonly string[]
  readonly listen: readonly Listening[]
  /** Undefined: it proxies nowhere. */
  readonly passing: Passing | undefined
}
