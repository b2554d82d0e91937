/**
 * Text that others chose and that an answer must show: names of files, targets of a proxy, names in a certificate. An agent
 * reads answers and may take such text for an instruction, and a screen may draw it as something else. So what is no plain
 * path, address or name is quoted and escaped, and advice never holds any of it.
 */
const PLAIN = /^[A-Za-z0-9_.,:@+=~*%/[\]-]{1,512}$/
const LONGEST = 512

/** As it is when it is a plain word; otherwise quoted. */
export const shown = (text: string): string => (PLAIN.test(text) ? text : quoted(text))

/** A JSON string in printable ASCII, with an ellipsis behind it where it was cut. */
export const quoted = (text: string): string =>
  JSON.stringify(text.slice(0, LONGEST)).replaceAll(/[^ -~]/g, codeUnit) + (text.length > LONGEST ? '…' : '')

const codeUnit = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
