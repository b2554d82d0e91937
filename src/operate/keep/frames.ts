import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * The outer form of a backup: one line of JSON, then frames. A frame is its length (4 bytes, the highest bit marks the last frame), its
 * content and 16 bytes that prove it: the tag of AES-256-GCM or, without a passphrase, the first half of a SHA-256. Both cover the first
 * line and the number of the frame, so that none can be left out, doubled or moved.
 */
const FORMAT = 1

interface Header {
  readonly drawbridgeBackup: number
  readonly encryption: Encryption | null
}

interface Encryption {
  readonly kdf: 'scrypt'
  readonly cipher: 'aes-256-gcm'
  readonly N: number
  readonly r: number
  readonly p: number
  /** In base64. */
  readonly salt: string
}

/** 64 MiB of memory and about a quarter of a second for each guess. */
const SCRYPT = { N: 65_536, r: 8, p: 1 }
/** A header may ask for no more than this: it was not proven yet. */
const MOST_SCRYPT = { N: 1_048_576, r: 16, p: 4 }
const FRAME_BYTES = 256 * 1024
const MOST_HEADER_BYTES = 1_024
const LAST = 0x8000_0000
const PROOF_BYTES = 16

/** Why a backup cannot be read. The message is for people and has nothing of the content. */
export class BadBackup extends Error {}

interface FrameCode {
  seal(content: Buffer, index: number, isLast: boolean): { readonly content: Buffer; readonly proof: Buffer }
  /** Undefined if the proof is wrong. */
  open(content: Buffer, proof: Buffer, index: number, isLast: boolean): Buffer | undefined
}

/** The frames of a new backup, the first line included. */
export async function* toFrames(source: AsyncIterable<Buffer>, passphrase: string | undefined): AsyncGenerator<Buffer> {
  const header: Header = {
    drawbridgeBackup: FORMAT,
    encryption:
      passphrase === undefined
        ? null
        : { kdf: 'scrypt', cipher: 'aes-256-gcm', ...SCRYPT, salt: randomBytes(32).toString('base64') },
  }
  const line = `${JSON.stringify(header)}\n`
  const code = await codeOf(line, header, passphrase)
  yield Buffer.from(line)
  let index = 0
  let waiting = Buffer.alloc(0)
  const frame = (content: Buffer, isLast: boolean): Buffer => {
    const sealed = code.seal(content, index, isLast)
    index += 1
    const length = Buffer.alloc(4)
    length.writeUInt32BE((sealed.content.length | (isLast ? LAST : 0)) >>> 0)
    return Buffer.concat([length, sealed.content, sealed.proof])
  }
  for await (const part of source) {
    waiting = Buffer.concat([waiting, part])
    while (waiting.length > FRAME_BYTES) {
      yield frame(waiting.subarray(0, FRAME_BYTES), false)
      waiting = waiting.subarray(FRAME_BYTES)
    }
  }
  yield frame(waiting, true)
}

/** The content of a backup. Every part was proven before it is told. */
export async function* fromFrames(file: FileHandle, passphrase: string | undefined): AsyncGenerator<Buffer> {
  const reading = new Reading(file)
  const line = await reading.line()
  const code = await codeOf(line, headerIn(line), passphrase)
  for (let index = 0; ; index += 1) {
    const word = (await reading.exactly(4)).readUInt32BE()
    const isLast = (word & LAST) !== 0
    const length = (word & ~LAST) >>> 0
    if (length > FRAME_BYTES) throw damaged()
    const content = code.open(await reading.exactly(length), await reading.exactly(PROOF_BYTES), index, isLast)
    if (!content) throw index === 0 && passphrase !== undefined ? wrongPassphrase() : damaged()
    yield content
    if (!isLast) continue
    if (!(await reading.isAtEnd())) throw damaged()
    return
  }
}

const damaged = (): Error => new BadBackup('The backup is damaged or was cut off. Nothing of it was used.')
const wrongPassphrase = (): Error =>
  new BadBackup('The passphrase does not open the backup, or the backup is damaged. Nothing of it was used.')

