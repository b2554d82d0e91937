/** The bytes are not a DNS message: the one error that decoding throws. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

/** Reads forward through a message and never past its end. */
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

/** Unsigned integers as DNS writes them, each in two octets. */
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
