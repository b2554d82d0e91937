import type { Adoption } from '../../../model/options/adoption.ts'
import type { SiteDirective } from '../site-text.ts'
import { type BlockOptions, chosenOptions } from './chosen-options.ts'
import { verdictOf } from './directive-table.ts'
import { isAlways, isForPlain, redirectOf } from './redirects.ts'
import { judgeRequestHeaders } from './request-headers.ts'
import { type Chain, innermost, restrictionsOf } from './restrictions.ts'
import { SiteBackends, type Variables, variablesIn } from './site-backends.ts'
import {
  answerOf,
  isChallenge,
  isEndOfRedirect,
  isForAll,
  isProgram,
  namesOf,
  passesIn,
  unreadIn,
} from './site-blocks.ts'
import { SiteDirectives } from './site-directives.ts'
import { SiteFindings } from './site-findings.ts'
import { isForPlainText, isForTls, placesOf, type Served, SiteListens } from './site-listens.ts'
import { type Level, SiteOptions } from './site-options.ts'
import type { SiteWorld } from './site-world.ts'

/** What an exposure can express of a site, and the differences that its findings announce, in the rehearsal's names. */
export interface JudgedSite {
  readonly adoption: Adoption
  readonly told: ReadonlySet<string>
  /** The paths of further locations that the backend answers. */
  readonly paths: readonly string[]
}

/** What an exposure can express of the server blocks of a host. Reads nothing except its arguments. */
export function judgeSite(host: string, blocks: readonly SiteDirective[], world: SiteWorld): JudgedSite {
  const judge = new SiteJudge(host, world)
  judge.name(blocks)
  judge.around(world.http ?? [])
  for (const block of blocks) judge.server(block)
  judge.compare(blocks)
  return judge.result(blocks)
}

/** The answer of one server block. */
type Answer = { readonly kind: 'proxy' | 'redirect' | 'none' }

class SiteJudge {
  readonly #host: string
  readonly #world: SiteWorld
  readonly #http: readonly SiteDirective[]
  readonly #findings = new SiteFindings()
  readonly #listens: SiteListens
  readonly #backends: SiteBackends
  readonly #directives: SiteDirectives
  readonly #paths = new Set<string>()
  #tls = false
  #certificate: Partial<Record<'certificateFile' | 'keyFile', string>> = {}
  #redirects = false
  #plainProxy: SiteDirective | undefined
  #block: SiteOptions
  #served: Served = 'plain'
  /** The access rules for paths that have no location of their own. */
  #restrictions = ''
  /** Where the block sends requests, and whether it forwards upgrades there. */
  #upgrading: { readonly pass: SiteDirective; readonly websocket: boolean }[] = []
  readonly #optionsOf: BlockOptions[] = []

  constructor(host: string, world: SiteWorld) {
    this.#host = host
    this.#world = world
    this.#http = world.http ?? []
    this.#listens = new SiteListens(world, this.#findings)
    this.#backends = new SiteBackends(world, this.#findings)
    this.#directives = new SiteDirectives(this.#http, this.#findings)
    this.#block = new SiteOptions(host)
  }

