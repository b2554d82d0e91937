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
