import { parseAddress } from '../../model/address.ts'
import type { Adoption, SiteFinding } from '../../model/options/adoption.ts'
import type { ExposureOptions } from '../../model/options/grammar.ts'
import { parseListens } from '../reading/text/listen.ts'
import type { NamedFiles } from '../settings.ts'
import { toldBy, verdictOf } from './directive-table.ts'
import { isAlways, isForPlain, redirectOf } from './redirects.ts'
import { judgeRequestHeaders } from './request-headers.ts'
import { type Chain, innermost, restrictionsOf } from './restrictions.ts'
import { newAddresses } from './site-addresses.ts'
import { type Level, type ReadSiteOptions, SiteOptions } from './site-options.ts'
import type { SiteDirective } from './site-text.ts'

/** What a site is judged by, beside its own text. */
export interface SiteWorld {
  readonly ports: { readonly http: number; readonly https: number }
  /** The addresses on which our servers listen. Undefined: not known. */
  readonly listen?: readonly string[] | undefined
  /** What the http block says beside its servers. Default: nothing. */
  readonly http?: readonly SiteDirective[] | undefined
  /** The addresses of each upstream's servers, by its name. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** The servers that are the default of a socket because they come first. */
  readonly firsts?: ReadonlySet<SiteDirective> | undefined
  /** The id of the deployment target with this address. The loopback stands for the edge's own server. */
  readonly serverAt: (address: string) => string | undefined
  /** Files that options can name. Default: none. */
  readonly named?: NamedFiles | undefined
}

/** The names of a server block, in lower case. */
export const namesOf = ({ block = [] }: SiteDirective): readonly string[] =>
  block.filter(({ name }) => name === 'server_name').flatMap(({ args }) => args.map((arg) => arg.toLowerCase()))

/** What an exposure can say of a site, and the differences that its findings tell, as a rehearsal names them. */
export interface JudgedSite {
  readonly adoption: Adoption
  readonly told: ReadonlySet<string>
  /** The paths of further locations that the backend answers. */
  readonly paths: readonly string[]
}

/** What an exposure can say of the server blocks of a host. Nothing is read but what is given. */
export function judgeSite(host: string, blocks: readonly SiteDirective[], world: SiteWorld): JudgedSite {
  const judge = new SiteJudge(host, world)
  judge.name(blocks)
  judge.around(world.http ?? [])
  for (const block of blocks) judge.server(block)
  judge.compare(blocks)
  judge.addresses(blocks)
  return judge.result(blocks)
}

/** The answer of one server block. */
type Answer = { readonly kind: 'proxy' | 'redirect' | 'none' }

interface Backend {
  readonly server: string
  readonly port: number
}

/** Whom a block serves: visitors with TLS, without, or both. */
type Served = 'tls' | 'plain' | 'both'

class SiteJudge {
  readonly #host: string
  readonly #world: SiteWorld
  readonly #http: readonly SiteDirective[]
  readonly #carried: SiteFinding[] = []
  readonly #changed: SiteFinding[] = []
  readonly #lost: SiteFinding[] = []
  readonly #refused: SiteFinding[] = []
  readonly #told = new Set<string>()
  readonly #paths = new Set<string>()
  readonly #backends = new Map<string, Backend>()
  #tls = false
  #certificate: Partial<Record<'certificateFile' | 'keyFile', string>> = {}
  #redirects = false
  #plainProxy: SiteDirective | undefined
  /** The first request of a backend by HTTPS. */
  #securePass: SiteDirective | undefined
  #block: SiteOptions
  #served: Served = 'plain'
  /** Who is let in at the paths that have no location of their own. */
  #restrictions = ''
  /** Where the block asks its backend, and whether it passes upgrades on there. */
  #upgrading: { readonly pass: SiteDirective; readonly websocket: boolean }[] = []
  readonly #optionsOf: { readonly tls: boolean; readonly read: ReadSiteOptions }[] = []

  constructor(host: string, world: SiteWorld) {
    this.#host = host
    this.#world = world
    this.#http = world.http ?? []
    this.#block = new SiteOptions(host)
  }

