/** A directive and the content of its block, as far as a route needs it. */
export interface RouteDirective {
  readonly name: string
  readonly args: readonly string[]
  readonly block?: readonly RouteDirective[] | undefined
}

/** Directives of other modules that answer or change requests. Their effect is not visible in the configuration. */
export const isOpaque = (name: string): boolean =>
  name.endsWith('_pass') ||
  /_by_lua(?:_block|_file)?$|^(?:js_content|js_access|perl|passenger_enabled|echo_exec)$/.test(name)

/** Programs that may answer, redirect or set variables before nginx chooses the content. */
export const isInterfering = (name: string): boolean =>
  /^(?:server_rewrite|rewrite|access|set)_by_lua|^js_access$/.test(name)

/** Directives that answer requests. The last one in a location answers. Programs that only filter or log do not count. */
export const isHandler = (name: string): boolean =>
  OWN_ANSWERS.has(name) || (isOpaque(name) && !/_by_lua/.test(name)) || name.startsWith('content_by_lua')

/** Handlers with which nginx answers by itself. */
export const OWN_ANSWERS: ReadonlySet<string> = new Set(['stub_status', 'empty_gif'])
