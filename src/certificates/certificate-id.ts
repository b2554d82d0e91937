import type { X509Certificate } from 'node:crypto'

/** One element of DER: its tag and what it holds. */
interface Element {
  readonly tag: number
  readonly content: Buffer
}

const EXTENSIONS = 0xa3
const KEY_IDENTIFIER = 0x80
/** 2.5.29.35 */
const AUTHORITY_KEY_IDENTIFIER = Buffer.from('551d23', 'hex')

/** By which RFC 9773 names a certificate: its issuer's key and its serial number. Undefined when it does not tell the key. */
export function certificateId({ raw }: X509Certificate): string | undefined {
  const [certificate] = elementsIn(raw)
  const [signed] = elementsIn(certificate?.content)
  const members = elementsIn(signed?.content)
  const serial = members.find(({ tag }) => tag === 0x02)?.content
  const [extensions] = elementsIn(members.find(({ tag }) => tag === EXTENSIONS)?.content)
  const issuerKey = elementsIn(extensions?.content).map(keyIdentifierIn).find(Boolean)
  return serial && issuerKey && `${issuerKey.toString('base64url')}.${serial.toString('base64url')}`
}

function keyIdentifierIn({ content }: Element): Buffer | undefined {
  const [type, ...rest] = elementsIn(content)
  if (!type?.content.equals(AUTHORITY_KEY_IDENTIFIER)) return undefined
  const [value] = elementsIn(rest.at(-1)?.content)
  return elementsIn(value?.content).find(({ tag }) => tag === KEY_IDENTIFIER)?.content
}

function elementsIn(der: Buffer = Buffer.alloc(0)): Element[] {
  const elements: Element[] = []
  for (let at = 0; at + 2 <= der.length; ) {
    const { start, length } = lengthAt(der, at + 1)
    elements.push({ tag: der[at] ?? 0, content: der.subarray(start, start + length) })
    at = start + length
  }
  return elements
}

/** The short form is the length itself, the long form says how many octets hold it. */
function lengthAt(der: Buffer, at: number): { start: number; length: number } {
  const first = der[at] ?? 0
  if (first < 0x80) return { start: at + 1, length: first }
  const octets = first & 0x7f
  return { start: at + 1 + octets, length: Number.parseInt(der.subarray(at + 1, at + 1 + octets).toString('hex'), 16) }
}