  result(blocks: readonly SiteDirective[]): JudgedSite {
    const [backend, ...others] = this.#backends.values()
    const [first] = blocks
    if (first && others.length > 0) this.#refuse(first, 'Its paths are answered by several backends.')
    if (first && !backend && this.#refused.length === 0) this.#refuse(first, 'It has no backend.')
    if (first && this.#redirects && !this.#tls)
      this.#refuse(first, 'It redirects to HTTPS, which this nginx does not serve for it.')
    if (this.#plainProxy && this.#tls) this.#lose(this.#plainProxy, TO_HTTPS, REDIRECTED)
    if (this.#tls) this.#tellTls(blocks)
    const options = this.#options()
    if (this.#securePass && !options?.backendTls) this.#refuse(this.#securePass, UNCHECKED)
    const { certificateFile, keyFile } = this.#certificate
    const adoption = {
      host: this.#host,
      ...(backend && others.length === 0 && { backend }),
      tls: this.#tls,
      ...(options && { options }),
      ...(this.#tls &&
        certificateFile !== undefined &&
        keyFile !== undefined && { certificate: { certificateFile, keyFile } }),
      files: [...new Set(blocks.map(({ path }) => path))],
      carried: inOrder(this.#carried),
      changed: inOrder(this.#changed),
      lost: inOrder(this.#lost),
      refused: inOrder(this.#refused),
    }
    return { adoption, told: this.#told, paths: [...this.#paths] }
  }

  name([first]: readonly SiteDirective[]): void {
    if (first && this.#host.includes('_'))
      this.#refuse(first, 'Its name has an underscore, which no host of Drawbridge may have.')
  }

  /** The http block: what is not known there is not known for its servers. */
  around(http: readonly SiteDirective[]): void {
    for (const each of unreadIn(http)) this.#refuse(each, notRead(each.unread ?? ''))
    for (const each of http) if (isProgram(each.name)) this.#refuse(each, AROUND_PROGRAM)
  }

  /** Whoever did not reach the addresses of the site must not get to it by being adopted. Without TLS, beside it, is a redirect only. */
  addresses(blocks: readonly SiteDirective[]): void {
    for (const block of blocks) if (this.#world.firsts?.has(block)) this.#change(block, FIRST)
    const isFor = this.#tls ? isForTls : isForPlainText
    const some = blocks.filter((block) => isFor(placesOf(block)))
    const places = some.flatMap((block) => placesOf(block)).filter(({ isTls }) => isTls === this.#tls)
    const line = some.flatMap(({ block = [] }) => block).find(({ name }) => name === 'listen')
    if (!line || some.some((block) => placesOf(block).length === 0)) return
    const found = newAddresses(places, this.#world.listen)
    if (found === 'restricted') this.#refuse(line, RESTRICTED_ADDRESS)
    if (found === 'not known') this.#change(line, OWN_ADDRESSES)
    if (found === 'other family') this.#change(line, OTHER_FAMILY)
  }

  /** Two blocks for the same visitors, such as on two addresses, must say the same: an exposure is one answer. */
  compare(blocks: readonly SiteDirective[]): void {
    for (const isFor of [isForTls, isForPlainText]) {
      const [first, ...others] = blocks.filter((block) => isFor(placesOf(block)))
      const other = others.find((block) => first && answerOf(block) !== answerOf(first))
      if (other) this.#refuse(other, 'Another server block of the host answers the same visitors otherwise.')
    }
  }

  server(server: SiteDirective): void {
    const { block = [] } = server
    for (const each of unreadIn(block)) this.#refuse(each, notRead(each.unread ?? ''))
    const others = namesOf(server).filter((name) => name !== this.#host)
    if (others.length > 0) this.#refuse(server, 'The same block serves other names as well.')
    this.#served = this.#listens(server)
    const tls = this.#served
    const isRedirected = block.some((each) => each.name === 'if' && isForPlain(each) && this.#redirectOf(each))
    this.#block = new SiteOptions(this.#host, this.#world.named, () => this.#securePass !== undefined)
    this.#upgrading = []
    const main = block.find((each) => each.name === 'location' && isForAll(each))
    this.#restrictions = restrictionsOf([this.#http, block, main?.block ?? []])
    const answer = this.#content([this.#http, block], variablesIn(block, new Map()), server)
    if (answer.kind === 'redirect') this.#leaveRedirect(block)
    if (answer.kind === 'none') this.#refuse(server, STATIC_ROOT)
    if (answer.kind === 'proxy' && tls !== 'tls' && !isRedirected) this.#plainProxy = server
    if (answer.kind === 'proxy' && tls !== 'plain') this.#tls = true
    if (answer.kind !== 'proxy') {
      for (const each of this.#block.directives) this.#lose(each, REDIRECT_ANSWERED, 'http answer *')
      return
    }
    for (const each of this.#http) this.#block.take(each, 'http')
    this.#judgeAround(block)
    const read = this.#block.read(this.#websocket())
    if (read.isInvalid) this.#refuse(server, INVALID_OPTIONS)
    this.#optionsOf.push({ tls: tls !== 'plain', read })
  }

  /** Paths that are answered and not redirected, unless the server redirects before it looks for a location. */
  #leaveRedirect(block: readonly SiteDirective[]): void {
    this.#redirects = true
    const isAtOnce = (each: SiteDirective) =>
      this.#redirectOf(each) !== undefined && (each.name !== 'if' || isAlways(each, this.#host))
    if (block.some(isAtOnce)) return
    for (const each of passesIn(block)) this.#lose(each, TO_HTTPS, REDIRECTED)
  }

  /** One path with upgrades is enough: without them it would fail, and the others hardly notice. */
  #websocket(): boolean {
    const isUpgrading = this.#upgrading.some(({ websocket }) => websocket)
    for (const { pass, websocket } of this.#upgrading)
      if (websocket !== isUpgrading)
        this.#change(pass, EVERY_UPGRADE, 'upgrade', 'request upgrade', 'request connection')
    return isUpgrading
  }

  /** What an entry does not inherit from the http block, because it has such directives itself. */
  #judgeAround(block: readonly SiteDirective[]): void {
    const inside = [...block, ...block.filter(({ name }) => name === 'location').flatMap((each) => each.block ?? [])]
    for (const each of this.#http)
      if (/^proxy_(hide_header|redirect)$/.test(each.name) && !inside.some(({ name }) => name === each.name))
        this.#other(each, undefined, [])
  }

  /** The options of the site. A block for visitors without TLS beside one with TLS becomes a redirect, which has none. */
  #options(): ExposureOptions | undefined {
    const [decides, ...others] = this.#optionsOf.toSorted((a, b) => Number(b.tls) - Number(a.tls))
    if (!decides) return undefined
    const isOther = ({ read }: typeof decides) =>
      JSON.stringify(read.options) !== JSON.stringify(decides.read.options) && !decides.tls
    for (const other of others.filter(isOther))
      for (const each of other.read.carried) this.#lose(each, 'Another server block of the host has other settings.')
    for (const { carried, changed, unsaid } of [decides, ...others].map(({ read }) => read)) {
      for (const each of carried) this.#carry(each)
      for (const { directive, sentence, told = [] } of changed) this.#change(directive, sentence, ...told)
      for (const each of unsaid) this.#judge(each, verdictOf(each.name))
    }
    const { options } = decides.read
    if (this.#tls || !options?.headers?.hsts) return options
    // No browser heeds it without TLS.
    this.#told.add('answer strict-transport-security')
    const { hsts: _, ...headers } = options.headers
    const { headers: __, ...rest } = options
    const left = { ...rest, ...(Object.keys(headers).length > 0 && { headers }) }
    return Object.keys(left).length > 0 ? left : undefined
  }

  #listens(server: SiteDirective): Served {
    const lines = (server.block ?? []).filter(({ name }) => name === 'listen')
    const places = placesOf(server)
    const { http, https } = this.#world.ports
    const bad = places.some(({ port, lastPort, isTls }) => port !== (isTls ? https : http) || lastPort !== undefined)
    if (bad || (places.length === 0 && http !== 80))
      this.#refuse(lines[0] ?? server, `It listens on other ports than ${http} and ${https}.`)
    if (places.some(({ isDefault }) => isDefault))
      this.#refuse(lines[0] ?? server, 'It is the default server, and answers for names that no other block has.')
    if (places.some(({ isProxied }) => isProxied))
      this.#refuse(lines[0] ?? server, 'Its visitors come through a proxy that speaks the PROXY protocol.')
    this.#tellIpv6(lines)
    this.#tellAddress(lines)
    const isTls = places.some((place) => place.isTls)
    return isTls ? (places.every((place) => place.isTls) ? 'tls' : 'both') : 'plain'
  }

  /** A socket of both families is shared with the site; our servers come to one of IPv6 alone only if the configuration says so. */
  #tellIpv6(lines: readonly SiteDirective[]): void {
    const { listen = [] } = this.#world
    const alone = lines.find(({ args }) => args[0]?.startsWith('[') && !args.includes('ipv6only=off'))
    if (!alone || listen.some((address) => address.includes(':'))) return
    this.#change(alone, 'Drawbridge listens on no IPv6 address: such visitors reach another server.')
  }

  /** Visitors of an address on which our servers do not listen. */
  #tellAddress(lines: readonly SiteDirective[]): void {
    const { listen = [] } = this.#world
    const known = new Set(listen)
    const elsewhere = lines.find(({ args: [place = ''] }) => {
      const [, address = ''] = /^(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(place) ?? []
      return address !== '' && address !== '0.0.0.0' && !known.has('0.0.0.0') && !known.has(address)
    })
    if (elsewhere && known.size > 0) this.#change(elsewhere, OTHER_ADDRESS)
  }

  /** What every host with TLS gets by being exposed. */
  #tellTls(blocks: readonly SiteDirective[]): void {
    const secure = blocks.find((block) => isForTls(placesOf(block)))
    if (!secure) return
    const inside = secure.block ?? []
    const line = inside.find(({ name, args }) => name === 'listen' && args.includes('ssl')) ?? secure
    const speaksHttp2 = inside.some(
      ({ name, args }) => (name === 'listen' && args.includes('http2')) || (name === 'http2' && args[0] === 'on'),
    )
    this.#change(line, speaksHttp2 ? HTTP2_IF : HTTP2_TOO)
    if (!blocks.some((block) => isForPlainText(placesOf(block)))) this.#change(line, PORT_80)
  }

  /** The directives of a server, or of a location with the same backend. */
  #content(chain: Chain, variables: Variables, around: SiteDirective): Answer {
    let answer: Answer = { kind: 'none' }
    const block = chain.at(-1) ?? []
    const redirect = block.find((each) => this.#redirectOf(each) !== undefined)
    for (const each of block) {
      const { name } = each
      if (each.unread !== undefined) continue
      if (name === 'listen' || name === 'server_name' || name === 'ssl' || name === 'set') continue
      if (name === 'ssl_certificate' || name === 'ssl_certificate_key') this.#certificateFile(each)
      else if (name === 'location') {
        const inner = this.#location(each, variables, chain)
        if (inner && answer.kind !== 'redirect') answer = inner
      } else if (name === 'proxy_pass') {
        this.#proxyPass(each, variables, around)
        this.#requestHeaders(each, chain)
        if (answer.kind !== 'redirect') answer = { kind: 'proxy' }
      } else if (name === 'proxy_set_header' || name === 'proxy_http_version') continue
      else if (redirect && (each === redirect || isEndOfRedirect(each))) {
        if (each === redirect) this.#redirect(each, around.name === 'server')
        if (name !== 'if' || isAlways(each, this.#host)) answer = { kind: 'redirect' }
        else this.#redirects = true
      } else this.#other(each, levelOf(around), chain)
    }
    return answer
  }

  /** The answer of the location, if it is the one for `/`. */
  #location(location: SiteDirective, variables: Variables, chain: Chain): Answer | undefined {
    const { args, block = [] } = location
    const isMain = isForAll(location) && chain.length === 2
    const inner = variablesIn(block, variables)
    if (isChallenge(args)) {
      this.#lose(location, 'Challenges for certificates are answered by Drawbridge.')
      return undefined
    }
    if (!isMain && restrictionsOf([...chain, block]) !== this.#restrictions) this.#refuse(location, OTHERS_LET_IN)
    const isSilent = block.every(({ name }) => /^(access_log|log_not_found|allow|expires)$/.test(name)) && !isMain
    if (isSilent && block.every(({ name, args: [who] }) => name !== 'allow' || who === 'all')) {
      this.#lose(location, 'The path is answered by the backend like every other.')
      return undefined
    }
    const hasOwnAnswer = block.some(({ name }) => name === 'proxy_pass' || name === 'return' || name === 'if')
    if (!isMain && !block.some(({ name }) => name === 'proxy_pass')) {
      const reason = block.find(({ name }) => verdictOf(name).kind === 'refused') ?? location
      const verdict = verdictOf(reason.name)
      this.#refuse(
        reason,
        verdict.kind === 'refused' && reason !== location ? verdict.sentence : 'The path has an answer of its own.',
      )
      return undefined
    }
    if (!hasOwnAnswer && !isMain) return undefined
    const path = args.at(-1) ?? ''
    if (!isMain && /^\/[\w./-]*$/.test(path) && !/^~/.test(args[0] ?? '')) this.#paths.add(path)
    const isPrefix = args.length === 1 || args[0] === '^~'
    if (isPrefix && /.\/$/.test(path)) this.#change(location, WITHOUT_SLASH)
    const answer = this.#content([...chain, block], inner, location)
    return isMain ? answer : undefined
  }

  #proxyPass(pass: SiteDirective, variables: Variables, around: SiteDirective): void {
    const written = pass.args[0] ?? ''
    const found = this.#authorityOf(filled(written, variables), around)
    if ('refused' in found) this.#refuse(pass, found.refused)
    // With a variable the path of the address replaces that of the request.
    else if (found.hasPath && written.includes('$')) this.#refuse(pass, OTHER_PATH)
    else {
      if (found.hasPath) this.#change(pass, NORMALISED, 'path')
      if (written.includes('$') || found.isUpstream)
        this.#change(pass, OWN_REDIRECTS, 'answer location', 'answer refresh')
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
    if (isHttps) this.#securePass ??= pass
    const [, named = '', port = isHttps ? '443' : '80'] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(authority) ?? []
    const address = named === 'localhost' ? '127.0.0.1' : parseAddress(named.replace(/^\[(.*)\]$/, '$1'))
    const server = address === undefined ? undefined : this.#world.serverAt(address)
    if (server === undefined) {
      this.#refuse(pass, 'Its backend is not on a server that hosts may be exposed on.')
      return
    }
    this.#backends.set(`${server} ${port}`, { server, port: Number(port) })
    this.#carried.push(finding(pass, `Its backend is server ${server}, port ${port}.`))
    if (address?.startsWith('127.') || address === '::1')
      this.#change(pass, `The backend is asked by the address of server ${server} and not by the loopback.`)
  }

  /** The headers in effect for a location: the innermost block that sets one has none of those around it. */
  #requestHeaders(pass: SiteDirective, chain: Chain): void {
    const scheme = this.#served === 'plain' ? 'http' : 'https'
    const { findings, websocket } = judgeRequestHeaders({
      ...{ pass, host: this.#host, scheme },
      headers: innermost(chain, 'proxy_set_header'),
      version: innermost(chain, 'proxy_http_version').at(-1)?.args[0] ?? '1.0',
      isUsualPort: this.#world.ports[scheme] === (scheme === 'http' ? 80 : 443),
    })
    this.#upgrading.push({ pass, websocket })
    const tell = { carried: this.#carry, changed: this.#change, lost: this.#lose, refused: this.#refuse }
    for (const { kind, directive, sentence, told } of findings) tell[kind](directive, sentence, ...told)
  }

  #certificateFile({ name, args: [file = ''] }: SiteDirective): void {
    const field = name === 'ssl_certificate' ? 'certificateFile' : 'keyFile'
    this.#certificate[field] ??= file
  }

  #redirectOf(directive: SiteDirective) {
    return redirectOf(directive, this.#host, this.#world.ports.https)
  }

  /** `isAtOnce`: the server redirects before it looks for a location, and so before it looks at the size of a body. */
  #redirect(directive: SiteDirective, isAtOnce: boolean): void {
    if (isAtOnce) this.#change(directive, LARGE_BODIES, 'http upload')
    const redirect = this.#redirectOf(directive)
    if (redirect?.hasOtherStatus)
      this.#change(directive, 'HTTP is redirected to HTTPS with status 308.', 'redirect status')
    if (redirect?.hasOtherTarget) this.#change(directive, TARGET_AS_SENT, 'redirect target')
  }

  #other(directive: SiteDirective, level: Level | undefined, chain: Chain): void {
    const { name, args } = directive
    if (level && this.#block.take(directive, level)) return
    const value = args[0]?.toLowerCase() ?? ''
    if (name === 'proxy_redirect' && value === 'off')
      this.#change(directive, OWN_REDIRECTS, 'answer location', 'answer refresh')
    // Restricts nobody where nobody is restricted around it.
    else if (name === 'allow' && value === 'all' && !chain.flat().some((each) => each.name === 'deny'))
      this.#carry(directive)
    else this.#judge(directive, this.#isSameValue(name, value) ? { kind: 'same' } : verdictOf(name))
  }

  /** An entry does not say it, and has what the http block says. */
  #isSameValue(name: string, value: string): boolean {
    const same = SAME_VALUES[name] ?? []
    const around = this.#http.filter((each) => each.name === name).map(({ args }) => args[0]?.toLowerCase() ?? '')
    return [value, ...around].every((one) => same.includes(one))
  }

  #judge(directive: SiteDirective, verdict: ReturnType<typeof verdictOf>): void {
    const told = toldBy(directive.name, directive.args) ?? (verdict.kind === 'same' ? [] : (verdict.told ?? []))
    if (verdict.kind === 'lost') this.#lose(directive, verdict.sentence, ...told)
    if (verdict.kind === 'changed') this.#change(directive, verdict.sentence, ...told)
    if (verdict.kind === 'refused') this.#refuse(directive, verdict.sentence)
    if (verdict.kind === 'same') this.#carry(directive)
  }

  #carry = (directive: SiteDirective) => void this.#carried.push(finding(directive, 'An exposure does the same.'))
  #change = (directive: SiteDirective, sentence: string, ...told: string[]) =>
    this.#tell(this.#changed, directive, sentence, told)
  #lose = (directive: SiteDirective, sentence: string, ...told: string[]) =>
    this.#tell(this.#lost, directive, sentence, told)
  #refuse = (directive: SiteDirective, sentence: string) => this.#tell(this.#refused, directive, sentence, [])

  /** Each once: a directive of the server is in effect in every location. */
  #tell(findings: SiteFinding[], directive: SiteDirective, sentence: string, told: readonly string[]): void {
    for (const one of told) this.#told.add(one)
    const found = finding(directive, sentence)
    const isSame = (each: SiteFinding) => JSON.stringify(each) === JSON.stringify(found)
    if (!findings.some(isSame)) findings.push(found)
  }
}

/** Undefined for a location for some of the paths: options are for all of them. */
const levelOf = (around: SiteDirective): Level | undefined =>
  around.name === 'server' ? 'server' : isForAll(around) ? 'location' : undefined

const isForAll = ({ args }: SiteDirective): boolean => args.at(-1) === '/' && (args.length === 1 || args[0] === '^~')

const UNCHECKED = 'Its backend is asked by HTTPS, and no authority of the configuration checks it.'
const STATIC_ROOT = 'It does not pass every request on to a backend.'
const OTHER_PATH = 'The backend is asked for another path than the visitor asks for.'
const NORMALISED =
  'The backend gets paths as visitors send them: not decoded, and with every slash and dot in its place.'
const OWN_REDIRECTS = 'Redirects of the backend to its own address lead to the host.'
const TARGET_AS_SENT = 'HTTP is redirected to the path as the visitor sends it, at the name of the host.'
const OTHER_ADDRESS = 'Drawbridge does not listen on this address: such visitors reach another server.'
const LARGE_BODIES = 'HTTP with a body over the limit of the http block is refused, and not redirected.'
const FIRST = 'It is the first block of its socket, and answers for names that no other block has. Another one will.'
const WITHOUT_SLASH = 'The path without its last slash is passed on to the backend, and not redirected.'
const TO_HTTPS = 'HTTP is redirected to HTTPS.'
const OTHERS_LET_IN = 'Other visitors are let in at this path than at the rest of the host.'
const RESTRICTED_ADDRESS =
  'It listens on addresses of its own, and Drawbridge on others: visitors who cannot reach it would.'
const OWN_ADDRESSES = 'It listens on addresses of its own. Drawbridge answers on those of its configuration.'
const OTHER_FAMILY = 'It is answered on the addresses of Drawbridge for IPv4 and IPv6, and not for one of them only.'
const INVALID_OPTIONS = 'Its settings together are no valid options of an exposure.'
const REDIRECT_ANSWERED = 'The redirect is answered by Drawbridge.'
const EVERY_UPGRADE = 'Upgrades to WebSocket are passed on at this path, too.'
const HTTP2_IF = 'HTTP/2 is offered if Drawbridge has the socket alone, or if another site there offers it.'
const HTTP2_TOO = 'HTTP/2 is offered as well.'
const PORT_80 = 'HTTP is answered, too: it is redirected to HTTPS.'

/** What a redirect in place of an answer changes. */
const REDIRECTED = 'http *'

/** Values that an exposure has, too. */
const SAME_VALUES: Readonly<Record<string, readonly string[]>> = {
  proxy_connect_timeout: ['5s', '5'],
  proxy_send_timeout: ['60s', '60', '1m'],
  proxy_read_timeout: ['300s', '300', '5m'],
  proxy_buffering: ['on'],
  proxy_request_buffering: ['on'],
  proxy_redirect: ['default'],
  proxy_pass_request_headers: ['on'],
  proxy_pass_request_body: ['on'],
  ssl_verify_client: ['off'],
}

/** Only the name of a directive that nginx or a module of it has: anything else could be text of somebody. */
const finding = ({ name, path, line }: SiteDirective, sentence: string): SiteFinding => ({
  directive: /^[a-z0-9_]{1,60}$/.test(name) ? name : 'directive',
  file: path,
  line,
  sentence,
})

/** In the order of the lines. Files stay in the order of nginx. */
const inOrder = (findings: readonly SiteFinding[]): SiteFinding[] =>
  [...Map.groupBy(findings, ({ file }) => file).values()].flatMap((some) => some.toSorted((a, b) => a.line - b.line))

const notRead = (reason: string): string => `It includes a file that was not read: ${reason}.`

const AROUND_PROGRAM = 'A program in the http block decides about every request.'

/** Those that are run for requests. */
const isProgram = (name: string): boolean => /_by_lua/.test(name) && !/^(init|exit|ssl)_/.test(name)

const unreadIn = (block: readonly SiteDirective[]): SiteDirective[] =>
  block.flatMap((each) => (each.unread === undefined ? unreadIn(each.block ?? []) : [each]))

/** Where a server block listens. */
export function placesOf({ block = [] }: SiteDirective): Places {
  const lines = block.filter(({ name }) => name === 'listen')
  const isOn = block.some(({ name, args }) => name === 'ssl' && args[0] === 'on')
  return parseListens(
    lines.map(({ args }) => args),
    isOn,
  )
}

type Places = ReturnType<typeof parseListens>

const isForTls = (places: Places): boolean => places.some(({ isTls }) => isTls)
const isForPlainText = (places: Places): boolean => places.length === 0 || places.some(({ isTls }) => !isTls)

/** What a server block says, without the sockets that it says it on. */
const answerOf = ({ block = [] }: SiteDirective): string =>
  JSON.stringify(block.filter(({ name }) => name !== 'listen').map(wordsOf))

const wordsOf = ({ name, args, block }: SiteDirective): unknown => [name, args, block?.map(wordsOf)]

type Variables = ReadonlyMap<string, string>

/** With what `set` gives them, in order. */
function variablesIn(block: readonly SiteDirective[], around: Variables): Variables {
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

/** Every `proxy_pass` but those for challenges. */
const passesIn = (block: readonly SiteDirective[]): SiteDirective[] =>
  block.flatMap((each) => {
    if (each.name === 'location' && isChallenge(each.args)) return []
    return each.name === 'proxy_pass' ? [each] : passesIn(each.block ?? [])
  })

export const isChallenge = (args: readonly string[]): boolean =>
  (args.at(-1) ?? '').startsWith('/.well-known/acme-challenge')

/** certbot's `return 404` behind its redirect is never reached. */
const isEndOfRedirect = ({ name, args }: SiteDirective): boolean => name === 'return' && args[0] === '404'
