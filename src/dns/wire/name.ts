import { type Cursor, MalformedMessage } from './bytes.ts'

const MAX_LABEL_LENGTH = 63
const MAX_NAME_LENGTH = 255
/** No normal message has more pointers in one name. Long chains would make decoding slow. */
const MAX_POINTERS = 32

/** A name that a DNS message cannot contain: too long, an empty label, or a character that needs escaping. */
export class UnaskableName extends Error {
  override readonly name = 'UnaskableName'
}

/** The wire form of a name without a trailing dot; the empty name is the root. */
export function encodeName(name: string): Buffer {
  const labels = name === '' ? [] : name.toLowerCase().split('.')
  const parts = labels.map((label) => {
    if (!/^[\x21-\x5b\x5d-\x7e]{1,63}$/.test(label))
      throw new UnaskableName(`${JSON.stringify(label)} is not a DNS label`)
    return Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])
  })
  const wire = Buffer.concat([...parts, Buffer.from([0])])
  if (wire.length > MAX_NAME_LENGTH)
    throw new UnaskableName(`the name ${name} is longer than ${MAX_NAME_LENGTH} octets`)
  return wire
}

/** Reads a name and moves the cursor behind it. Lower case; unprintable octets as `\ddd`, dots inside a label as `\.`. */
export function readName(cursor: Cursor): string {
  return readLabels(cursor).map(labelText).join('.')
}

/** Reads a name as wire format, uncompressed and in lower case. */
export function readNameBytes(cursor: Cursor): Buffer {
  const parts = readLabels(cursor).map((label) => Buffer.concat([Buffer.from([label.length]), lowerCase(label)]))
  return Buffer.concat([...parts, Buffer.from([0])])
}

function readLabels(cursor: Cursor): Buffer[] {
  const labels: Buffer[] = []
  let octets = 1
  let pointers = 0
  let behind: number | undefined
  for (;;) {
    const start = cursor.offset
    const length = cursor.u8()
    if (length === 0) break
    if (length <= MAX_LABEL_LENGTH) {
      octets += length + 1
      if (octets > MAX_NAME_LENGTH) throw new MalformedMessage('a name is longer than 255 octets')
      labels.push(cursor.bytes(length))
      continue
    }
    if (length < 0xc0) throw new MalformedMessage('a label of unknown kind')
    const target = ((length & 0x3f) << 8) | cursor.u8()
    behind ??= cursor.offset
    pointers += 1
    if (target >= start || pointers > MAX_POINTERS) throw new MalformedMessage('a compression pointer leads nowhere')
    cursor.offset = target
  }
  cursor.offset = behind ?? cursor.offset
  return labels
}

function labelText(label: Buffer): string {
  return lowerCase(label)
    .toString('latin1')
    .replace(/[.\\]/g, '\\$&')
    .replace(/[^\x21-\x7e]/g, (octet) => `\\${octet.charCodeAt(0).toString().padStart(3, '0')}`)
}

const lowerCase = (label: Buffer): Buffer =>
  Buffer.from(label.map((octet) => (octet >= 65 && octet <= 90 ? octet + 32 : octet)))
