import type { Edge } from '../../edge/contract/edge.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { Log } from '../../runtime/log.ts'

/** Watches for edges that log at debug level, because nginx then writes private keys into its log. Logs each change once. */
export class DebugLogWatch {
  readonly #edges: readonly Edge[]
  readonly #log: Log
  /** The edges that log at debug level: a sentence by server. */
  #found: ReadonlyMap<string, string> = new Map()

  constructor(edges: readonly Edge[], log: Log) {
    this.#edges = edges
    this.#log = log
  }

  async check(): Promise<void> {
    const found = new Map<string, string>()
    for (const edge of this.#edges) {
      const sentence = await debugLogFault(edge)
      if (sentence !== undefined) found.set(edge.server, sentence)
    }
    const former = this.#found
    this.#found = found
    for (const [server, sentence] of found) {
      if (former.get(server) !== sentence) this.#log.error({ event: 'edge_logs_keys', server }, sentence)
    }
    for (const server of former.keys()) {
      if (!found.has(server))
        this.#log.info({ event: 'edge_logs_no_keys', server }, `nginx on ${server} no longer logs at debug level.`)
    }
  }

  /** One sentence for each affected edge as of the last check. Public callers may read it, so it names no file. */
  get warnings(): readonly string[] {
    return [...this.#found.keys()].map(
      (server) =>
        `nginx on ${server} logs at debug level. Its log can contain private keys, so Drawbridge does not set up TLS there.`,
    )
  }
}

async function debugLogFault(edge: Edge): Promise<string | undefined> {
  try {
    await edge.assertNoDebugLog()
    return undefined
  } catch (error) {
    // What cannot be asked says nothing about its log.
    if (error instanceof EdgeFault) return error.kind === 'logs_keys' ? error.message : undefined
    throw error
  }
}
