import { type Included, type Located, OUR_PLACE } from '../text/included.ts'
import { draftServer, variableName } from '../text/server-draft.ts'
import type { ServerDraft } from '../text/statements.ts'
import { type MapText, variablesIn } from './value-map.ts'

/** The servers, upstreams and maps of the http block, as plain data. */
export interface HttpBlock {
  readonly servers: readonly ServerDraft[]
  /** How many of them nginx reads before the base file of the edge: all of them if it includes none. */
  readonly serversBefore: number
  /** The addresses of each upstream's servers, by name in lower case. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** By the variable that the map defines. Only those on which a `proxy_pass` depends. */
  readonly maps: ReadonlyMap<string, MapText>
}

export function readHttpBlock(included: Included): HttpBlock {
  const servers: ServerDraft[] = []
  const upstreams = new Map<string, readonly string[]>()
  const maps = new Map<string, Located>()
  let before: number | undefined
  for (const block of included.main()) {
    if (block.name !== 'http') continue
    for (const statement of included.in(block)) {
      const { name, args } = statement
      if (name === 'server') servers.push(...serverOf(statement, included))
      else if (name === 'upstream') upstreams.set((args[0] ?? '').toLowerCase(), upstreamServers(statement, included))
      else if (name === OUR_PLACE) before ??= servers.length
      else if (name === 'map') maps.set(variableName(args[1]), statement)
    }
  }
  return { servers, serversBefore: before ?? servers.length, upstreams, maps: usedMaps(servers, maps, included) }
}

function serverOf(statement: Located, included: Included): ServerDraft[] {
  const { draft, block, path } = statement
  if (draft) return [draft]
  return block ? [draftServer(statement, path, (inner) => included.in(inner))] : []
}

/** Backup servers only when there are no others. */
function upstreamServers(upstream: Located, included: Included): string[] {
  const servers = [...included.in(upstream)].filter(({ name, args }) => name === 'server' && !args.includes('down'))
  const first = servers.filter(({ args }) => !args.includes('backup'))
  return (first.length > 0 ? first : servers).map(({ args }) => args[0] ?? '')
}

/** Other maps are not read, because maps may contain secrets such as private keys. */
function usedMaps(
  servers: readonly ServerDraft[],
  maps: ReadonlyMap<string, Located>,
  included: Included,
): Map<string, MapText> {
  const used = new Map<string, MapText>()
  const use = (texts: readonly string[]): void => {
    for (const variable of texts.flatMap(variablesIn)) {
      const map = maps.get(variable)
      if (!map || used.has(variable)) continue
      const text = mapText(map, included)
      used.set(variable, text)
      use([text.source, text.default, ...text.entries.flatMap(([, value]) => (value.includes('$') ? [value] : []))])
    }
  }
  for (const { proxyPass } of servers)
    if (proxyPass?.to.includes('$')) use([proxyPass.to, ...proxyPass.assignments.map(({ value }) => value)])
  return used
}

function mapText(map: Located, included: Included): MapText {
  const entries: [string, string][] = []
  const gathered: string[] = []
  let byDefault = ''
  let hasWildcards = false
  for (const { name, args } of included.in(map)) {
    const [value] = args
    if (value === undefined) hasWildcards ||= name === 'hostnames'
    else if (name === 'include') gathered.push(value)
    else if (name === 'default') byDefault = value
    else entries.push([name, value])
  }
  return { source: map.args[0] ?? '', default: byDefault, hasWildcards, entries, gathered }
}
