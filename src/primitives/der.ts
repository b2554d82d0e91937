/** DER, as far as certificates and requests for them need it (X.690). */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectId: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** One element with its contents. */
export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(content.length)]), content])
}

/** An object identifier, given as its encoded content in hex. */
export const objectId = (hex: string): Buffer => der(TAG.objectId, Buffer.from(hex, 'hex'))

/** Up to 127 in one octet; above, the number of octets that follow, then the length, most significant octet first. */
function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest >>= 8) octets.unshift(rest & 0xff)
  return [0x80 | octets.length, ...octets]
}
