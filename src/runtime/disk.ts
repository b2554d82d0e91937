import { statfs } from 'node:fs/promises'

/** The free bytes for this user on the disk of a folder. Undefined if the folder does not exist. */
export const freeBytes = (folder: string): Promise<number | undefined> =>
  statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  )

/** SQLite needs some pages of its log for the smallest change. */
const LEAST_BYTES = 1024 * 1024

/** A sentence for each folder whose disk is full, in bytes or in files. Checked anew at every call. `nameOf`: how the sentence calls it. */
export async function fullDisks(folders: readonly string[], nameOf = (folder: string) => folder): Promise<string[]> {
  const sentences = await Promise.all([...new Set(folders)].map((folder) => fullDisk(folder, nameOf(folder))))
  return sentences.filter((sentence) => sentence !== undefined)
}

async function fullDisk(folder: string, name: string): Promise<string | undefined> {
  const found = await statfs(folder).catch(() => undefined)
  if (!found) return undefined
  const bytes = found.bavail * found.bsize
  // Some file systems do not count files.
  const hasNoFiles = found.files > 0 && found.ffree === 0
  if (bytes >= LEAST_BYTES && !hasNoFiles) return undefined
  const left = hasNoFiles ? 'no further files' : `${Math.floor(bytes / 1024)} KiB left`
  return `The disk of ${name} is full (${left}), so changes are refused.`
}
