import { randomBytes } from 'node:crypto'
import { constants, linkSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { errorCode, syncFile, syncFolder } from '../../primitives/durable-file.ts'
import { existsAlready, type NamedFile } from '../../runtime/named-file.ts'
import type { CopiedTable, RowPage, SnapshotHead } from '../../store/ports/copy.ts'
import { BadBackup, damaged, decrypted, encrypted } from './age-file.ts'

/** The first line of the content. */
export interface BackupHead extends SnapshotHead {
  /** The version of Drawbridge that made it. */
  readonly version: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A file of the installation. `path` is relative to the state folder; the key file of the store has the path STORE_KEY. */
export interface BackedUpFile {
  readonly path: string
  /** In base64. */
  readonly content: string
}

export const STORE_KEY = 'store.key'

/** One line of the content: the head, then pages of rows, then files, then the sums of all tables. */
export type BackupLine =
  | { readonly head: BackupHead }
  | { readonly page: RowPage }
  | { readonly file: BackedUpFile }
  | { readonly end: { readonly tables: readonly CopiedTable[]; readonly files: number } }

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants

/**
 * Writes a new backup: complete and durable under its name, or not there at all. Overwrites nothing. Resolves with its size. At most one
 * page of rows is in memory. A file that root has created stays there, empty, if this fails: its folder may be closed to this user.
 */
export async function writeBackup(
  target: NamedFile,
  lines: AsyncIterable<BackupLine>,
  passphrase: string | undefined,
): Promise<number> {
  const { path, created } = target
  if (!created) return writeBesideAndPublish(path, lines, passphrase)
  const size = await fill(created, lines, passphrase).catch(async (error: unknown) => {
    await created.truncate()
    throw error
  })
  await target.finish()
  return size
}

async function writeBesideAndPublish(
  path: string,
  lines: AsyncIterable<BackupLine>,
  passphrase: string | undefined,
): Promise<number> {
  const draft = join(dirname(path), `.${basename(path)}-${randomBytes(8).toString('hex')}`)
  const file = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw new Error(`${path} cannot be written (${reasonOf(error)}).`)
  })
  try {
    await file.chmod(0o600)
    const size = await fill(file, lines, passphrase)
    await syncFile(file.fd, path)
    publish(draft, path)
    await syncFolder(dirname(path))
    return size
  } finally {
    await file.close()
    rmSync(draft, { force: true })
  }
}

/** A command of root has the rights of the user of the state folder, unless nobody but root decides where the path leads. */
const reasonOf = (error: unknown): string =>
  errorCode(error) === 'EACCES'
    ? 'EACCES: the user of the state folder needs the right to'
    : (errorCode(error) ?? 'unknown reason')

async function fill(file: FileHandle, lines: AsyncIterable<BackupLine>, passphrase: string | undefined) {
  const texts = async function* () {
    for await (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`)
  }
  let size = 0
  await pipeline(texts, createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const part of await encrypted(compressed, passphrase)) {
      await file.writeFile(part)
      size += part.length
    }
  })
  return size
}

/** A link is refused where a file exists; a rename would replace it. */
function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? existsAlready(path) : error
  }
}

/** A line holds at most one page of rows. */
const MOST_LINE_BYTES = 512 * 1024 * 1024

/** Opens a backup for `readBackup`. The caller closes it. Rejects with BadBackup if it cannot be opened. */
export const openBackup = (source: NamedFile): Promise<FileHandle> =>
  source.toRead().catch((error: unknown) => {
    throw new BadBackup(`${source.path} cannot be read (${reasonOf(error)}).`)
  })

/** The lines of a backup, from its beginning. Rejects with BadBackup if it was changed or cut off. */
export async function* readBackup(file: FileHandle, passphrase: string | undefined): AsyncGenerator<BackupLine> {
  const gunzip = createGunzip()
  try {
    // The error reaches whoever reads the other end.
    pipeline(decrypted(file, passphrase), gunzip).catch(() => undefined)
    let rest: Buffer[] = []
    let size = 0
    for await (const part of gunzip as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = part.indexOf(10); end >= 0; end = part.indexOf(10, from)) {
        yield parsed(Buffer.concat([...rest, part.subarray(from, end)]))
        rest = []
        size = 0
        from = end + 1
      }
      rest.push(part.subarray(from))
      size += part.length - from
      if (size > MOST_LINE_BYTES) throw notReadable()
    }
    // gunzip ignores what follows the end. In an encrypted backup nothing can.
    if (passphrase === undefined && gunzip.bytesWritten !== (await file.stat()).size) throw damaged()
  } catch (error) {
    throw error instanceof BadBackup ? error : notReadable()
  } finally {
    gunzip.destroy()
  }
}

const notReadable = (): Error => new BadBackup('The content of the backup cannot be read. Nothing of it was used.')

const parsed = (line: Buffer): BackupLine => JSON.parse(line.toString('utf8')) as BackupLine
