import { isIPv4, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { type TUnsafe, Type } from 'typebox'
import { parseAddress, parseCidr, parseEndpoint } from '../model/address.ts'
import { parseName } from '../model/dns-name.ts'

/**
 * The types of settings, as TypeBox schemas. `allowed` completes the sentence "… is not valid. Allowed: …." A `default`
 * has the form of a value in the file.
 */
type Options = {
  readonly allowed: string
  readonly default?: unknown
}

/** Text that `parse` converts to a value. `parse` returns undefined for invalid text. */
export const parsed = <T>(parse: (text: string) => T | undefined, options: Options) =>
  Type.Codec(Type.String(options)).Decode(decodedBy(parse)).Encode(neverWritten)

/** The same for text that YAML reads as a number, such as a port or the id of a server. */
const parsedScalar = <T>(parse: (text: string) => T | undefined, options: Options) =>
  Type.Codec(Type.Union([Type.String(), Type.Integer()], options))
    .Decode((given) => decodedBy(parse)(String(given)))
    .Encode(neverWritten)

const decodedBy =
  <T>(parse: (text: string) => T | undefined) =>
  (given: string): T => {
    const value = parse(given)
    if (value === undefined) throw new Error('The value is not valid.')
    return value
  }

const neverWritten = (): never => {
  throw new Error('A configuration is never written.')
}

const nonEmpty = (text: string): string | undefined => (text === '' ? undefined : text)

export const text = (allowed: string, fallback?: string) =>
  Type.String({ minLength: 1, allowed, ...withDefault(fallback) })

export const truth = (fallback?: boolean) => Type.Boolean({ allowed: 'true or false', ...withDefault(fallback) })

export const whole = (lowest: number, highest: number, fallback: number | undefined, unit: string) =>
  Type.Integer({
    minimum: lowest,
    maximum: highest,
    allowed: `${unit}, ${lowest} to ${highest}`,
    ...withDefault(fallback),
  })

export const seconds = (lowest: number, highest: number, fallback?: number) =>
  whole(lowest, highest, fallback, 'whole seconds')

export const port = (fallback: number) => whole(1, 65_535, fallback, 'a port')

export const oneOf = <const T extends readonly string[]>(values: T, fallback?: T[number]) => {
  const allowed = `${values.slice(0, -1).join(', ')}${values.length > 1 ? ' or ' : ''}${values.at(-1)}`
  const schema: TUnsafe<T[number]> = Type.Unsafe<T[number]>({
    type: 'string',
    enum: [...values],
    allowed,
    ...withDefault(fallback),
  })
  return schema
}

/** An absolute path, or a path relative to the folder of the file. */
export const path = (folder: string, allowed: string, fallback?: string) =>
  parsed((given) => (given === '' ? undefined : resolve(folder, given)), { allowed, ...withDefault(fallback) })

/** A path that is written into nginx's configuration. */
export const nginxPath = (folder: string, what: string, fallback?: string) =>
  parsed((given) => plainPath(resolve(folder, given)), {
    allowed: `${what} of letters, digits, dots, underscores, hyphens and slashes`,
    ...withDefault(fallback),
  })

const plainPath = (given: string): string | undefined => (/^[A-Za-z0-9._/-]+$/.test(given) ? given : undefined)

/** A program: its name, which the system finds in PATH, or its path. */
export const program = (folder: string, fallback: string) =>
  parsed((given) => (given.includes('/') ? resolve(folder, given) : nonEmpty(given)), {
    allowed: 'a program',
    default: fallback,
  })

export const address = (allowed: string, fallback?: string) =>
  parsed(parseAddress, { allowed, ...withDefault(fallback) })

export const address4 = parsed((given) => (isIPv4(given) ? given : undefined), { allowed: 'IPv4 addresses' })
export const address6 = parsed((given) => (isIPv6(given) ? parseAddress(given) : undefined), {
  allowed: 'IPv6 addresses',
})

export const network = parsed((given) => (parseCidr(given) ? given : undefined), {
  allowed: 'networks such as 192.168.45.0/24',
})

export const dnsServer = (allowed: string) => parsed((given) => parseEndpoint(given, 53), { allowed })

export const dnsName = (allowed: string) => parsed(parseName, { allowed })

/** The short id of a server. YAML reads 23 as a number, which is accepted. */
export const serverId = (allowed: string, fallback?: string) =>
  parsedScalar((given) => (SERVER_ID.test(given) ? given : undefined), { allowed, ...withDefault(fallback) })

export const SERVER_ID = /^[A-Za-z0-9-]{1,32}$/

/** A group of the system. */
export const group = parsedScalar((given) => (/^[a-z_][a-z0-9_-]{0,31}$|^\d{1,9}$/.test(given) ? given : undefined), {
  allowed: 'the name or the number of a group',
})

/** `3000` or `1024-65535`. */
export const portRange = parsedScalar(
  (given): readonly [number, number] | undefined => {
    const [first = 0, last = first, ...rest] = given.split('-').map(Number)
    return isPort(first) && isPort(last) && first <= last && rest.length === 0 ? [first, last] : undefined
  },
  { allowed: 'ports (80) or ranges (1024-65535)' },
)

/** A status such as `401`, or a range such as `200-399`. */
export const statusRange = parsedScalar(
  (given): readonly [number, number] | undefined => {
    const [first = 0, last = first, ...rest] = given.split('-').map(Number)
    return isStatus(first) && isStatus(last) && first <= last && rest.length === 0 ? [first, last] : undefined
  },
  { allowed: 'statuses (401) or ranges (200-399)' },
)

const isStatus = (number: number): boolean => Number.isInteger(number) && number >= 100 && number <= 599

const isPort = (number: number): boolean => Number.isInteger(number) && number >= 1 && number <= 65_535

/** An origin: `https://name[:port]` without a path. */
export const origin = parsed(
  (given) => {
    const url = URL.parse(given)
    const isBare = url?.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
    return url && isBare && /^https?:$/.test(url.protocol) ? url.origin : undefined
  },
  { allowed: 'http:// or https:// addresses without a path' },
)

const withDefault = <T>(fallback: T | undefined): { default?: T } =>
  fallback === undefined ? {} : { default: fallback }
