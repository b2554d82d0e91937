import type { ExposureOptions } from './grammar.ts'

/** A directive of a hand-written site, by its name and place. It never holds its arguments: no text of a configuration is told. */
export interface SiteFinding {
  readonly directive: string
  readonly file: string
  readonly line: number
  /** What that means for the host, as a sentence. */
  readonly sentence: string
}

/** What Drawbridge would make of a hand-written site. It can be adopted if nothing is `refused`. */
export interface Adoption {
  readonly host: string
  /** The backend, if there is one that the registry has. */
  readonly backend?: { readonly server: string; readonly port: number } | undefined
  readonly tls: boolean
  /** The options of an exposure that say what the site says. */
  readonly options?: ExposureOptions | undefined
  /** The files of its certificate and key. */
  readonly certificate?: { readonly certificateFile: string; readonly keyFile: string } | undefined
  /** The files that hold its server blocks. */
  readonly files: readonly string[]
  /** What the exposure says as the site does. */
  readonly carried: readonly SiteFinding[]
  /** What changes by being adopted, and nobody has to consent to. */
  readonly changed: readonly SiteFinding[]
  /** What an exposure cannot say. Adopting needs consent to it. */
  readonly lost: readonly SiteFinding[]
  /** Why the site cannot be adopted: the host would answer otherwise in kind. */
  readonly refused: readonly SiteFinding[]
}

/** What callers of the API and of an agent are told of a directive. */
export type NamedFinding = Pick<SiteFinding, 'directive' | 'sentence'>

/** A hand-written site of a host, as it would be adopted. Only the command on the edge itself tells more of its directives. */
export interface FoundSite extends Pick<Adoption, 'backend' | 'tls' | 'options'> {
  /** The number of directives that the exposure says as the site does. */
  readonly carried: number
  readonly changed: readonly NamedFinding[]
  readonly lost: readonly NamedFinding[]
  readonly refused: readonly NamedFinding[]
  /** Covers everything that the site says, with what it includes. */
  readonly digest: string
  /** Covers the text of its server blocks. */
  readonly text: string
  /** Where its server blocks begin. */
  readonly blocks: readonly { readonly file: string; readonly line: number }[]
}
