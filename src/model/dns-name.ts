import { domainToASCII, domainToUnicode } from 'node:url'

/** Names have one canonical form: lower case, no trailing dot. The parsers below convert to it or return undefined. */
const LONGEST_NAME = 253

/** One letter-digit-hyphen label in canonical form, or undefined. */
export function parseLabel(text: string): string | undefined {
  const label = text.toLowerCase()
  if (!isAscii(text) || !LABEL.test(label)) return undefined
  return label.startsWith('xn--') && !isRealPunycode(label) ? undefined : label
}

/** A dotted name in canonical form, or undefined. One trailing dot is allowed, as in zone files. */
export function parseName(text: string): string | undefined {
  const labels = text.replace(/\.$/, '').split('.').map(parseLabel)
  const name = labels.join('.')
  return labels.includes(undefined) || name.length > LONGEST_NAME ? undefined : name
}

/** Whether a certificate may be for this name, in canonical form: a host name, or a wildcard of one label before it. */
export const isCertificateName = (text: string): boolean => {
  const name = text.startsWith('*.') ? text.slice(2) : text
  return parseName(name) === name
}

/** As `parseName`, for input that people type: an internationalized name (IDN) is accepted, too. */
export function parseHost(text: string): string | undefined {
  if (isAscii(text)) return parseName(text)
  // domainToASCII drops and maps some characters. Only letters, marks and digits are passed to it.
  return /^[A-Za-z0-9.\p{L}\p{M}\p{N}-]{1,253}$/u.test(text) ? parseName(domainToASCII(text)) : undefined
}

/** The name of `label` under `zone`, both canonical. Undefined when the name is too long for DNS. */
export function nameUnder(zone: string, label: string): string | undefined {
  const name = `${label}.${zone}`
  return name.length > LONGEST_NAME ? undefined : name
}

/** `a.b.test` -> [`a.b.test`, `b.test`, `test`] */
export function selfAndAncestors(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_, i) => labels.slice(i).join('.'))
}

export const isInZone = (name: string, zone: string): boolean => name === zone || name.endsWith(`.${zone}`)

const isAscii = (text: string): boolean => [...text].every((character) => character.charCodeAt(0) < 128)

/** An A-label must decode to a name that encodes back to the same label. Other `xn--` labels are not valid. */
function isRealPunycode(label: string): boolean {
  const unicode = domainToUnicode(label)
  return unicode !== '' && unicode !== label && domainToASCII(unicode) === label
}

/** One letter-digit-hyphen label in lower case. The web page imports it, so it uses nothing of Node. */
export const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
