import type { EdgeReader, ServedMap } from '../../edge/served.ts'
import type { Log } from '../../runtime/log.ts'

type Readers = ReadonlyMap<string, { readonly reader: EdgeReader<ServedMap> }>

/** Watches for parts of nginx's configuration that are not understood, or left out because there are too many. Logs each change once. */
export class UnreadWatch {
  readonly #edges: Readers
  readonly #log: Log
  readonly #told = new Map<string, string>()

  constructor(edges: Readers, log: Log) {
    this.#edges = edges
    this.#log = log
  }

  async check(): Promise<void> {
    for (const [server, { reader }] of this.#edges) {
      // An edge that cannot be read is told by others.
      const map = await reader.read().catch(() => undefined)
      if (map) this.#tell(server, map.broken)
    }
  }

  #tell(server: string, broken: ServedMap['broken']): void {
    const [first] = broken
    const told = JSON.stringify(broken.slice(0, MOST_COMPARED))
    const former = this.#told.get(server) ?? '[]'
    if (told === former) return
    this.#told.set(server, told)
    if (!first) {
      this.#log.info(
        { event: 'edge_read_whole', server },
        `The configuration of nginx on ${server} is understood again.`,
      )
      return
    }
    const { path, line, sentence } = first
    this.#log.warn(
      { event: 'edge_unread', server, places: broken.length, path, line, reason: sentence },
      `A part of nginx's configuration on ${server} is not read: hosts may be missing. Run drawbridge doctor.`,
    )
  }
}

/** The first ones tell whether something has changed. */
const MOST_COMPARED = 100
