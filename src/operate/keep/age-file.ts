import type { FileHandle } from 'node:fs/promises'
import { Decrypter, Encrypter } from 'age-encryption'

/** 64 MiB of memory for each guess: 2^16 rounds of scrypt. */
const SCRYPT_WORK_FACTOR = 16
const AGE = 'age-encryption.org/v1\n'
const GZIP = Buffer.from([0x1f, 0x8b])

/** Why a backup cannot be read. The message is for people and has nothing of the content. */
export class BadBackup extends Error {}

/** The bytes of a backup: the content itself or, with a passphrase, an age file of it. `age -d FILE` gives the content back. */
export async function encrypted(
  content: AsyncIterable<Uint8Array>,
  passphrase: string | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  if (passphrase === undefined) return content
  const encrypter = new Encrypter()
  encrypter.setScryptWorkFactor(SCRYPT_WORK_FACTOR)
  encrypter.setPassphrase(passphrase)
  return encrypter.encrypt(ReadableStream.from(content))
}

/** The content of a backup, in gzip. With a passphrase every part was proven before it is told. */
export async function* decrypted(file: FileHandle, passphrase: string | undefined): AsyncGenerator<Uint8Array> {
  const isEncrypted = await isAge(file)
  if (isEncrypted && passphrase === undefined)
    throw new BadBackup('The backup is encrypted. Pass the file of its passphrase with --passphrase-file.')
  if (!isEncrypted && passphrase !== undefined)
    throw new BadBackup('The backup is not encrypted. Run the command again without --passphrase-file.')
  const bytes = file.createReadStream({ start: 0, autoClose: false })
  if (passphrase === undefined) return yield* bytes
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  const content = await decrypter.decrypt(ReadableStream.from<Uint8Array>(bytes)).catch(() => {
    throw new BadBackup('The passphrase does not open the backup, or the backup is damaged. Nothing of it was used.')
  })
  try {
    yield* content
  } catch {
    throw damaged()
  }
}

export const damaged = (): Error => new BadBackup('The backup is damaged or was cut off. Nothing of it was used.')

async function isAge(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(AGE.length), 0, AGE.length, 0)
  const beginning = buffer.subarray(0, bytesRead)
  if (beginning.toString('latin1') === AGE) return true
  if (beginning.subarray(0, GZIP.length).equals(GZIP)) return false
  throw new BadBackup('The file is not a backup of Drawbridge.')
}
