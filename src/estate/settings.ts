import type { Clock } from '../primitives/clock.ts'

/** Files that the administrator of an edge has defined for options, by id. Callers name ids only. All paths are absolute. */
export interface NamedFiles {
  /** Files of users and hashed passwords, as htpasswd writes them. */
  readonly passwords: Readonly<Record<string, string>>
  /** Certificates of authorities, for backends with HTTPS. */
  readonly authorities: Readonly<Record<string, string>>
  /** Files in nginx's language, which are included in the server block of a host. */
  readonly snippets: Readonly<Record<string, string>>
}

export const NONE_NAMED: NamedFiles = { passwords: {}, authorities: {}, snippets: {} }

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
  /** Default: none. */
  readonly named?: NamedFiles | undefined
  readonly ports: { readonly http: number; readonly https: number }
  readonly clock: Clock
}
