import { parseAddress } from '../../../model/address.ts'
import type { SiteDirective } from '../site-text.ts'
import type { SiteFindings } from './site-findings.ts'
import type { SiteWorld } from './site-world.ts'

interface Backend {
  readonly server: string
  readonly port: number
}

export type Variables = ReadonlyMap<string, string>

/** The variables of the block: those around it, and those that `set` assigns, in order. */
export function variablesIn(block: readonly SiteDirective[], around: Variables): Variables {
  const variables = new Map(around)
  for (const { name, args } of block)
    if (name === 'set') variables.set((args[0] ?? '').replace(/^\$/, ''), filled(args[1] ?? '', variables))
  return variables
}

const filled = (text: string, variables: Variables): string =>
  text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (written, braced?: string, bare?: string) => variables.get(braced ?? bare ?? '') ?? written,
  )

/** The backends of a site. */
export class SiteBackends {
  readonly #world: SiteWorld
  readonly #findings: SiteFindings
  readonly #found = new Map<string, Backend>()
  /** The first `proxy_pass` to a backend with HTTPS. */
  secure: SiteDirective | undefined

  constructor(world: SiteWorld, findings: SiteFindings) {
    this.#world = world
    this.#findings = findings
  }

  get found(): readonly Backend[] {
    return [...this.#found.values()]
  }

  pass(pass: SiteDirective, variables: Variables, around: SiteDirective): void {
    const written = pass.args[0] ?? ''
    const found = this.#authorityOf(filled(written, variables), around)
    if ('refused' in found) this.#findings.refuse(pass, found.refused)
    // If the address has a variable, its path replaces the path of the request.
    else if (found.hasPath && written.includes('$')) this.#findings.refuse(pass, OTHER_PATH)
    else {
      if (found.hasPath) this.#findings.change(pass, NORMALISED, 'path')
      if (written.includes('$') || found.isUpstream)
        this.#findings.change(pass, OWN_REDIRECTS, 'answer location', 'answer refresh')
      this.#backend(pass, found.authority, found.isHttps)
    }
  }

  /** The address and port of the one server behind a URL. */
  #authorityOf(
    url: string,
    around: SiteDirective,
  ):
    | {
        readonly authority: string
        readonly isHttps: boolean
        readonly hasPath: boolean
        readonly isUpstream: boolean
      }
    | { readonly refused: string } {
    const [, protocol, authority = '', uri = ''] = /^(https?):\/\/([^/]+)(\/.*)?$/.exec(url) ?? []
    if (url.includes('$')) return { refused: 'The address of its backend depends on the request.' }
    if (protocol === undefined || authority.startsWith('unix'))
      return { refused: 'Its backend has no address and port.' }
    const isWhole = uri === '' || (uri === '/' && around.name === 'location' && around.args.at(-1) === '/')
    if (!isWhole) return { refused: OTHER_PATH }
    const upstream = this.#world.upstreams.get(authority)
    if (upstream && upstream.length !== 1) return { refused: 'Several backends share the requests.' }
    return {
      authority: upstream?.[0] ?? authority,
      isHttps: protocol === 'https',
      hasPath: uri !== '',
      isUpstream: upstream !== undefined,
    }
  }

  #backend(pass: SiteDirective, authority: string, isHttps: boolean): void {
    if (isHttps) this.secure ??= pass
    const [, named = '', port = isHttps ? '443' : '80'] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(authority) ?? []
    const address = named === 'localhost' ? '127.0.0.1' : parseAddress(named.replace(/^\[(.*)\]$/, '$1'))
    const server = address === undefined ? undefined : this.#world.serverAt(address)
    if (server === undefined) {
      this.#findings.refuse(pass, 'Its backend is not on a server that hosts may be exposed on.')
      return
    }
    this.#found.set(`${server} ${port}`, { server, port: Number(port) })
    this.#findings.carry(pass, `Its backend is server ${server}, port ${port}.`)
    if (address?.startsWith('127.') || address === '::1')
      this.#findings.change(pass, `The backend is asked by the address of server ${server} and not by the loopback.`)
  }
}

const OTHER_PATH = 'The backend is asked for another path than the visitor asks for.'
const NORMALISED =
  'The backend gets paths as visitors send them: not decoded, and with every slash and dot in its place.'
export const OWN_REDIRECTS = 'Redirects of the backend to its own address lead to the host.'
