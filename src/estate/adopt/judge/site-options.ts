import { type ExposureOptions, HEADER_NAMES, HEADER_WORDS } from '../../../model/options/grammar.ts'
import { readOptions } from '../../../model/options/read-options.ts'
import { type NamedFiles, NONE_NAMED } from '../../settings.ts'
import type { SiteDirective } from '../site-text.ts'
import { secondsIn, sizeIn } from './option-values.ts'

/** Where a directive stands: in the http block, in the server block, or in the location for every path. */
export type Level = 'http' | 'server' | 'location'

const INNERMOST_FIRST: readonly Level[] = ['location', 'server', 'http']

/** An entry does not set these directives, so it inherits those of the http block, as the site does. */
const INHERITED = new Set([
  'access',
  'auth_basic',
  'auth_basic_user_file',
  'proxy_buffering',
  'proxy_request_buffering',
])

/** The result for the directives that options can replace. */
export interface ReadSiteOptions {
  readonly options: ExposureOptions | undefined
  /** An option has the same effect, or the directive had no effect. */
  readonly carried: readonly SiteDirective[]
  readonly changed: readonly ChangedOption[]
  /** Directives that no option can replace. */
  readonly unsaid: readonly SiteDirective[]
  /** Each directive can be replaced by an option, but the options together are invalid. */
  readonly isInvalid: boolean
}

/** `told`: the differences that the sentence announces, in the rehearsal's names. */
interface ChangedOption {
  readonly directive: SiteDirective
  readonly sentence: string
  readonly told?: readonly string[]
}

/** Directive names that take effect as a group: a location with one of them inherits none of the group. */
const GROUPS: Readonly<Record<string, string>> = { allow: 'access', deny: 'access' }
const TAKEN =
  /^(client_max_body_size|proxy_(connect|read|send)_timeout|proxy_(request_)?buffering|add_header|allow|deny|auth_basic(_user_file)?|proxy_ssl_\w+)$/

const NO_REQUEST_BUFFER = 'Neither requests nor answers are buffered.'
const ALSO_ERRORS = 'The header is sent with errors, too.'
const REPLACED = 'The header is sent in place of one of the backend, and not beside it.'
const REALM = 'The password is asked for with the realm of Drawbridge, and the backend does not get it.'

/** nginx's defaults where an exposure has other defaults. */
const DEFAULTS = { maxBody: '1m', connect: 60, read: 60 } as const

/** Collects the directives of one server block, and finds the options of an exposure with the same effect. */
export class SiteOptions {
  readonly #named: NamedFiles
  readonly #isHttps: () => boolean
  readonly #host: string
  readonly #taken: { readonly directive: SiteDirective; readonly level: Level }[] = []
  readonly #carried: SiteDirective[] = []
  readonly #changed: ChangedOption[] = []
  readonly #unsaid: SiteDirective[] = []

  /** `isHttps`: whether requests to the backend use HTTPS. It is called at the end. */
  constructor(host: string, named: NamedFiles = NONE_NAMED, isHttps: () => boolean = () => false) {
    this.#host = host
    this.#named = named
    this.#isHttps = isHttps
  }

  /** False if no option covers such a directive. */
  take(directive: SiteDirective, level: Level): boolean {
    if (!TAKEN.test(directive.name)) return false
    this.#taken.push({ directive, level })
    return true
  }

  get directives(): readonly SiteDirective[] {
    return this.#taken.map(({ directive }) => directive)
  }

