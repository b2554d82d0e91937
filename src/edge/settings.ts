/** One nginx on this machine, as its administrator set it up. All paths are absolute. */
export interface EdgeSettings {
  /** The id of the server that it plays. */
  readonly server: string
  /** The administrator's main file. Its http block includes `folder`'s `*.conf`. */
  readonly config: string
  /** Ours alone. */
  readonly folder: string
  /** What nginx is given with `-p`, where it is. */
  readonly prefix: string | undefined
  readonly binary: string
  readonly pidFile: string
  readonly errorLog: string
  /** Where it is asked. */
  readonly address: string
  /** Where it listens. */
  readonly listen: readonly string[]
  readonly ports: { readonly http: number; readonly https: number }
}
