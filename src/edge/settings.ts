/** How the entries of hosts are written: as lines in shared servers, or as server blocks of their own. */
export type EntryLayout = 'lines' | 'blocks'

/** One nginx on this machine, as its administrator set it up. All paths are absolute. */
export interface EdgeSettings {
  /** The id of the server in the registry. */
  readonly server: string
  /** The administrator's main file. Its http block includes `folder`'s `*.conf`. */
  readonly config: string
  /** Used by Drawbridge only. */
  readonly folder: string
  /** The value of nginx's `-p` option, if it has one. */
  readonly prefix: string | undefined
  readonly binary: string
  readonly pidFile: string
  readonly errorLog: string
  /** The address for Drawbridge's own requests to this nginx. */
  readonly address: string
  /** The addresses on which it listens. */
  readonly listen: readonly string[]
  /** How the entries of hosts are written. Default: lines. */
  readonly layout?: EntryLayout
  readonly ports: { readonly http: number; readonly https: number }
}
