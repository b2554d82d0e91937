/** The first of the 128 lone surrogates that stand for bytes which are not UTF-8. No valid text contains one. */
const FIRST = 0xdc00

/** Bytes as text. If they are not UTF-8, those beyond ASCII become lone surrogates, so that `bytesOf` gives the same bytes. */
export function textFromBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (!text.includes('\ufffd') || Buffer.from(text).equals(bytes)) return text
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : FIRST + byte)).join('')
}

/** The bytes of a text from `textFromBytes`. The text itself if it is UTF-8. */
export function bytesOf(text: string): string | Buffer {
  if (!/[\udc80-\udcff]/.test(text) || text.isWellFormed()) return text
  return Buffer.concat(
    Array.from(text, (character) => {
      const code = character.charCodeAt(0)
      return character.length === 1 && code >= FIRST + 0x80 && code <= FIRST + 0xff
        ? Buffer.from([code - FIRST])
        : Buffer.from(character)
    }),
  )
}
