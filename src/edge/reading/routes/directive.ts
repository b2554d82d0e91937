/** A directive and the content of its block, as far as a route needs it. */
export interface RouteDirective {
  readonly name: string
  readonly args: readonly string[]
  readonly block?: readonly RouteDirective[] | undefined
}

/** Directives that answer requests or change them. What those of other modules do, the configuration does not tell. */
export const isOpaque = (name: string): boolean =>
  name.endsWith('_pass') || /_by_lua(?:_block|_file)?$|^(?:js_content|js_access|perl|passenger_enabled)$/.test(name)