  /** `websocket`: whether the site forwards upgrades. */
  read(websocket: boolean): ReadSiteOptions {
    const groups = Map.groupBy(this.#taken, ({ directive: { name } }) => GROUPS[name] ?? name)
    const inEffect = (group: string): readonly SiteDirective[] => this.#inEffect(groups.get(group) ?? [], group)
    const given = {
      maxBody: this.#one(inEffect('client_max_body_size'), (text) => sizeIn(text), DEFAULTS.maxBody),
      timeouts: present({
        connect: this.#one(inEffect('proxy_connect_timeout'), (text) => secondsIn(text, 'connect'), DEFAULTS.connect),
        read: this.#one(inEffect('proxy_read_timeout'), (text) => secondsIn(text, 'read'), DEFAULTS.read),
        send: this.#one(inEffect('proxy_send_timeout'), (text) => secondsIn(text, 'send')),
      }),
      websocket: websocket ? undefined : false,
      buffering: this.#buffering(inEffect('proxy_buffering'), inEffect('proxy_request_buffering')),
      headers: this.#headers(inEffect('add_header')),
      allow: this.#access(inEffect('access')),
      basicAuth: this.#password(inEffect('auth_basic'), inEffect('auth_basic_user_file')),
      backendTls: this.#backendTls(
        [...groups.keys()].filter((name) => name.startsWith('proxy_ssl_')).flatMap(inEffect),
      ),
    }
    const realms = groups.get('auth_basic') ?? []
    // The site has a password file for the realm of the http block: an entry would use the password file of the http block.
    if (realms.length > 0 && realms.every(({ level, directive }) => level === 'http' && directive.args[0] !== 'off'))
      for (const { level, directive } of groups.get('auth_basic_user_file') ?? [])
        if (level !== 'http') this.#unsaid.push(directive)
    const read = readOptions(present(given) ?? {})
    const options = 'options' in read ? read.options : undefined
    const isInvalid = read.errors !== undefined
    return { options, carried: this.#carried, changed: this.#changed, unsaid: this.#unsaid, isInvalid }
  }

  /**
   * The innermost directives of a group: only they take effect. An entry inherits those of the http block, too. A site that lifts a
   * restriction of the http block has no counterpart: the restriction would apply to an entry.
   */
  #inEffect(all: readonly { readonly directive: SiteDirective; readonly level: Level }[], group: string) {
    const at = (level: Level) => all.filter((one) => one.level === level).map(({ directive }) => directive)
    const level = INNERMOST_FIRST.find((one) => at(one).length > 0) ?? 'server'
    const chosen = at(level)
    const around = level === 'http' ? [] : at('http')
    this.#carried.push(...(level === 'location' ? at('server') : []))
    if (!INHERITED.has(group)) return chosen
    if (level === 'http') return []
    if (around.length > 0 && isTakenBack(around, chosen)) this.#unsaid.push(...chosen)
    return chosen
  }

  /** The value of a directive that occurs once. `same`: an exposure has this value anyway. */
  #one<T>(
    directives: readonly SiteDirective[],
    read: (text: string) => T | 'same' | undefined,
    byDefault?: T,
  ): T | undefined {
    const [directive] = directives
    if (!directive) return byDefault
    const value = read(directive.args[0]?.toLowerCase() ?? '')
    if (value === undefined) this.#unsaid.push(directive)
    else this.#carried.push(directive)
    return value === 'same' ? undefined : value
  }

  #buffering(answers: readonly SiteDirective[], requests: readonly SiteDirective[]): false | undefined {
    const all = [...answers, ...requests]
    this.#carried.push(...all)
    const off = all.filter(({ args }) => args[0]?.toLowerCase() === 'off')
    const [first] = off
    if (!first) return undefined
    if (off.length < 2)
      this.#changed.push({
        ...{ directive: first, sentence: NO_REQUEST_BUFFER },
        told: ['request content-length', 'request transfer-encoding'],
      })
    return false
  }

  #headers(directives: readonly SiteDirective[]) {
    const found: Record<string, unknown> = {}
    for (const directive of directives) {
      const [name = '', value = '', always] = directive.args
      const header = headerOf(name, value)
      if (header && !Object.hasOwn(found, header.option)) {
        found[header.option] = header.value
        this.#carried.push(directive)
        const told = [`answer ${name.toLowerCase()}`]
        this.#changed.push({ directive, sentence: REPLACED, told })
        if (always !== 'always') this.#changed.push({ directive, sentence: ALSO_ERRORS, told })
      } else this.#unsaid.push(directive)
    }
    return present(found)
  }

  /** Accepts only `allow all`, or a list of admitted networks that ends with `deny all`. */
  #access(directives: readonly SiteDirective[]): readonly string[] | undefined {
    const words = directives.map(({ name, args }) => `${name} ${args[0]?.toLowerCase()}`)
    if (words.length === 0) return undefined
    if (words.every((word) => word === 'allow all')) {
      this.#carried.push(...directives)
      return undefined
    }
    const networks = directives.slice(0, -1).map(({ args }) => args[0] ?? '')
    const isList =
      words.at(-1) === 'deny all' &&
      networks.length > 0 &&
      words.slice(0, -1).every((word) => word.startsWith('allow '))
    const read = isList ? readOptions({ allow: networks }) : undefined
    if (!read || read.errors) {
      this.#unsaid.push(...directives)
      return undefined
    }
    this.#carried.push(...directives)
    return networks
  }

  #password([realm]: readonly SiteDirective[], [file]: readonly SiteDirective[]): string | undefined {
    const all = [realm, file].filter((one) => one !== undefined)
    if (!realm || realm.args[0]?.toLowerCase() === 'off') {
      this.#carried.push(...all)
      return undefined
    }
    const isOfRequest = realm.args.some((arg) => arg.includes('$'))
    const id = file && !isOfRequest ? idOf(this.#named.passwords, file.args[0]) : undefined
    if (id === undefined) {
      this.#unsaid.push(...all)
      return undefined
    }
    this.#carried.push(...all)
    this.#changed.push({
      directive: realm,
      sentence: REALM,
      told: ['answer www-authenticate', 'request authorization'],
    })
    return id
  }

  /** A backend with HTTPS whose certificate is not verified has no counterpart: an exposure always verifies it. */
  #backendTls(directives: readonly SiteDirective[]) {
    if (!this.#isHttps()) {
      this.#carried.push(...directives)
      return undefined
    }
    const settingOf = (name: string) => directives.find((one) => one.name === `proxy_ssl_${name}`)?.args[0]
    const authority = idOf(this.#named.authorities, settingOf('trusted_certificate'))
    const name = settingOf('name')?.toLowerCase()
    const known =
      /^proxy_ssl_(verify|verify_depth|trusted_certificate|name|server_name|session_reuse|protocols|ciphers)$/
    const unknown = directives.filter((one) => !known.test(one.name))
    if (settingOf('verify') !== 'on' || authority === undefined || name === undefined || unknown.length > 0) {
      this.#unsaid.push(...directives)
      return undefined
    }
    this.#carried.push(...directives)
    const isHost = ['$host', '$server_name', '$http_host', this.#host].includes(name)
    return { authority, ...(!isHost && { name }) }
  }
}