  result(blocks: readonly SiteDirective[]): JudgedSite {
    this.#listens.addresses(blocks, this.#tls)
    const [backend, ...others] = this.#backends.found
    const [first] = blocks
    if (first && others.length > 0) this.#findings.refuse(first, 'Its paths are answered by several backends.')
    if (first && !backend && !this.#findings.isRefused) this.#findings.refuse(first, 'It has no backend.')
    if (first && this.#redirects && !this.#tls)
      this.#findings.refuse(first, 'It redirects to HTTPS, which this nginx does not serve for it.')
    if (this.#plainProxy && this.#tls) this.#findings.lose(this.#plainProxy, TO_HTTPS, REDIRECTED)
    if (this.#tls) this.#listens.tellTls(blocks)
    const [findings, directives] = [this.#findings, this.#directives]
    const options = chosenOptions(this.#optionsOf, { findings, directives, tls: this.#tls })
    if (this.#backends.secure && !options?.backendTls) this.#findings.refuse(this.#backends.secure, UNCHECKED)
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
      ...this.#findings.lists(),
    }
    return { adoption, told: this.#findings.told, paths: [...this.#paths] }
  }

  name([first]: readonly SiteDirective[]): void {
    if (first && this.#host.includes('_'))
      this.#findings.refuse(first, 'Its name has an underscore, which no host of Drawbridge may have.')
  }

  /** Reads the http block. Anything unknown there is unknown for its servers. */
  around(http: readonly SiteDirective[]): void {
    for (const each of unreadIn(http)) this.#findings.refuse(each, notRead(each.unread ?? ''))
    for (const each of http) if (isProgram(each.name)) this.#findings.refuse(each, AROUND_PROGRAM)
  }

  /** Two blocks for the same visitors, such as on two addresses, must have the same content: an exposure has only one answer. */
  compare(blocks: readonly SiteDirective[]): void {
    for (const isFor of [isForTls, isForPlainText]) {
      const [first, ...others] = blocks.filter((block) => isFor(placesOf(block)))
      const other = others.find((block) => first && answerOf(block) !== answerOf(first))
      if (other) this.#findings.refuse(other, 'Another server block of the host answers the same visitors otherwise.')
    }
  }

  server(server: SiteDirective): void {
    const { block = [] } = server
    for (const each of unreadIn(block)) this.#findings.refuse(each, notRead(each.unread ?? ''))
    const others = namesOf(server).filter((name) => name !== this.#host)
    if (others.length > 0) this.#findings.refuse(server, 'The same block serves other names as well.')
    this.#served = this.#listens.listens(server)
    const tls = this.#served
    const isRedirected = block.some((each) => each.name === 'if' && isForPlain(each) && this.#redirectOf(each))
    this.#block = new SiteOptions(this.#host, this.#world.named, () => this.#backends.secure !== undefined)
    this.#upgrading = []
    const main = block.find((each) => each.name === 'location' && isForAll(each))
    this.#restrictions = restrictionsOf([this.#http, block, main?.block ?? []])
    const answer = this.#content([this.#http, block], variablesIn(block, new Map()), server)
    if (answer.kind === 'redirect') this.#leaveRedirect(block)
    if (answer.kind === 'none') this.#findings.refuse(server, STATIC_ROOT)
    if (answer.kind === 'proxy' && tls !== 'tls' && !isRedirected) this.#plainProxy = server
    if (answer.kind === 'proxy' && tls !== 'plain') this.#tls = true
    if (answer.kind !== 'proxy') {
      for (const each of this.#block.directives) this.#findings.lose(each, REDIRECT_ANSWERED, 'http answer *')
      return
    }
    for (const each of this.#http) this.#block.take(each, 'http')
    this.#judgeAround(block)
    const read = this.#block.read(this.#websocket())
    if (read.isInvalid) this.#findings.refuse(server, INVALID_OPTIONS)
    this.#optionsOf.push({ tls: tls !== 'plain', read })
  }

  /** Finds paths that are answered instead of redirected. There are none if the server redirects before it chooses a location. */
  #leaveRedirect(block: readonly SiteDirective[]): void {
    this.#redirects = true
    const isAtOnce = (each: SiteDirective) =>
      this.#redirectOf(each) !== undefined && (each.name !== 'if' || isAlways(each, this.#host))
    if (block.some(isAtOnce)) return
    for (const each of passesIn(block)) this.#findings.lose(each, TO_HTTPS, REDIRECTED)
  }

  /** One path with upgrades is enough: it would fail without them, and they hardly affect the other paths. */
  #websocket(): boolean {
    const isUpgrading = this.#upgrading.some(({ websocket }) => websocket)
    for (const { pass, websocket } of this.#upgrading)
      if (websocket !== isUpgrading)
        this.#findings.change(pass, EVERY_UPGRADE, 'upgrade', 'request upgrade', 'request connection')
    return isUpgrading
  }

  /** Judges what an entry does not inherit from the http block because the entry has such directives itself. */
  #judgeAround(block: readonly SiteDirective[]): void {
    const inside = [...block, ...block.filter(({ name }) => name === 'location').flatMap((each) => each.block ?? [])]
    for (const each of this.#http)
      if (/^proxy_(hide_header|redirect)$/.test(each.name) && !inside.some(({ name }) => name === each.name))
        this.#directives.judge(each, [])
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
        this.#backends.pass(each, variables, around)
        this.#requestHeaders(each, chain)
        if (answer.kind !== 'redirect') answer = { kind: 'proxy' }
      } else if (name === 'proxy_set_header' || name === 'proxy_http_version') continue
      else if (redirect && (each === redirect || isEndOfRedirect(each))) {
        if (each === redirect) this.#redirect(each, around.name === 'server')
        if (name !== 'if' || isAlways(each, this.#host)) answer = { kind: 'redirect' }
        else this.#redirects = true
      } else if (!this.#takes(each, around)) this.#directives.judge(each, chain)
    }
    return answer
  }

  /** Whether an option of the block covers the directive. Options apply to all paths. */
  #takes(directive: SiteDirective, around: SiteDirective): boolean {
    const level = levelOf(around)
    return level !== undefined && this.#block.take(directive, level)
  }

  /** The answer of the location, if it is the one for `/`. */
  #location(location: SiteDirective, variables: Variables, chain: Chain): Answer | undefined {
    const { args, block = [] } = location
    const isMain = isForAll(location) && chain.length === 2
    const inner = variablesIn(block, variables)
    if (isChallenge(args)) {
      this.#findings.lose(location, 'Challenges for certificates are answered by Drawbridge.')
      return undefined
    }
    if (!isMain && restrictionsOf([...chain, block]) !== this.#restrictions)
      this.#findings.refuse(location, OTHERS_LET_IN)
    const isSilent = block.every(({ name }) => /^(access_log|log_not_found|allow|expires)$/.test(name)) && !isMain
    if (isSilent && block.every(({ name, args: [who] }) => name !== 'allow' || who === 'all')) {
      this.#findings.lose(location, 'The path is answered by the backend like every other.')
      return undefined
    }
    const hasOwnAnswer = block.some(({ name }) => name === 'proxy_pass' || name === 'return' || name === 'if')
    if (!isMain && !block.some(({ name }) => name === 'proxy_pass')) {
      const reason = block.find(({ name }) => verdictOf(name).kind === 'refused') ?? location
      const verdict = verdictOf(reason.name)
      this.#findings.refuse(
        reason,
        verdict.kind === 'refused' && reason !== location ? verdict.sentence : 'The path has an answer of its own.',
      )
      return undefined
    }
    if (!hasOwnAnswer && !isMain) return undefined
    const path = args.at(-1) ?? ''
    if (!isMain && /^\/[\w./-]*$/.test(path) && !/^~/.test(args[0] ?? '')) this.#paths.add(path)
    const isPrefix = args.length === 1 || args[0] === '^~'
    if (isPrefix && /.\/$/.test(path)) this.#findings.change(location, WITHOUT_SLASH)
    const answer = this.#content([...chain, block], inner, location)
    return isMain ? answer : undefined
  }

  /** The headers in effect for a location. A block that sets a header inherits none from the blocks around it. */
  #requestHeaders(pass: SiteDirective, chain: Chain): void {
    const scheme = this.#served === 'plain' ? 'http' : 'https'
    const { findings, websocket } = judgeRequestHeaders({
      ...{ pass, host: this.#host, scheme },
      headers: innermost(chain, 'proxy_set_header'),
      version: innermost(chain, 'proxy_http_version').at(-1)?.args[0] ?? '1.0',
      port: this.#world.ports[scheme],
    })
    this.#upgrading.push({ pass, websocket })
    const { carry, change, lose, refuse } = this.#findings
    const tell = { carried: carry, changed: change, lost: lose, refused: refuse }
    for (const { kind, directive, sentence, told } of findings) tell[kind](directive, sentence, ...told)
  }

  #certificateFile({ name, args: [file = ''] }: SiteDirective): void {
    const field = name === 'ssl_certificate' ? 'certificateFile' : 'keyFile'
    this.#certificate[field] ??= file
  }

  #redirectOf(directive: SiteDirective) {
    return redirectOf(directive, this.#host, this.#world.ports.https)
  }

  /** `isAtOnce`: the server redirects before it chooses a location, and therefore before it checks the size of a body. */
  #redirect(directive: SiteDirective, isAtOnce: boolean): void {
    if (isAtOnce) this.#findings.change(directive, LARGE_BODIES, 'http upload')
    const redirect = this.#redirectOf(directive)
    if (redirect?.hasOtherStatus)
      this.#findings.change(directive, 'HTTP is redirected to HTTPS with status 308.', 'redirect status')
    if (redirect?.hasOtherTarget) this.#findings.change(directive, TARGET_AS_SENT, 'redirect target')
  }
}

/** Undefined for a location that covers only some paths: options apply to all paths. */
const levelOf = (around: SiteDirective): Level | undefined =>
  around.name === 'server' ? 'server' : isForAll(around) ? 'location' : undefined

const UNCHECKED = 'Its backend is asked by HTTPS, and no authority of the configuration checks it.'
const STATIC_ROOT = 'It does not pass every request on to a backend.'
const TARGET_AS_SENT = 'HTTP is redirected to the path as the visitor sends it, at the name of the host.'
const LARGE_BODIES = 'HTTP with a body over the limit of the http block is refused, and not redirected.'
const WITHOUT_SLASH = 'The path without its last slash is passed on to the backend, and not redirected.'
const TO_HTTPS = 'HTTP is redirected to HTTPS.'
const OTHERS_LET_IN = 'Other visitors are let in at this path than at the rest of the host.'
const INVALID_OPTIONS = 'Its settings together are no valid options of an exposure.'
const REDIRECT_ANSWERED = 'The redirect is answered by Drawbridge.'
const EVERY_UPGRADE = 'Upgrades to WebSocket are passed on at this path, too.'

/** What a redirect in place of an answer changes. */
const REDIRECTED = 'http *'
const notRead = (reason: string): string => `It includes a file that was not read: ${reason}.`
const AROUND_PROGRAM = 'A program in the http block decides about every request.'
