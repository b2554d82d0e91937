/** The first of the 128 lone surrogates that stand for bytes which are not UTF-8. No valid text contains one. */
const FIRST = 0xdc00

/** A file name as text. Bytes that are not UTF-8 become lone surrogates, so that no name is lost. */
export function nameFromBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (!text.includes('\ufffd') || Buffer.from(text).equals(bytes)) return text
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : FIRST + byte)).join('')
}

/** The path in the bytes of the file system. */
export function systemPath(path: string): string | Buffer {
  if (!/[\udc80-\udcff]/.test(path) || path.isWellFormed()) return path
  return Buffer.concat(
    Array.from(path, (character) => {
      const code = character.charCodeAt(0)
      return character.length === 1 && code >= FIRST + 0x80 && code <= FIRST + 0xff
        ? Buffer.from([code - FIRST])
        : Buffer.from(character)
    }),
  )
}
