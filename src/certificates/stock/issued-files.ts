import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isCertificateName } from '../../model/dns-name.ts'
import { escapeText } from '../../model/escape-text.ts'
import { syncFolder } from '../../primitives/durable-file.ts'
import { IssueFault } from '../contract.ts'
import { makePrivateFolder, writePrivateFile } from './private-file.ts'

/** The files of one order below the state folder. Every folder has mode 0700. */
export interface OrderFiles {
  /** Used by this order only. */
  readonly folder: string
  /** Written before the order is placed, so that the key of an issued certificate is never lost. */
  readonly key: string
}

const ISSUED = 'certificates'

/** Issued certificates, one folder per first name. The inventory must read this folder. */
export const issuedFolder = (stateDir: string): string => join(stateDir, ISSUED)

export const accountKeyPath = (stateDir: string, directory: string): string =>
  join(stateDir, 'acme', digest(directory), 'account.key')

/** Like `accountKeyPath`, but creates the folder. */
export async function accountKeyFile(stateDir: string, directory: string): Promise<string> {
  await makePrivateFolder(stateDir, 'acme', digest(directory))
  return accountKeyPath(stateDir, directory)
}

export async function orderFiles(stateDir: string, directory: string, names: string): Promise<OrderFiles> {
  const folder = await makePrivateFolder(stateDir, 'acme', digest(directory), 'orders', digest(names))
  return { folder, key: join(folder, 'privkey.pem') }
}

/** Outside the order's folder: it outlives the order when a proof could not be withdrawn. */
export const proofsFile = (stateDir: string, directory: string, names: string): string =>
  join(stateDir, 'acme', digest(directory), 'proofs', `${digest(names)}.json`)

/** Must be called before a proof is recorded. Withdrawing proofs does not need the folder. */
export const makeProofsFolder = (stateDir: string, directory: string): Promise<string> =>
  makePrivateFolder(stateDir, 'acme', digest(directory), 'proofs')

/**
 * A reader finds the old pair or the new pair, each complete and in one folder, also after a crash at any point. The old pair
 * is kept until the next installation, because hosts may still use it.
 */
export async function installPair(
  stateDir: string,
  order: OrderFiles,
  name: string,
  pair: { readonly certificatePem: string; readonly keyPem: string },
): Promise<{ certificateFile: string; keyFile: string }> {
  const live = liveFolder(stateDir, name)
  const staged = await makePrivateFolder(order.folder, 'issued')
  await writePrivateFile(join(staged, 'fullchain.pem'), pair.certificatePem)
  await writePrivateFile(join(staged, 'privkey.pem'), pair.keyPem)
  const issued = await makePrivateFolder(stateDir, ISSUED)
  await replaceFolder(staged, live, join(issued, previousName(name)))
  await syncFolder(issued)
  return issuedPair(stateDir, name)
}

/**
 * The name may come from a store that an attacker wrote: refuse any text that is not a name, because it could lead to another
 * folder.
 */
function liveFolder(stateDir: string, name: string): string {
  if (!isCertificateName(name))
    throw new IssueFault('local', `${escapeText(name)} is not a name of a certificate. Nothing was written for it.`)
  return join(issuedFolder(stateDir), folderName(name))
}

/** Where the inventory looks for the pairs of a name: the present one, and the one before. `issued`: the folder of all of them. */
export const foldersOfName = (issued: string, name: string): readonly string[] =>
  isCertificateName(name) ? [join(issued, folderName(name)), join(issued, previousName(name))] : []

/** The folder of a file, and where that folder is moved when another pair takes its place. */
export const foldersOfPair = (issued: string, file: string): readonly string[] => [
  dirname(file),
  ...foldersOfName(issued, basename(dirname(file)).replace('_wildcard', '*')),
]

/** Where the present pair of a name is, once it is installed. */
const issuedPair = (stateDir: string, name: string): { certificateFile: string; keyFile: string } => ({
  certificateFile: join(liveFolder(stateDir, name), 'fullchain.pem'),
  keyFile: join(liveFolder(stateDir, name), 'privkey.pem'),
})

const PREVIOUS = '.previous-'

const folderName = (name: string): string => name.replace('*', '_wildcard')

const previousName = (name: string): string => `${PREVIOUS}${digest(name)}`

/** Whether a file belongs to the pair before the current one. */
export const isPreviousPair = (path: string): boolean => isPreviousFolder(dirname(path))

export const isPreviousFolder = (folder: string): boolean => basename(folder).startsWith(PREVIOUS)

/** Renames an existing folder to `aside`, where the inventory still finds it. */
async function replaceFolder(from: string, to: string, aside: string): Promise<void> {
  if (existsSync(to)) {
    await rm(aside, { recursive: true, force: true })
    await rename(to, aside)
  }
  await rename(from, to)
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