/** Whether a site lifts a directive of the http block in a way that no option can. */
function isTakenBack([outer]: readonly SiteDirective[], chosen: readonly SiteDirective[]): boolean {
  const values = chosen.map(({ name, args }) => `${name} ${args[0]?.toLowerCase()}`)
  if (outer?.name === 'auth_basic') return outer.args[0] !== 'off' && values[0] === 'auth_basic off'
  if (outer?.name === 'auth_basic_user_file') return false
  if (outer?.name.endsWith('buffering')) return outer.args[0] === 'off' && values[0]?.endsWith(' on') === true
  return values.every((value) => value === 'allow all')
}

/** Undefined if no member is left. */
function present<T extends object>(members: T): T | undefined {
  const left = Object.entries(members).filter(([, member]) => member !== undefined)
  return left.length === 0 ? undefined : (Object.fromEntries(left) as T)
}

const idOf = (files: Readonly<Record<string, string>>, file: string | undefined): string | undefined =>
  Object.keys(files).find((id) => files[id] === file)

/** The option that adds a header with this value. */
function headerOf(name: string, value: string): { readonly option: string; readonly value: unknown } | undefined {
  if (name.toLowerCase() === 'strict-transport-security') {
    const [first = '', ...flags] = value.split(';').map((part) => part.trim().toLowerCase())
    const seconds = /^max-age="?(\d{1,8})"?$/.exec(first)?.[1]
    const isKnown = flags.every((flag) => ['includesubdomains', 'preload', ''].includes(flag))
    if (seconds === undefined || !isKnown) return undefined
    const hsts = {
      maxAge: Number(seconds),
      ...(flags.includes('includesubdomains') && { includeSubDomains: true }),
      ...(flags.includes('preload') && { preload: true }),
    }
    return readOptions({ headers: { hsts } }).errors ? undefined : { option: 'hsts', value: hsts }
  }
  const option = HEADER_NAMES.find((one) => HEADER_WORDS[one].header.toLowerCase() === name.toLowerCase())
  const words: readonly string[] = option === undefined ? [] : HEADER_WORDS[option].words
  const word = words.find((one) => one.toLowerCase() === value.toLowerCase())
  return option === undefined || word === undefined ? undefined : { option, value: word }
}
