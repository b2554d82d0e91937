import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const MAX_FILE_BYTES = 256 * 1024
const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,64})-----(?:[^-]|-(?!----))*-----END \1-----/g

/** The content of one file. Private keys are not kept: the digest of the public key is enough to find the certificate. */
export interface PemFile {
  /** The leaf is the first. */
  readonly certificates: readonly X509Certificate[]
  readonly keyDigests: readonly string[]
}

/** The message is a clause that continues "the file" and contains nothing of the content. */
export class UnusablePemFile extends Error {
  override readonly name = 'UnusablePemFile'
}

export interface PemTexts {
  readonly certificates: readonly string[]
  readonly keys: readonly string[]
}

/** The lists are empty for a file without PEM text. Rejects with `UnusablePemFile`. */
export async function readPemFile(path: string): Promise<PemFile> {
  const { certificates, keys } = await readPemTexts(path)
  return { certificates: certificates.map(parseCertificate), keyDigests: keys.map(keyDigest) }
}

export const readPemTexts = async (path: string): Promise<PemTexts> => splitPem(await readBounded(path))

export function splitPem(content: string): PemTexts {
  const blocks = [...content.matchAll(BLOCK)].map(([text, label = '']) => ({ text, label }))
  if (content.split('-----BEGIN ').length - 1 > blocks.length) throw new UnusablePemFile('has incomplete PEM text')
  return {
    certificates: blocks.flatMap(({ text, label }) => (label === 'CERTIFICATE' ? [text] : [])),
    keys: blocks.flatMap(({ text, label }) => (label.endsWith('PRIVATE KEY') ? [text] : [])),
  }
}

export const parseCertificate = (text: string): X509Certificate => parse('certificate', () => new X509Certificate(text))

/** The digest of the public key. */
export const keyDigest = (text: string): string =>
  parse('private key', () => publicKeyDigest(createPublicKey(readKey(text))))

/** A private key and its certificate have the same digest. */
export const publicKeyDigest = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')

/** Does not wait for a pipe, and reads a limited number of bytes. */
async function readBounded(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    throw new UnusablePemFile(`cannot be opened (${error.code})`)
  })
  try {
    const { size } = await file.stat()
    if (size > MAX_FILE_BYTES) throw new UnusablePemFile(`is larger than ${MAX_FILE_BYTES / 1024} KiB`)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function readKey(text: string): KeyObject {
  if (/ENCRYPTED/.test(text)) throw new UnusablePemFile('has an encrypted private key')
  return createPrivateKey(text)
}

function parse<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof UnusablePemFile ? error : new UnusablePemFile(`has a ${what} that cannot be read`)
  }
}

export interface FileStamp {
  readonly path: string
  /** Changes whenever the file is replaced or written to. */
  readonly stamp: string
}

export interface Listing {
  readonly folder: string
  readonly files: readonly FileStamp[]
  /** How many files there are, if more than `files` has. */
  readonly cutFrom?: number
}

/** The regular files in a folder and in its subfolders, one level deep; links are followed. A missing folder is empty. */
export async function listFiles(folder: string, most = Number.POSITIVE_INFINITY): Promise<Listing> {
  const { files, folders } = await listOne(folder)
  const all = [...files]
  for (const deeper of folders) all.push(...(await listOne(deeper)).files)
  return all.length > most ? { folder, files: all.slice(0, most), cutFrom: all.length } : { folder, files: all }
}

/** In batches: every call takes a place in the queue of the file threads. */
const STAT_AT_ONCE = 64

async function listOne(folder: string): Promise<{ files: FileStamp[]; folders: string[] }> {
  const names = await readdir(folder).catch(() => [])
  const files: FileStamp[] = []
  const folders: string[] = []
  for (let from = 0; from < names.length; from += STAT_AT_ONCE) {
    const some = names.slice(from, from + STAT_AT_ONCE)
    for (const entry of await Promise.all(some.map((name) => statEntry(join(folder, name)))))
      if (entry?.kind === 'file') files.push({ path: entry.path, stamp: entry.stamp })
      else if (entry) folders.push(entry.path)
  }
  return { files, folders }
}

async function statEntry(path: string) {
  const entry = await stat(path, { bigint: true }).catch(() => undefined)
  if (entry?.isDirectory()) return { kind: 'folder' as const, path }
  if (!entry?.isFile()) return undefined
  return { kind: 'file' as const, path, stamp: stampIn(entry) }
}

/** The stamp of a file or folder. Undefined if there is none. */
export const stampOf = async (path: string): Promise<string | undefined> => {
  const entry = await stat(path, { bigint: true }).catch(() => undefined)
  return entry && stampIn(entry)
}

const stampIn = ({ dev, ino, size, mtimeNs }: BigIntStats): string => `${dev} ${ino} ${size} ${mtimeNs}`
