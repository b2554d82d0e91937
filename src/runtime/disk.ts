import { statfs } from 'node:fs/promises'

/** The bytes that are left for this user on the disk of a folder. Undefined for a folder that is not there. */
export const freeBytes = (folder: string): Promise<number | undefined> =>
  statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  )
