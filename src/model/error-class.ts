/** What a line of nginx's error log is about. The line itself never leaves the edge. */
export type ErrorClass =
  | 'connection_refused'
  | 'connect_timeout'
  | 'upstream_timeout'
  | 'no_route'
  | 'upstream_reset'
  | 'upstream_closed_early'
  | 'upstream_tls'
  /** What it answers is no HTTP. */
  | 'upstream_not_http'
  | 'upstream_unresolved'
  | 'no_live_upstreams'
  | 'body_too_large'
  | 'permission_denied'
  | 'file_missing'
  | 'other'
