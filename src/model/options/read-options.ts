import { parseCidr } from '../address.ts'
import { parseName } from '../dns-name.ts'
import type { FieldError } from '../errors.ts'
import {
  type Backend,
  type BackendTls,
  EMPTY_LIST,
  type ExposureOptions,
  HEADER_NAMES,
  HEADER_WORDS,
  LONGEST_HSTS,
  MAX_BODY_GRAMMAR,
  type Maintenance,
  MOST_BACKENDS,
  MOST_NETWORKS,
  MOST_SNIPPETS,
  OPTION_ID_GRAMMAR,
  RETRY_AFTER,
  type ResponseHeaders,
  type StrictTransport,
  TIMEOUT_BOUNDS,
  type Timeouts,
} from './grammar.ts'

/** What is wrong with the options, one entry for each bad field. */
class BadOptions extends Error {
  readonly errors: readonly FieldError[]

  constructor(errors: readonly FieldError[]) {
    super(errors.map(({ field, message }) => `${field} ${message}`).join('; '))
    this.errors = errors
  }
}

export type ReadOptions =
  | { readonly options: ExposureOptions | undefined; readonly errors?: undefined }
  | { readonly errors: readonly FieldError[] }

/**
 * Reads options from JSON or YAML: the one gate of every interface, of stored plans and of an edge's agent. What has its default is left
 * out, members have one order, and networks one spelling, so that equal options have equal text. Undefined if nothing is left.
 */
export function readOptions(given: unknown): ReadOptions {
  try {
    const options = readAll(new Members(given, 'options'))
    return { options: Object.keys(options).length === 0 ? undefined : options }
  } catch (error) {
    if (error instanceof BadOptions) return { errors: error.errors }
    throw error
  }
}

/** Whether options are exactly what `readOptions` makes of them. */
export function areCanonical(given: unknown): given is ExposureOptions {
  const { options, errors } = { errors: undefined, options: undefined, ...readOptions(given) }
  return errors === undefined && options !== undefined && JSON.stringify(options) === JSON.stringify(given)
}

function readAll(members: Members): ExposureOptions {
  const options: ExposureOptions = defined({
    maxBody: members.take('maxBody', text(MAX_BODY_GRAMMAR, 'a number with k, m or g, such as 50m, or 0 for no limit')),
    timeouts: members.take('timeouts', timeouts),
    websocket: members.take('websocket', switchedOff),
    buffering: members.take('buffering', switchedOff),
    headers: members.take('headers', headers),
    allow: members.take('allow', listOf(network, MOST_NETWORKS)),
    basicAuth: members.take('basicAuth', id),
    backendTls: members.take('backendTls', backendTls),
    backends: members.take('backends', listOf(backend, MOST_BACKENDS)),
    maintenance: members.take('maintenance', maintenance),
    snippets: members.take('snippets', listOf(id, MOST_SNIPPETS)),
  })
  members.end()
  return options
}

/** Reads one value. Throws `Unfit` for one that does not match its grammar; undefined: as if it were not there. */
type Reader<T> = (given: unknown, field: string) => T | undefined

class Unfit extends Error {}

/** The members of an object, each taken once. */
class Members {
  readonly #given: Readonly<Record<string, unknown>>
  readonly #field: string
  readonly #taken = new Set<string>()
  readonly #errors: FieldError[] = []

  constructor(given: unknown, field: string) {
    this.#field = field
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw new BadOptions([{ field, message: 'must be an object' }])
    this.#given = given as Readonly<Record<string, unknown>>
  }