function headerIn(line: string): Header {
  const notOurs = new BadBackup('The file is not a backup of Drawbridge.')
  let header: Header
  try {
    header = JSON.parse(line)
  } catch {
    throw notOurs
  }
  if (typeof header?.drawbridgeBackup !== 'number') throw notOurs
  if (header.drawbridgeBackup > FORMAT)
    throw new BadBackup(
      `The backup has format ${header.drawbridgeBackup}, and this Drawbridge reads formats up to ${FORMAT}. ` +
        'Restore it with the version of Drawbridge that made it, or a newer one.',
    )
  return header
}

const scryptOf = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

async function codeOf(line: string, { encryption }: Header, passphrase: string | undefined): Promise<FrameCode> {
  if (encryption === null) {
    if (passphrase !== undefined)
      throw new BadBackup('The backup is not encrypted. Run the command again without --passphrase-file.')
    return checked(line)
  }
  if (passphrase === undefined)
    throw new BadBackup('The backup is encrypted. Pass the file of its passphrase with --passphrase-file.')
  const { N, r, p, salt } = encryption
  const isAllowed = (given: unknown, most: number) =>
    Number.isInteger(given) && Number(given) >= 1 && Number(given) <= most
  if (!isAllowed(N, MOST_SCRYPT.N) || !isAllowed(r, MOST_SCRYPT.r) || !isAllowed(p, MOST_SCRYPT.p)) throw damaged()
  const maxmem = 256 * N * r
  const key = await scryptOf(passphrase, Buffer.from(String(salt), 'base64'), 32, { N, r, p, maxmem }).catch(() => {
    throw damaged()
  })
  return sealed(line, key)
}

const coverOf = (line: string, index: number, isLast: boolean): Buffer =>
  Buffer.from(JSON.stringify([line, index, isLast]))

function checked(line: string): FrameCode {
  const proofOf = (content: Buffer, index: number, isLast: boolean) =>
    createHash('sha256')
      .update(coverOf(line, index, isLast))
      .update(content)
      .digest()
      .subarray(0, PROOF_BYTES)
  return {
    seal: (content, index, isLast) => ({ content, proof: proofOf(content, index, isLast) }),
    open: (content, proof, index, isLast) => (proofOf(content, index, isLast).equals(proof) ? content : undefined),
  }
}

/** The key is used for one backup only, so the number of the frame is a nonce that never repeats. */
function sealed(line: string, key: Buffer): FrameCode {
  const nonceOf = (index: number) => {
    const nonce = Buffer.alloc(12)
    nonce.writeUInt32BE(index, 8)
    return nonce
  }
  return {
    seal(content, index, isLast) {
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index)).setAAD(coverOf(line, index, isLast))
      const encrypted = Buffer.concat([cipher.update(content), cipher.final()])
      return { content: encrypted, proof: cipher.getAuthTag() }
    },
    open(content, proof, index, isLast) {
      const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index), { authTagLength: PROOF_BYTES })
        .setAAD(coverOf(line, index, isLast))
        .setAuthTag(proof)
      try {
        return Buffer.concat([decipher.update(content), decipher.final()])
      } catch {
        return undefined
      }
    },
  }
}

/** Reads a file from its beginning. */
class Reading {
  readonly #file: FileHandle
  #position = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async line(): Promise<string> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(MOST_HEADER_BYTES), 0, MOST_HEADER_BYTES, 0)
    const end = buffer.subarray(0, bytesRead).indexOf('\n')
    if (end < 0) throw new BadBackup('The file is not a backup of Drawbridge.')
    this.#position = end + 1
    return buffer.toString('utf8', 0, end + 1)
  }

  async exactly(length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length)
    for (let read = 0; read < length; ) {
      const { bytesRead } = await this.#file.read(bytes, read, length - read, this.#position)
      if (bytesRead === 0) throw damaged()
      read += bytesRead
      this.#position += bytesRead
    }
    return bytes
  }

  async isAtEnd(): Promise<boolean> {
    return (await this.#file.stat()).size === this.#position
  }
}
