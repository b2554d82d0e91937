import type { StepBudget } from '../patterns/pattern.ts'
import type { PathKind } from '../routes/condition.ts'
import { isInterfering } from '../routes/directive.ts'
import type { WalkFacts } from '../routes/request.ts'
import type { Route } from '../routes/route.ts'
import { walkServer } from '../routes/walk.ts'
import type { ServerDraft, Statement } from '../text/statements.ts'
import { lookupFor, portsOf } from './proxying.ts'
import { known, type ValueMap } from './value-map.ts'

/** What the routes of servers depend on, besides their own directives. */
export interface RouteContext {
  readonly http: readonly Statement[]
  /** Undefined: there is no such map, or its values are not known here. */
  map(variable: string): ValueMap | undefined
  kindOf(path: string): PathKind
  readonly prefix: string | undefined
  readonly budget: StepBudget
}

/** A server with more names gets one route for all of them, possibly `unknown`. */
const MAX_NAMES = 1_000

/** Follows the route of a server, for each of its names if it depends on the name. */
export function withRoutes(server: ServerDraft, context: RouteContext): ServerDraft {
  const { routing, ...rest } = server
  const isProgrammed = server.route !== 'none' && context.http.some(({ name }) => isInterfering(name))
  if (isProgrammed) return { ...rest, route: 'unknown' }
  if (!routing) return server
  const ofAny = follow(server, routing, undefined, context)
  if (!ofAny.usesHost) return { ...rest, route: ofAny.route }
  const names = server.names.filter((name) => !/[*~]/.test(name)).map((name) => name.replace(/^\./, ''))
  if (names.length > MAX_NAMES) return { ...rest, route: ofAny.route }
  const routes = new Map(names.map((name) => [name, follow(server, routing, name, context).route]))
  return { ...rest, route: ofAny.route, routes }
}

function follow(
  server: ServerDraft,
  routing: readonly Statement[],
  host: string | undefined,
  context: RouteContext,
): { readonly route: Route; readonly usesHost: boolean } {
  let usesHost = false
  const places = server.listen.map(({ port, isTls, isTlsOfServer }) => ({
    port,
    tls: isTls && !isTlsOfServer ? true : port === 443 || isTlsOfServer ? undefined : false,
  }))
  const request = { host, serverName: serverNameOf(server), scheme: schemeOf(server), ...portsOf(host, places) }
  const maps = {
    get: (variable: string) => {
      usesHost = true
      return context.map(variable)
    },
  }
  const facts: WalkFacts = {
    http: context.http,
    kindOf: context.kindOf,
    prefix: context.prefix,
    budget: context.budget,
    value(text, assignments, own) {
      usesHost ||= /host/i.test(text) || assignments.some(({ value }) => /host/i.test(value))
      const given = [...own].map(([name, value]) => ({ name, value }))
      return known(
        text,
        lookupFor([...given, ...assignments], request, { maps, gathered: () => undefined, budget: context.budget }),
      )
    },
  }
  const route = walkServer(routing, facts)
  return { route, usesHost }
}

/** nginx has the first name without its leading dot, and a pattern without its tilde. */
export const serverNameOf = ({ names: [first = ''] }: ServerDraft): string => first.replace(/^[.~]/, '')

/** Undefined if the server has both schemes, or if another server on its socket may add TLS. */
function schemeOf({ listen }: ServerDraft): 'http' | 'https' | undefined {
  if (listen.length > 0 && listen.every(({ isTls, isTlsOfServer }) => isTls && !isTlsOfServer)) return 'https'
  return listen.some(({ isTls, port }) => isTls || port === 443) ? undefined : 'http'
}
