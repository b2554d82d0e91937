import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { parseAddress, parseCidr } from '../../model/address.ts'
import { parseName } from '../../model/dns-name.ts'
import { UsageError } from '../../terminal/declare.ts'

export function optionValue<T>(
  option: string,
  text: string,
  parse: (text: string) => T | undefined,
  allowed: string,
): T {
  const value = parse(text)
  if (value !== undefined) return value
  throw new UsageError(`${option} ${JSON.stringify(text)} is not valid. Allowed: ${allowed}.`)
}

export const portIn = (option: string, text: string): number =>
  optionValue(
    option,
    text,
    (given) => (/^\d{1,5}$/.test(given) && Number(given) > 0 && Number(given) < 65_536 ? Number(given) : undefined),
    'a port',
  )

export const zoneIn = (text: string): string | undefined => parseName(text.toLowerCase().replace(/\.$/, ''))

/** `none` is none. Throws a UsageError for an id that is there twice: one of its addresses would be lost. */
export function targetsIn(text: string): ReadonlyMap<string, string> | undefined {
  const targets = new Map<string, string>()
  for (const one of text === 'none' ? [] : text.split(',')) {
    const [, id, at = ''] = /^([A-Za-z0-9-]{1,32})=(.+)$/.exec(one.trim()) ?? []
    const address = parseAddress(at)
    if (id === undefined || address === undefined) return undefined
    const former = targets.get(id)
    if (former !== undefined)
      throw new UsageError(`--target names ${id} twice, as ${former} and as ${address}. Pass each id once.`)
    targets.set(id, address)
  }
  return targets
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a file without what stands beside them, such as their key. Empty for `none`. */
export function certificatesIn(file: string): string | undefined {
  if (file === 'none') return ''
  try {
    const certificates = readFileSync(file, 'utf8').match(CERTIFICATE) ?? []
    const isValid = certificates.every((text) => new X509Certificate(text))
    return isValid && certificates.length > 0 ? `${certificates.join('\n')}\n` : undefined
  } catch {
    return undefined
  }
}

export function networksIn(text: string): readonly string[] | undefined {
  const networks = text.split(',').map((one) => one.trim())
  return networks.every((one) => parseCidr(one) !== undefined) ? networks : undefined
}

export function absolute(option: string, path: string): string {
  if (isAbsolute(path)) return path
  throw new UsageError(`${option} ${JSON.stringify(path)} is not valid. Allowed: an absolute path.`)
}
