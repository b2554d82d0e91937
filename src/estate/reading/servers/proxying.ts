import { hostname } from 'node:os'
import type { Proxying, ProxyTarget } from '../../../edge/served.ts'
import { parseAddress } from '../../../model/address.ts'
import type { StepBudget } from '../patterns/pattern.ts'
import type { Assignment, Pass, Route } from '../routes/route.ts'
import { filledIn, type GatheredValue, known, type Lookup, UNKNOWN, type ValueMap } from './value-map.ts'

/** The definitions of the http block that apply to all its servers. */
export interface HttpContext {
  /** The addresses of each upstream's servers, by name in lower case. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** By the variable that the map defines. */
  readonly maps: ReadonlyMap<string, ValueMap>
  /** A cache by URL: thousands of servers proxy to the same few addresses. */
  readonly resolved: Map<string, Proxying>
  readonly gathered: GatheredValue
  /** The pattern budget of the current reading. */
  readonly budget: StepBudget
}

const MAX_RESOLVED = 1000

/** nginx ends a request whose variables refer to each other more deeply. */
const MAX_VARIABLE_DEPTH = 100

/** What is known about a request before it is made. */
export interface RequestFacts {
  /** Undefined for any host. */
  readonly host: string | undefined
  readonly serverName: string
  /** Undefined when the block serves both. */
  readonly scheme: 'http' | 'https' | undefined
  /** The `Host` header, which has the port unless it is the default one. Undefined when it is not known. */
  readonly header: string | undefined
  /** Undefined when the block has several. */
  readonly port: number | undefined
}

/** The port and the scheme of a request, from the ports of a block. `tls` undefined: not known. */
export function portsOf(
  host: string | undefined,
  places: readonly { readonly port: number | null; readonly tls: boolean | undefined }[],
): Pick<RequestFacts, 'header' | 'port'> {
  const ends = new Set(places.map(endOfHeader))
  const [end = ''] = ends
  const [port] = places
  return {
    header: ends.size > 1 || host === undefined || end === undefined ? undefined : `${host}${end}`,
    port: places.every((place) => place.port === port?.port) ? (port?.port ?? undefined) : undefined,
  }
}

function endOfHeader({ port, tls }: { readonly port: number | null; readonly tls: boolean | undefined }) {
  if (port === null || port === (tls ? 443 : 80)) return ''
  return tls === undefined && port === 443 ? undefined : `:${port}`
}

const NOWHERE: Proxying = { proxyPass: null, unresolved: false, target: null, furtherTargets: 0 }
const UNRESOLVED: Proxying = { ...NOWHERE, unresolved: true }

/** Where a server sends such a request. */
export function proxying(route: Route, request: RequestFacts, context: HttpContext): Proxying {
  if (route === 'none') return NOWHERE
  if (route === 'unknown') return UNRESOLVED
  const { to, protocol, assignments } = route
  const url = to.includes('$') ? filledIn(to, lookupFor(assignments, request, context)) : to
  const { resolved } = context
  const key = `${protocol} ${url}`
  const known = resolved.get(key) ?? proxyingTo(url, protocol, context)
  if (resolved.size < MAX_RESOLVED) resolved.set(key, known)
  return known
}

/** The allowed schemes of the addresses of each directive. The first one is the default. */
const SCHEMES: Readonly<Record<Pass['protocol'], readonly ProxyTarget['protocol'][]>> = {
  http: ['http', 'https'],
  fastcgi: ['fastcgi'],
  uwsgi: ['uwsgi', 'suwsgi'],
  scgi: ['scgi'],
  grpc: ['grpc', 'grpcs'],
  memcached: ['memcached'],
}

const URL_PARTS = /^(?:([a-z]+):\/\/)?(unix:[^:]+|[^/?]+)/i

function proxyingTo(url: string, protocol: Pass['protocol'], { upstreams }: HttpContext): Proxying {
  const [, written, authority] = URL_PARTS.exec(url) ?? []
  const schemes = SCHEMES[protocol]
  const scheme =
    written === undefined && protocol !== 'http' ? schemes[0] : schemes.find((one) => one === written?.toLowerCase())
  if (scheme === undefined || authority === undefined || authority.includes(UNKNOWN)) return UNRESOLVED
  const servers = upstreams.get(authority.toLowerCase())
  const [first] = servers ?? [authority]
  if (first === undefined) return UNRESOLVED
  return {
    proxyPass: `${scheme}://${first}`,
    unresolved: false,
    target: targetOf(scheme, first, servers !== undefined),
    furtherTargets: (servers?.length ?? 1) - 1,
  }
}

/** Applies assignments in order: those of the server, then those of the location. Each may use earlier variables. */
export function lookupFor(
  assignments: readonly Assignment[],
  request: RequestFacts,
  {
    maps,
    gathered,
    budget,
  }: Pick<HttpContext, 'gathered' | 'budget'> & { readonly maps: Pick<HttpContext['maps'], 'get'> },
): Lookup {
  const values = new Map<string, string | undefined>()
  let depth = 0
  const lookup: Lookup = (name) => {
    const given = values.has(name) ? values.get(name) : ofRequest(name, request)
    if (given !== undefined || values.has(name)) return given
    values.set(name, undefined) // Ends a map that refers to its own variable.
    if (depth >= MAX_VARIABLE_DEPTH) return undefined
    depth += 1
    const value = maps.get(name)?.value(lookup, gathered, budget)
    depth -= 1
    values.set(name, value)
    return value
  }
  for (const { name, value } of assignments) values.set(name, known(value, lookup))
  return lookup
}

/** Only the first character of a path is known. That is enough, because the address ends before it. */
function ofRequest(name: string, { host, serverName, scheme, header, port }: RequestFacts): string | undefined {
  switch (name) {
    case 'host':
      return host
    case 'http_host':
      return header
    case 'server_port':
      return port === undefined ? undefined : String(port)
    case 'server_name':
      return serverName
    case 'scheme':
      return scheme
    case 'hostname':
      return hostname()
    case 'request_uri':
    case 'uri':
    case 'document_uri':
      return '/'
    case 'request_method':
      return 'GET'
    case 'https':
      return scheme && (scheme === 'https' ? 'on' : '')
    default:
      return undefined
  }
}

/** The default port in an upstream is 80 for both protocols. */
function targetOf(protocol: ProxyTarget['protocol'], authority: string, isUpstream: boolean): ProxyTarget | null {
  const [, named, port] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority) ?? []
  if (named === undefined) return null
  const host = parseAddress(named.replace(/^\[(.*)\]$/, '$1')) ?? named.toLowerCase()
  return { protocol, host, port: Number(port ?? (/^(?:https|grpcs)$/.test(protocol) && !isUpstream ? 443 : 80)) }
}
