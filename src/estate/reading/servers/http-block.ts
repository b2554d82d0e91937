import type { BrokenPlace } from '../../../edge/served.ts'
import type { PathKind } from '../routes/condition.ts'
import { isInterfering, isOpaque } from '../routes/directive.ts'
import { type Included, type Located, OUR_PLACE } from '../text/included.ts'
import { withEveryPort, withSslOn } from '../text/listen.ts'
import { pathKind } from '../text/path-kind.ts'
import { draftServer, variableName } from '../text/server-draft.ts'
import type { ServerDraft, Statement } from '../text/statements.ts'
import { type RouteContext, withRoutes } from './server-routes.ts'
import { type MapText, ValueMap, variablesIn } from './value-map.ts'

/** The servers, upstreams and maps of the http block, as plain data. */
export interface HttpBlock {
  readonly servers: readonly ServerDraft[]
  /** The number of servers that nginx reads before the base file of the edge. All servers, if the base file is not included. */
  readonly serversBefore: number
  /** The first of `broken` behind which servers, or places where they listen, may be hidden. */
  readonly hidesListens: BrokenPlace | undefined
  /** The addresses of each upstream's servers, by name in lower case. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** By the variable that the map defines. Only those on which a backend depends. */
  readonly maps: ReadonlyMap<string, MapText>
  /** The paths on which a route depends, such as those of `try_files`, and the kind of file found there. */
  readonly probes: ReadonlyMap<string, PathKind>
}

/** `prefix`: the folder from which a relative `root` starts, if it is known. */
export function readHttpBlock(included: Included, prefix?: string): HttpBlock {
  const servers: ServerDraft[] = []
  const upstreams = new Map<string, readonly string[]>()
  const maps = new Map<string, Located>()
  const settings: Statement[] = []
  let before: number | undefined
  let hasSslOn = false
  for (const block of included.main()) {
    if (block.name !== 'http') continue
    for (const statement of included.in(block)) {
      const { name, args } = statement
      if (name === 'server') servers.push(...serverOf(statement, included))
      else if (name === 'upstream') upstreams.set((args[0] ?? '').toLowerCase(), upstreamServers(statement, included))
      else if (name === OUR_PLACE) before ??= servers.length
      else if (name === 'map') maps.set(variableName(args[1]), statement)
      else if (name === 'ssl') hasSslOn = args[0] === 'on'
      else if (INHERITED.has(name) || isInterfering(name)) settings.push(statement)
    }
  }
  const probes = new Map<string, PathKind>()
  const { budget } = included
  const context = {
    http: settings,
    prefix,
    budget,
    map: mapsOnDemand(maps, included),
    kindOf: probedBy(probes, included),
  }
  const inheriting = hasSslOn ? servers.map(inheritSslOn) : servers
  const routed = bounded(inheriting, included).map((server) => withRoutes(server, context))
  return {
    servers: routed,
    serversBefore: before ?? servers.length,
    hidesListens: included.hidesListens,
    upstreams,
    maps: usedMaps(routed, maps, included),
    probes,
  }
}

const inheritSslOn = (server: ServerDraft): ServerDraft =>
  server.hasSslOff ? server : { ...server, listen: withSslOn(server.listen) }

/** All ports of ranges together. Each is a socket with its own index of names. */
const MAX_PORTS = 10_000
/** All names of all servers together. */
const MAX_NAMES = 250_000

/** The number of pairs of a name and a socket, of all servers together. */
const MAX_PAIRS = 1_000_000

/** The maximum number of reported places of a block. */
export const MAX_PLACES = 1_000

