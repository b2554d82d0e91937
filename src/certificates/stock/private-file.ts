import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createFile, errorCode, replaceFile, syncFolder } from '../../primitives/durable-file.ts'
import { IssueFault } from '../contract.ts'

/** Makes each of the folders below `root`, one in the other, for us alone, whatever the umask says. */
export async function makePrivateFolder(root: string, ...below: readonly string[]): Promise<string> {
  let folder = root
  for (const name of below) {
    const parent = folder
    folder = join(parent, name)
    const made = await mkdir(folder, { mode: 0o700 }).then(() => true, unless('EEXIST', false))
    await chmod(folder, 0o700)
    if (made) await syncFolder(parent)
  }
  return folder
}

/** Replaces the file, or makes it, for the owner alone. */
export const writePrivateFile = (path: string, text: string): Promise<void> => replaceFile(path, text, 0o600)

/** Never replaces anything: rejects with EEXIST where something stands already, a link too. */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  await createFile(path, text, 0o600)
  await syncFolder(dirname(path))
}

/** Its text, or undefined when there is no such file. */
export const readIfExists = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(unless('ENOENT', undefined))

const unless =
  <T>(code: string, value: T) =>
  (error: unknown): T => {
    if (errorCode(error) !== code) throw error
    return value
  }

/** The key in the file, as PEM; a new one (ECDSA P-256) where there is none. */
export async function readOrCreateKey(file: string): Promise<string> {
  const standing = await readIfExists(file)
  if (standing !== undefined)
    return checkedKey(standing, `The file ${file} holds no private key; move it away to have a new one made.`)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await writePrivateFile(file, pem)
  return pem
}

/** The same text; rejected in these words when it is no private key. */
export function checkedKey(pem: string, otherwise: string): string {
  try {
    createPrivateKey(pem)
    return pem
  } catch {
    throw new IssueFault('local', otherwise)
  }
}
