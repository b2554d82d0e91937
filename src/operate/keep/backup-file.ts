import { randomBytes } from 'node:crypto'
import { constants, linkSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { errorCode, syncFolder } from '../../primitives/durable-file.ts'
import type { CopiedTable, RowPage, SnapshotHead } from '../../store/ports/copy.ts'
import { BadBackup, fromFrames, toFrames } from './frames.ts'

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

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

/**
 * Writes a new backup: complete and durable under its name, or not there at all. Overwrites nothing. Resolves with its size. At most one
 * page of rows is in memory.
 */
export async function writeBackup(
  path: string,
  lines: AsyncIterable<BackupLine>,
  passphrase: string | undefined,
): Promise<number> {
  const draft = join(dirname(path), `.${basename(path)}-${randomBytes(8).toString('hex')}`)
  const file = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw new Error(`${path} cannot be written (${errorCode(error) ?? 'unknown reason'}).`)
  })
  try {
    await file.chmod(0o600)
    const size = await fill(file, lines, passphrase)
    await file.sync()
    publish(draft, path)
    await syncFolder(dirname(path))
    return size
  } finally {
    await file.close()
    rmSync(draft, { force: true })
  }
}

async function fill(file: FileHandle, lines: AsyncIterable<BackupLine>, passphrase: string | undefined) {
  const texts = async function* () {
    for await (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`)
  }
  let size = 0
  await pipeline(texts, createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const frame of toFrames(compressed, passphrase)) {
      await file.writeFile(frame)
      size += frame.length
    }
  })
  return size
}

/** A link is refused where a file exists; a rename would replace it. */
function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (errorCode(error) === 'EEXIST')
      throw new Error(`${path} exists already. It was not overwritten. Name a new file.`)
    throw error
  }
}

/** A line holds at most one page of rows. */
const MOST_LINE_BYTES = 512 * 1024 * 1024

/** The lines of a backup. Rejects with BadBackup if it was changed, cut off, or cannot be opened. */
export async function* readBackup(path: string, passphrase: string | undefined): AsyncGenerator<BackupLine> {
  const file = await open(path, O_RDONLY).catch((error: unknown) => {
    throw new BadBackup(`${path} cannot be read (${errorCode(error) ?? 'unknown reason'}).`)
  })
  const gunzip = createGunzip()
  try {
    // The error reaches whoever reads the other end.
    pipeline(Readable.from(fromFrames(file, passphrase)), gunzip).catch(() => undefined)
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
  } catch (error) {
    throw error instanceof BadBackup ? error : notReadable()
  } finally {
    gunzip.destroy()
    await file.close()
  }
}

const notReadable = (): Error => new BadBackup('The content of the backup cannot be read. Nothing of it was used.')

const parsed = (line: Buffer): BackupLine => JSON.parse(line.toString('utf8')) as BackupLine