/** Hostile files may have any number of sockets and names. Reports everything that is left out. */
function bounded(servers: readonly ServerDraft[], included: Included): ServerDraft[] {
  const ports = { left: MAX_PORTS }
  let namesLeft = MAX_NAMES
  let pairsLeft = MAX_PAIRS
  return servers.map((server) => {
    const { path, line } = server
    const names = server.names.length <= namesLeft ? server.names : server.names.slice(0, namesLeft)
    namesLeft -= names.length
    const before = ports.left
    const every = withEveryPort(server.listen, ports)
    const most = Math.max(1, Math.floor(pairsLeft / Math.max(1, names.length)))
    const listen = every.length <= most ? every : every.slice(0, most)
    pairsLeft = Math.max(0, pairsLeft - listen.length * names.length)
    if (names !== server.names) included.report(path, line, 'too many names; the rest was not read')
    if (listen !== every || (ports.left < 0 && ports.left !== before))
      included.report(path, line, 'too many ports; some ports of a range were not read', { hasListens: true })
    else if (listen.length > MAX_PLACES)
      included.report(path, line, `more than ${MAX_PLACES} places to listen; the others are not told`)
    return listen === server.listen && names === server.names ? server : { ...server, listen, names }
  })
}

/** The directives of the http block that decide where a request goes. */
const INHERITED = new Set(['root', 'index', 'autoindex', 'error_page', 'fastcgi_index', 'fastcgi_split_path_info'])

/** The values of a map with gathered files are not known here. */
function mapsOnDemand(maps: ReadonlyMap<string, Located>, included: Included): RouteContext['map'] {
  const read = new Map<string, ValueMap | undefined>()
  return (variable) => {
    const map = maps.get(variable)
    if (!map) return undefined
    if (!read.has(variable)) {
      const text = mapText(map, included)
      read.set(variable, text.gathered.length > 0 ? undefined : ValueMap.of(text))
    }
    return read.get(variable)
  }
}

/** All these paths are checked again at every check for changes. */
const MAX_PROBES = 5_000

function probedBy(probes: Map<string, PathKind>, included: Included): RouteContext['kindOf'] {
  let isTold = false
  return (path) => {
    const known = probes.get(path)
    if (known) return known
    if (path.length > 4_096) return 'unknown'
    if (probes.size >= MAX_PROBES) {
      if (!isTold)
        included.report(path, null, 'too many files decide where requests go; this one and others were not looked at')
      isTold = true
      return 'unknown'
    }
    const kind = pathKind(path)
    probes.set(path, kind)
    return kind
  }
}

function serverOf(statement: Located, included: Included): ServerDraft[] {
  const { draft, block, path } = statement
  if (draft) return [draft]
  return block ? [draftServer(statement, path, (inner) => included.in(inner), included.budget)] : []
}

/** Backup servers are used only if there are no others. Empty if DNS or a program chooses the server. */
function upstreamServers(upstream: Located, included: Included): string[] {
  const content = [...included.in(upstream)]
  if (content.some(({ name }) => isOpaque(name))) return []
  const servers = content.filter(({ name, args }) => name === 'server' && !args.includes('down'))
  if (servers.some(({ args }) => args.some((argument) => argument.startsWith('service=')))) return []
  const first = servers.filter(({ args }) => !args.includes('backup'))
  return (first.length > 0 ? first : servers).map(({ args }) => args[0] ?? '')
}

/** Reads only the maps that a backend depends on: maps may contain secrets such as private keys. */
function usedMaps(
  servers: readonly ServerDraft[],
  maps: ReadonlyMap<string, Located>,
  included: Included,
): Map<string, MapText> {
  const used = new Map<string, MapText>()
  // A list instead of recursion: maps may refer to each other in a chain of any length.
  const use = (texts: readonly string[]): void => {
    const variables = texts.flatMap(variablesIn)
    for (let variable = variables.pop(); variable !== undefined; variable = variables.pop()) {
      const map = maps.get(variable)
      if (!map || used.has(variable)) continue
      const text = mapText(map, included)
      used.set(variable, text)
      for (const one of [text.source, text.default]) variables.push(...variablesIn(one))
      for (const [, value] of text.entries) if (value.includes('$')) variables.push(...variablesIn(value))
    }
  }
  for (const { route, routes } of servers) {
    for (const one of [route, ...(routes?.values() ?? [])])
      if (typeof one === 'object' && one.to.includes('$')) use([one.to, ...one.assignments.map(({ value }) => value)])
  }
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
