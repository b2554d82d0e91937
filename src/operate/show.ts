import type { Config } from '../config/config.ts'
import { parseName } from '../model/dns-name.ts'
import { Fault } from '../model/errors.ts'
import { UsageError } from '../terminal/declare.ts'

/** The configuration of a host on an edge, as if the host stood alone. */
interface ShownEntry {
  readonly host: string
  readonly server: string
  /** The file of its entry. `line` is null when the file has no other entry. */
  readonly path: string
  readonly line: number | null
  readonly text: string
  /** Whether the store has an exposure of the host. Absent where the store cannot be asked. */
  readonly known?: boolean
}

/** Resolves with undefined when the server's edge has no entry for the host. */
export type EntryOf = (
  config: Config,
  server: string,
  host: string,
) => Promise<Pick<ShownEntry, 'path' | 'line' | 'text'> | undefined>

interface Wish {
  readonly host: string
  /** Default: the Primary. */
  readonly server: string | undefined
}

/** Finds the entry of a host. Throws a sentence when there is none. */
export async function showEntry(
  config: Config,
  { host, server = config.servers.primary }: Wish,
  readEntry: EntryOf,
): Promise<ShownEntry> {
  const edges = [...Object.keys(config.edges), ...Object.keys(config.agents)]
  if (!edges.includes(server)) {
    const known = edges.length === 0 ? 'The configuration has no edge.' : `Edges: ${edges.join(', ')}.`
    throw new UsageError(`No edge is configured for server ${server}. ${known}`)
  }
  const name = fullName(host, [...config.zones.keys()])
  const entry = await readEntry(config, server, name)
  if (!entry) throw new Fault(`Edge ${server} has no entry for ${name}. "drawbridge status" lists the hosts.`)
  return { host: name, server, ...entry }
}

/** A first label is enough where there is only one zone. */
function fullName(host: string, zones: readonly string[]): string {
  const [zone] = zones
  const written = !host.includes('.') && zones.length === 1 ? `${host}.${zone}` : host
  const name = parseName(written)
  if (name === undefined) throw new UsageError(`${JSON.stringify(host)} is not a host name.`)
  return name
}

/** After a restore of an older backup, or of another installation. */
const UNKNOWN = [
  'The store does not know this host, so nothing changes it.',
  'To manage it, with the service stopped: drawbridge rebuild --from-world --config FILE',
  'To remove it, manage it first, then run drawbridge down HOST.',
]

/** The first lines are comments, so that the output is a configuration file. */
export const entryLines = ({ host, server, path, line, text, known }: ShownEntry): string[] => [
  `# ${host} on edge ${server}: ${path}${line === null ? '' : `, line ${line}`}`,
  ...(known === false ? UNKNOWN.map((sentence) => `# ${sentence}`) : []),
  ...text.replace(/\n$/, '').split('\n'),
]
