import type { Store } from '../store/contract.ts'

const EVENTS_AT_ONCE = 1_000

/** Tells which exposures were changed, by whatever instance: every such change leaves an event. */
export class ExposureNews {
  readonly #store: Pick<Store, 'readEvents' | 'eventHead'>
  #heard: number | undefined

  constructor(store: Pick<Store, 'readEvents' | 'eventHead'>) {
    this.#store = store
  }

  /** The hosts whose exposures changed since the last call. The first call begins the listening. */
  async hosts(): Promise<ReadonlySet<string>> {
    this.#heard ??= await this.#store.eventHead()
    const events = await this.#store.readEvents(this.#heard, EVENTS_AT_ONCE)
    this.#heard = events.at(-1)?.seq ?? this.#heard
    return new Set(events.filter(({ type }) => type.startsWith('exposure.')).map(({ host }) => host))
  }
}
