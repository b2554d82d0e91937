import type { EventFilter } from './feed.ts'

/** One receiver of events, as the configuration names it. */
export interface Hook extends EventFilter {
  readonly name: string
  readonly url: string
  readonly key: Buffer
  /** How often an event is tried before it is given up. */
  readonly tries: number
  readonly timeoutMs: number
}
