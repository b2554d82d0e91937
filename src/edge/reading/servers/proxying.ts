import { hostname } from 'node:os'
import { parseAddress } from '../../../model/address.ts'
import type { Proxying, ProxyTarget } from '../contract.ts'
import type { ProxyPass } from '../text/statements.ts'
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
}

const MAX_RESOLVED = 1000

/** What is known about a request before it is made. */
export interface RequestFacts {
  readonly host: string
  readonly serverName: string
  /** Undefined when the block serves both. */
  readonly scheme: 'http' | 'https' | undefined
}

const NOWHERE: Proxying = { proxyPass: null, unresolved: false, target: null, furtherTargets: 0 }
const UNRESOLVED: Proxying = { ...NOWHERE, unresolved: true }

/** Where a server proxies such a request. */
export function proxying(directive: ProxyPass | undefined, request: RequestFacts, context: HttpContext): Proxying {
  if (!directive) return NOWHERE
  const { to } = directive
  const url = to.includes('$') ? filledIn(to, lookupFor(directive, request, context)) : to
  const { resolved } = context
  const known = resolved.get(url) ?? proxyingTo(url, context)
  if (resolved.size < MAX_RESOLVED) resolved.set(url, known)
  return known
}

function proxyingTo(url: string, { upstreams }: HttpContext): Proxying {
  const [, protocol, authority] = /^(https?):\/\/(unix:[^:]+|[^/?]+)/i.exec(url) ?? []
  if (protocol === undefined || authority === undefined || authority.includes(UNKNOWN)) return UNRESOLVED
  const servers = upstreams.get(authority.toLowerCase())
  const [first] = servers ?? [authority]
  if (first === undefined) return UNRESOLVED
  return {
    proxyPass: `${protocol.toLowerCase()}://${first}`,
    unresolved: false,
    target: targetOf(protocol.toLowerCase() === 'https' ? 'https' : 'http', first, servers !== undefined),
    furtherTargets: (servers?.length ?? 1) - 1,
  }
}

/** Assignments apply in order, those of the server before those of the location. Each may use earlier variables. */
function lookupFor({ assignments }: ProxyPass, request: RequestFacts, { maps, gathered }: HttpContext): Lookup {
  const values = new Map<string, string | undefined>()
  const lookup: Lookup = (name) => {
    const given = values.has(name) ? values.get(name) : ofRequest(name, request)
    if (given !== undefined || values.has(name)) return given
    values.set(name, undefined) // Ends a map that refers to its own variable.
    const value = maps.get(name)?.value(lookup, gathered)
    values.set(name, value)
    return value
  }
  for (const { name, value, isConditional } of assignments) {
    values.set(name, isConditional ? undefined : known(value, lookup))
  }
  return lookup
}

/** Only the first character of a path is known. That is enough, because the address ends before it. */
function ofRequest(name: string, { host, serverName, scheme }: RequestFacts): string | undefined {
  switch (name) {
    case 'host':
    case 'http_host':
      return host
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
    case 'is_args':
      return '?'
    default:
      return undefined
  }
}

/** The default port in an upstream is 80 for both protocols. */
function targetOf(protocol: 'http' | 'https', authority: string, isUpstream: boolean): ProxyTarget | null {
  const [, named, port] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority) ?? []
  if (named === undefined) return null
  const host = parseAddress(named.replace(/^\[(.*)\]$/, '$1')) ?? named.toLowerCase()
  return { protocol, host, port: Number(port ?? (protocol === 'https' && !isUpstream ? 443 : 80)) }
}
