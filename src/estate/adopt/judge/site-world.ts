import type { NamedFiles } from '../../settings.ts'
import type { SiteDirective } from '../site-text.ts'

/** What a judgement depends on besides the text of the site. */
export interface SiteWorld {
  readonly ports: { readonly http: number; readonly https: number }
  /** The addresses on which our servers listen. Undefined: not known. */
  readonly listen?: readonly string[] | undefined
  /** The content of the http block without its servers. Default: nothing. */
  readonly http?: readonly SiteDirective[] | undefined
  /** The addresses of each upstream's servers, by its name. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** The servers that are the default of a socket because they are its first server. */
  readonly firsts?: ReadonlySet<SiteDirective> | undefined
  /** The id of the deployment target with this address. The loopback stands for the edge's own server. */
  readonly serverAt: (address: string) => string | undefined
  /** Files that options can name. Default: none. */
  readonly named?: NamedFiles | undefined
}
