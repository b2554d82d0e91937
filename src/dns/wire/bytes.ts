/** The bytes are not a DNS message. Decoding throws no other error. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

/** Reads a message from the start to its end, and throws instead of reading past it. */
export class Cursor {
  readonly message: Buffer
  offset: number

  constructor(message: Buffer, offset = 0) {
    this.message = message
    this.offset = offset
  }

  u8(): number {
    return this.message.readUInt8(this.#advance(1))
  }

  u16(): number {
    return this.message.readUInt16BE(this.#advance(2))
  }

  u32(): number {
    return this.message.readUInt32BE(this.#advance(4))
  }

  bytes(length: number): Buffer {
    const start = this.#advance(length)
    return this.message.subarray(start, start + length)
  }

  #advance(length: number): number {
    const start = this.offset
    if (start + length > this.message.length)
      throw new MalformedMessage(`the message ends before byte ${start + length}`)
    this.offset = start + length
    return start
  }
}

/** Unsigned integers of two octets each, in network byte order. */
export function u16(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 2)
  for (const [i, number] of numbers.entries()) bytes.writeUInt16BE(number, i * 2)
  return bytes
}

export const u32 = (number: number): Buffer => wide(number, 4)
export const u48 = (number: number): Buffer => wide(number, 6)

function wide(number: number, octets: number): Buffer {
  const bytes = Buffer.alloc(octets)
  bytes.writeUIntBE(number, 0, octets)
  return bytes
}
