import { isIPv4, isIPv6 } from 'node:net'
import { parseAddress, parseCidr, parseEndpoint } from '../model/address.ts'
import { parseName } from '../model/dns-name.ts'
import type { Parse } from './section.ts'

/** The kinds of value that settings have. Each gives undefined for what is not allowed. */
const textThat =
  <T>(parse: (text: string) => T | undefined): Parse<T> =>
  (value) =>
    typeof value === 'string' ? parse(value) : undefined

export const text = textThat((value) => (value === '' ? undefined : value))
export const address = textThat(parseAddress)
export const address4 = textThat((value) => (isIPv4(value) ? value : undefined))
export const address6 = textThat((value) => (isIPv6(value) ? parseAddress(value) : undefined))
export const network = textThat((value) => (parseCidr(value) ? value : undefined))
export const endpoint = (defaultPort: number) => textThat((value) => parseEndpoint(value, defaultPort))
export const dnsName = textThat(parseName)

export const oneOf =
  <const T extends string>(...allowed: readonly T[]): Parse<T> =>
  (value) =>
    allowed.find((candidate) => candidate === value)

export const whole =
  (lowest: number, highest: number): Parse<number> =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= lowest && value <= highest ? value : undefined

export const truth: Parse<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)

export const port = whole(1, 65_535)

/** `3000` or `1024-65535`. */
export const portRange: Parse<readonly [number, number]> = (value) => {
  const [first, last, ...rest] = String(value).split('-').map(Number)
  const from = port(first)
  const to = port(last ?? first)
  return from && to && from <= to && rest.length === 0 ? [from, to] : undefined
}

/** The short id of a server. YAML reads a bare 23 as a number: that is fine. */
export const serverId: Parse<string> = (value) => {
  const id = typeof value === 'number' ? String(value) : value
  return typeof id === 'string' && /^[A-Za-z0-9-]{1,32}$/.test(id) ? id : undefined
}

/** `https://name[:port]` without a path: what a browser calls an origin. */
export const origin = textThat((value) => {
  if (!URL.canParse(value)) return undefined
  const url = new URL(value)
  const bare = url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
  return bare && /^https?:$/.test(url.protocol) ? url.origin : undefined
})

/** One plain address: an ACME server takes no header fields, and no comma, in it. */
export const mailAddress = textThat((value) => (/^[\w.+-]{1,64}@[a-z0-9.-]{1,253}$/i.test(value) ? value : undefined))

const DIRECTORIES: Record<string, string> = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
}

export const acmeDirectory = textThat(
  (value) => DIRECTORIES[value] ?? (URL.canParse(value) && value.startsWith('https://') ? value : undefined),
)
