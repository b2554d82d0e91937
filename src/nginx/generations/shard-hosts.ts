import type { HostKind, Shard } from '../config/shards.ts'
import { type Standing, standingOf } from './standing.ts'

type Files = ReadonlyMap<HostKind, Shard | undefined>

/** The hosts of one shard. Each is worked out when somebody asks for it: all together would hold the event loop for too long. */
export class ShardHosts {
  readonly names: ReadonlySet<string>
  readonly #files: Files
  readonly #isLinked: boolean
  readonly #known = new Map<string, Standing>()

  /** The files must not be changed afterwards. `isLinked`: one of them was replaced by a link, to any target. */
  constructor(files: Files, isLinked: boolean) {
    this.names = new Set([...files.values()].flatMap((shard) => [...(shard?.keys ?? [])]))
    this.#files = files
    this.#isLinked = isLinked
  }

  get(host: string): Standing | undefined {
    const known = this.#known.get(host)
    if (known || !this.names.has(host)) return known
    const found = standingOf(host, (kind) => this.#files.get(kind)?.part(host))
    const standing = found && this.#isLinked ? { ...found, isEdited: true } : found
    if (standing) this.#known.set(host, standing)
    return standing
  }

  *values(): Iterable<Standing> {
    for (const host of this.names) {
      const standing = this.get(host)
      if (standing) yield standing
    }
  }
}
