/** `set $name value`. */
export interface Assignment {
  readonly name: string
  readonly value: string
}

/** The directives that hand a request to a backend, and the protocols that they speak. */
export const PASSES = {
  proxy_pass: 'http',
  fastcgi_pass: 'fastcgi',
  uwsgi_pass: 'uwsgi',
  scgi_pass: 'scgi',
  grpc_pass: 'grpc',
  memcached_pass: 'memcached',
} as const

/** Undefined for any other directive. */
export const protocolOf = (directive: string): PassProtocol | undefined =>
  Object.entries(PASSES).find(([name]) => name === directive)?.[1]

export type PassProtocol = (typeof PASSES)[keyof typeof PASSES]

/** A backend as it is written, and the assignments that were made on the way to it. */
export interface Pass {
  readonly protocol: PassProtocol
  readonly to: string
  readonly assignments: readonly Assignment[]
}

/**
 * Where a request for `/` goes. `none`: nginx answers by itself. `unknown`: the configuration does not decide it with certainty.
 */
export type Route = Pass | 'none' | 'unknown'

/**
 * Joins the possible routes of a partly known request. If nginx may answer some visitors by itself, the result is the route to the
 * one backend. Two different backends give `unknown`.
 */
export function joined(routes: readonly Route[]): Route {
  const passes = new Map<string, Pass>()
  for (const route of routes) {
    if (route === 'unknown') return 'unknown'
    if (route !== 'none') passes.set(keyOf(route), route)
  }
  const [first] = passes.values()
  return passes.size > 1 ? 'unknown' : (first ?? 'none')
}

/** Assignments do not matter to an address without variables. */
const keyOf = ({ protocol, to, assignments }: Pass): string =>
  JSON.stringify([protocol, to, to.includes('$') ? assignments.map(({ name, value }) => [name, value]) : []])
