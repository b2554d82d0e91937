import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncFolder } from '../../primitives/durable-file.ts'
import { makePrivateFolder, writePrivateFile } from './private-file.ts'

/** Where the files of one order lie, below the state folder. Every folder is for us alone. */
export interface OrderFiles {
  /** Only the order's own. */
  readonly folder: string
  /** Made before the order is placed, so that no certificate is ever issued for a key that is lost. */
  readonly key: string
}

const ISSUED = 'certificates'

/** What was issued lies here, in a folder per first name: the inventory is to read it. */
export const issuedFolder = (stateDir: string): string => join(stateDir, ISSUED)

export const accountKeyPath = (stateDir: string, directory: string): string =>
  join(stateDir, 'acme', digest(directory), 'account.key')

/** The same, its folder made. */
export async function accountKeyFile(stateDir: string, directory: string): Promise<string> {
  await makePrivateFolder(stateDir, 'acme', digest(directory))
  return accountKeyPath(stateDir, directory)
}

export async function orderFiles(stateDir: string, directory: string, names: string): Promise<OrderFiles> {
  const folder = await makePrivateFolder(stateDir, 'acme', digest(directory), 'orders', digest(names))
  return { folder, key: join(folder, 'privkey.pem') }
}

/** Apart from the order's folder, which it outlives while a proof could not be taken away. */
export const proofsFile = (stateDir: string, directory: string, names: string): string =>
  join(stateDir, 'acme', digest(directory), 'proofs', `${digest(names)}.json`)

/** Before a proof is noted. Whoever only takes proofs away needs to write nothing where there are none. */
export const makeProofsFolder = (stateDir: string, directory: string): Promise<string> =>
  makePrivateFolder(stateDir, 'acme', digest(directory), 'proofs')

/**
 * Whoever looks finds the old pair or the new one, each in a folder and whole, also after a crash at any point. The old one
 * stays beside it until it is followed by another: hosts may still be served with it.
 */
export async function installPair(
  stateDir: string,
  order: OrderFiles,
  name: string,
  pair: { readonly certificatePem: string; readonly keyPem: string },
): Promise<{ certificateFile: string; keyFile: string }> {
  const staged = await makePrivateFolder(order.folder, 'issued')
  await writePrivateFile(join(staged, 'fullchain.pem'), pair.certificatePem)
  await writePrivateFile(join(staged, 'privkey.pem'), pair.keyPem)
  const issued = await makePrivateFolder(stateDir, ISSUED)
  const live = join(issued, name.replace('*', '_wildcard'))
  await replaceFolder(staged, live, join(issued, `${PREVIOUS}${digest(name)}`))
  await syncFolder(issued)
  return { certificateFile: join(live, 'fullchain.pem'), keyFile: join(live, 'privkey.pem') }
}

const PREVIOUS = '.previous-'

/** Whether a file belongs to the pair before the current one. */
export const isPreviousPair = (path: string): boolean => basename(dirname(path)).startsWith(PREVIOUS)

/** What stands there is put aside, where it is still found. */
async function replaceFolder(from: string, to: string, aside: string): Promise<void> {
  if (existsSync(to)) {
    await rm(aside, { recursive: true, force: true })
    await rename(to, aside)
  }
  await rename(from, to)
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
