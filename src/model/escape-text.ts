/**
 * Escapes text from outside that an answer shows: file names, proxy targets, names in a certificate. An agent could take
 * such text for an instruction, and a terminal could draw it as something else. Text that is not a plain path, address or
 * name is quoted and escaped. Advice never contains such text.
 */
const PLAIN = /^[A-Za-z0-9_.,:@+=~*%/[\]-]{1,512}$/
const LONGEST = 512

/** Plain text unchanged, other text quoted. */
export const escapeText = (text: string): string => (PLAIN.test(text) ? text : quoteText(text))

/** A JSON string in printable ASCII. An ellipsis after it means that the text was cut. */
export const quoteText = (text: string): string =>
  JSON.stringify(text.slice(0, LONGEST)).replaceAll(/[^ -~]/g, codeUnit) + (text.length > LONGEST ? '…' : '')

const codeUnit = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
