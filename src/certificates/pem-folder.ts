import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** More files than this are not a folder of certificates. */
const MOST_FILES = 10_000

export interface FileStamp {
  readonly path: string
  /** Changes whenever the file is replaced or written to. */
  readonly stamp: string
}

/** The regular files in a folder and in its subfolders, one level deep; links are followed. A missing folder is empty. */
export async function listFiles(folder: string): Promise<FileStamp[]> {
  const { files, folders } = await listOne(folder)
  const deeper = await Promise.all(folders.map(listOne))
  return [...files, ...deeper.flatMap((listing) => listing.files)].slice(0, MOST_FILES)
}

async function listOne(folder: string): Promise<{ files: FileStamp[]; folders: string[] }> {
  const names = await readdir(folder).catch(() => [])
  const entries = await Promise.all(names.slice(0, MOST_FILES).map((name) => lookAt(join(folder, name))))
  return {
    files: entries.flatMap((entry) => (entry?.kind === 'file' ? [{ path: entry.path, stamp: entry.stamp }] : [])),
    folders: entries.flatMap((entry) => (entry?.kind === 'folder' ? [entry.path] : [])),
  }
}

async function lookAt(path: string) {
  const entry = await stat(path, { bigint: true }).catch(() => undefined)
  if (entry?.isDirectory()) return { kind: 'folder' as const, path }
  if (!entry?.isFile()) return undefined
  return { kind: 'file' as const, path, stamp: `${entry.dev} ${entry.ino} ${entry.size} ${entry.mtimeNs}` }
}
