import { type Edge, EdgeFault } from '../edge/contract.ts'
import type { Log } from '../runtime/log.ts'

/** Knows which edges log at debug level, and so would write private keys into a log. Logs each change once. */
export class DebugLogWatch {
  readonly #edges: readonly Edge[]
  readonly #log: Log
  /** What is wrong, by server. */
  #found: ReadonlyMap<string, string> = new Map()

  constructor(edges: readonly Edge[], log: Log) {
    this.#edges = edges
    this.#log = log
  }

  async look(): Promise<void> {
    const found = new Map<string, string>()
    for (const edge of this.#edges) {
      const sentence = await sentenceOf(edge)
      if (sentence !== undefined) found.set(edge.server, sentence)
    }
    const former = this.#found
    this.#found = found
    for (const [server, sentence] of found) {
      if (former.get(server) !== sentence) this.#log.error({ event: 'edge_logs_keys', server }, sentence)
    }
    for (const server of former.keys()) {
      if (!found.has(server))
        this.#log.info({ event: 'edge_logs_no_keys', server }, 'nginx no longer logs at debug level')
    }
  }

  /** A sentence for each edge as of the last look. Anybody may read it: it names no file. */
  get warnings(): readonly string[] {
    return [...this.#found.keys()].map(
      (server) => `nginx on ${server} logs at debug level: its log may hold private keys, and TLS is refused there.`,
    )
  }
}

async function sentenceOf(edge: Edge): Promise<string | undefined> {
  try {
    await edge.assertNoDebugLog()
    return undefined
  } catch (error) {
    if (error instanceof EdgeFault) return error.message
    throw error
  }
}
