import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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

/** A reader sees the old text or the new one, and after a power loss too. A draft that a crash left is replaced. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  await writeNew(draft, text, path)
  await rename(draft, path)
  await syncFolder(dirname(path))
}

/** Never replaces anything: rejects with EEXIST where something stands already, a link too. */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  await writeNew(path, text, path)
  await syncFolder(dirname(path))
}

async function writeNew(path: string, text: string, blamed: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    // Errors of an open file do not say which: a full disk would be nobody's.
    throw error instanceof Error ? Object.assign(error, { path: blamed }) : error
  } finally {
    await file.close()
  }
}

/** Its text, or undefined when there is no such file. */
export const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(unless('ENOENT', undefined))

/** Makes what was renamed or removed in it durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const unless =
  <T>(code: string, value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== code) throw error
    return value
  }

/** The key in the file, as PEM; a new one (ECDSA P-256) where there is none. */
export async function keyIn(file: string): Promise<string> {
  const standing = await readIfThere(file)
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
