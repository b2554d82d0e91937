import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createFile, errorCode, replaceFile, syncFolder } from '../../primitives/durable-file.ts'

/** A key of AES-256. Its id says which key a secret was sealed with, and tells nothing about the key. */
export interface SealingKey {
  readonly id: string
  readonly bytes: Buffer
}

const KEY_BYTES = 32
const LINE = /^(key-[0-9a-f]{16}) ([A-Za-z0-9+/]{43}=)$/

/** The keys in the file, newest first. Empty if there is no file. Throws a sentence without anything of the file's content. */
export function readKeys(file: string): readonly SealingKey[] {
  const text = readPrivate(file)
  if (text === undefined) return []
  const lines = linesIn(text)
  const keys = keysIn(lines)
  if (keys.length === 0 || keys.length < lines.length)
    throw new Error(
      `${file} is not a key file of Drawbridge, or is damaged. Restore it from a backup, or copy it from another instance.`,
    )
  return keys
}

/** The ids of the keys in the text of a key file. Lines that are no key are left out. */
export const keyIdsIn = (text: string): readonly string[] => keysIn(linesIn(text)).map(({ id }) => id)

const linesIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

const keysIn = (lines: readonly string[]): readonly SealingKey[] =>
  lines.flatMap((line) => {
    const [, id = '', encoded = ''] = LINE.exec(line) ?? []
    const bytes = Buffer.from(encoded, 'base64')
    return bytes.length === KEY_BYTES && idOf(bytes) === id ? [{ id, bytes }] : []
  })

/** Changes whenever the file does. */
export const stampOf = (file: string): string => {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
}

export function newKey(): SealingKey {
  const bytes = randomBytes(KEY_BYTES)
  return { id: idOf(bytes), bytes }
}

/** Rejects with EEXIST if there is a file. */
export async function createKeyFile(file: string, key: SealingKey): Promise<void> {
  await createFile(file, textOf([key]), 0o600)
  await syncFolder(dirname(file))
}

export const writeKeys = (file: string, keys: readonly SealingKey[]): Promise<void> =>
  replaceFile(file, textOf(keys), 0o600)

const textOf = (keys: readonly SealingKey[]): string =>
  [
    '# Keys of the secrets in the store of Drawbridge, newest first. Keep a copy beside the backups of the store.',
    ...keys.map(({ id, bytes }) => `${id} ${bytes.toString('base64')}`),
    '',
  ].join('\n')

const idOf = (bytes: Buffer): string => `key-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`

function readPrivate(file: string): string | undefined {
  try {
    if (lstatSync(file).mode & 0o077)
      throw new Error(`The key file ${file} is open to other users than its owner. Run: chmod 0600 ${file}`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return undefined
    throw code === undefined ? error : new Error(`The key file ${file} cannot be read (${code}).`)
  }
}