  take<T>(name: string, read: Reader<T>): T | undefined {
    this.#taken.add(name)
    const field = `${this.#field}.${name}`
    if (!Object.hasOwn(this.#given, name) || this.#given[name] === undefined) return undefined
    try {
      return read(this.#given[name], field)
    } catch (error) {
      if (error instanceof Unfit) this.#errors.push({ field, message: error.message })
      else if (error instanceof BadOptions) this.#errors.push(...error.errors)
      else throw error
      return undefined
    }
  }

  needs(name: string): void {
    if (!Object.hasOwn(this.#given, name)) this.#errors.push({ field: `${this.#field}.${name}`, message: 'is missing' })
  }

  /** Throws if a member was bad or is not known. */
  end(): void {
    const unknown = Object.keys(this.#given).filter((name) => !this.#taken.has(name))
    const errors = [
      ...this.#errors,
      ...unknown.map((name) => ({
        field: `${this.#field}.${/^[A-Za-z0-9_-]{1,32}$/.test(name) ? name : '?'}`,
        message: `is not an option. Options here: ${[...this.#taken].join(', ')}`,
      })),
    ]
    if (errors.length > 0) throw new BadOptions(errors)
  }
}

const text =
  (grammar: string, what: string): Reader<string> =>
  (given) => {
    if (typeof given === 'string' && new RegExp(grammar).test(given)) return given
    throw new Unfit(`must be ${what}`)
  }

const id = text(OPTION_ID_GRAMMAR, 'an id of up to 32 small letters, digits and hyphens')

const whole =
  (lowest: number, highest: number): Reader<number> =>
  (given) => {
    if (typeof given === 'number' && Number.isInteger(given) && given >= lowest && given <= highest) return given
    throw new Unfit(`must be a whole number from ${lowest} to ${highest}`)
  }

const truth = (given: unknown): boolean => {
  if (typeof given === 'boolean') return given
  throw new Unfit('must be true or false')
}

/** On is the default. */
const switchedOff: Reader<false> = (given) => (truth(given) ? undefined : false)
/** Off is the default. */
const switchedOn: Reader<true> = (given) => (truth(given) ? true : undefined)

const word =
  (words: readonly string[]): Reader<string> =>
  (given) => {
    if (typeof given === 'string' && words.includes(given)) return given
    throw new Unfit(`must be one of ${words.join(', ')}`)
  }

const listOf =
  <T>(read: Reader<T>, most: number): Reader<readonly T[]> =>
  (given, field) => {
    if (!Array.isArray(given) || given.length > most) throw new Unfit(`must be a list of at most ${most}`)
    if (given.length === 0) throw new Unfit(EMPTY_LIST)
    const readItems = given.map((item: unknown, at) => {
      try {
        return read(item, `${field}.${at}`)
      } catch (error) {
        if (error instanceof Unfit) throw new BadOptions([{ field: `${field}.${at}`, message: error.message }])
        throw error
      }
    })
    const items = readItems.filter((item) => item !== undefined)
    return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
  }

const network: Reader<string> = (given) => {
  const parsed = typeof given === 'string' && /^[0-9A-Fa-f.:/]{2,49}$/.test(given) ? parseCidr(given) : undefined
  // A mapped IPv4 address would have the prefix of an IPv6 network.
  const isMapped = parsed && String(given).includes(':') && !parsed.address.includes(':')
  if (!parsed || isMapped) throw new Unfit('must be a network such as 10.0.0.0/8 or 2001:db8::/32')
  return `${parsed.address}/${parsed.prefix}`
}

const timeouts: Reader<Timeouts> = (given, field) => {
  const members = new Members(given, field)
  const read = defined({
    connect: members.take('connect', whole(...TIMEOUT_BOUNDS.connect)),
    read: members.take('read', whole(...TIMEOUT_BOUNDS.read)),
    send: members.take('send', whole(...TIMEOUT_BOUNDS.send)),
  })
  members.end()
  return orNothing(read)
}

const headers: Reader<ResponseHeaders> = (given, field) => {
  const members = new Members(given, field)
  const words = HEADER_NAMES.map((name) => [name, members.take(name, word(HEADER_WORDS[name].words))] as const)
  const read: ResponseHeaders = defined({ hsts: members.take('hsts', hsts), ...Object.fromEntries(words) })
  members.end()
  return orNothing(read)
}

const hsts: Reader<StrictTransport> = (given, field) => {
  const members = new Members(given, field)
  members.needs('maxAge')
  const maxAge = members.take('maxAge', whole(0, LONGEST_HSTS))
  const flags = defined({
    includeSubDomains: members.take('includeSubDomains', switchedOn),
    preload: members.take('preload', switchedOn),
  })
  members.end()
  return { maxAge: maxAge ?? 0, ...flags }
}

const backendTls: Reader<BackendTls> = (given, field) => {
  const members = new Members(given, field)
  members.needs('authority')
  const authority = members.take('authority', id)
  const name = members.take('name', dnsName)
  members.end()
  return { authority: authority ?? '', ...defined({ name }) }
}

const dnsName: Reader<string> = (given) => {
  const name = typeof given === 'string' && given.length <= 254 ? parseName(given) : undefined
  if (name === undefined) throw new Unfit('must be a DNS name')
  return name
}

const backend: Reader<Backend> = (given, field) => {
  const members = new Members(given, field)
  members.needs('server')
  members.needs('port')
  const server = members.take('server', text('^[A-Za-z0-9-]{1,32}$', 'the id of a server'))
  const port = members.take('port', whole(1, 65_535))
  members.end()
  return { server: server ?? '', port: port ?? 0 }
}

const maintenance: Reader<Maintenance> = (given, field) => {
  if (typeof given === 'boolean') return given ? { retryAfter: RETRY_AFTER.usual } : undefined
  const members = new Members(given, field)
  const retryAfter = members.take('retryAfter', whole(RETRY_AFTER.lowest, RETRY_AFTER.highest))
  members.end()
  return { retryAfter: retryAfter ?? RETRY_AFTER.usual }
}

const defined = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)) as T

const orNothing = <T extends object>(members: T): T | undefined =>
  Object.keys(members).length === 0 ? undefined : members
