import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, replaceFile, syncFolder } from '../../primitives/durable-file.ts'
import { IssueFault } from '../contract.ts'

/** Creates nested folders below `root` with mode 0700, whatever the umask is. */
export async function makePrivateFolder(root: string, ...below: readonly string[]): Promise<string> {
  let folder = root
  for (const name of below) {
    const parent = folder
    folder = join(parent, name)
    const made = await mkdir(folder, { mode: 0o700 }).then(() => true, ignoreError('EEXIST', false))
    await chmod(folder, 0o700)
    if (made) await syncFolder(parent)
  }
  return folder
}

/** Creates or replaces the file with mode 0600. */
export const writePrivateFile = (path: string, text: string): Promise<void> => replaceFile(path, text, 0o600)

/** Undefined when the file does not exist. */
export const readIfExists = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(ignoreError('ENOENT', undefined))

const ignoreError =
  <T>(code: string, value: T) =>
  (error: unknown): T => {
    if (errorCode(error) !== code) throw error
    return value
  }

/** The key in the file as PEM. Creates an ECDSA P-256 key when there is no file. */
export async function readOrCreateKey(file: string): Promise<string> {
  const standing = await readIfExists(file)
  if (standing !== undefined)
    return checkedKey(
      standing,
      `The file ${file} does not have a private key. Move it away, and Drawbridge creates a new key.`,
    )
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await writePrivateFile(file, pem)
  return pem
}

/** Returns the text. Throws IssueFault with the sentence `otherwise` when it is not a private key. */
export function checkedKey(pem: string, otherwise: string): string {
  try {
    createPrivateKey(pem)
    return pem
  } catch {
    throw new IssueFault('local', otherwise)
  }
}
