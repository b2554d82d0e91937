import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { errorCode, syncFileNow } from '../primitives/durable-file.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
/** Node has no name for it. Such a descriptor does not open the file: closing it releases no lock. */
const O_PATH = 0o10000000

const LONGEST = 65_536

/** Reads a small file of the state folder. Follows no link and does not wait for a pipe. Undefined if there is none. */
export function readStateFile(path: string): string | undefined {
  const file = opened(path, O_RDONLY)
  if (file === undefined) return undefined
  try {
    assertOurs(path, file)
    if (fstatSync(file).size > LONGEST) throw new Error(`${path} is too large.`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/**
 * Replaces the file as a whole, for its owner alone: a reader sees the former text or the new one, even after a crash or on a full
 * disk. An existing file must pass the same checks as for reading.
 */
export function writeStateFile(path: string, text: string): void {
  const owner = ownerOf(path)
  const draft = `${path}.new`
  try {
    rmSync(draft, { force: true })
    writeWhole(draft, text, owner)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    if (errorCode(error) !== 'ENOSPC') throw error
    // The error of a call with a descriptor does not name the file.
    throw new Error(`${path} cannot be written (ENOSPC): its disk is full. Free space there.`)
  }
}

/** Undefined if there is no file. */
function ownerOf(path: string): Stats | undefined {
  const file = opened(path, O_PATH)
  if (file === undefined) return undefined
  try {
    assertOurs(path, file)
    return fstatSync(file)
  } finally {
    closeSync(file)
  }
}

function writeWhole(path: string, text: string, owner: Stats | undefined): void {
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    fchmodSync(file, 0o600)
    if (owner && owner.uid !== process.geteuid?.()) fchownSync(file, owner.uid, owner.gid)
    writeFileSync(file, text)
    syncFileNow(file, path)
  } finally {
    closeSync(file)
  }
}

/** Creates an empty file unless it exists, and closes it to other users. The locks of this process on it stay. */
export function prepareStateFile(path: string): void {
  const there = opened(path, O_PATH)
  if (there === undefined) {
    closeSync(openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
    return
  }
  try {
    assertOurs(path, there)
    // This link leads to the file that is open.
    chmodSync(`/proc/self/fd/${there}`, 0o600)
  } finally {
    closeSync(there)
  }
}

function opened(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    if (errorCode(error) === 'ELOOP' || errorCode(error) === 'ENXIO') throw notOurs(path)
    throw error
  }
}

/** Refuses a file with a second name: a write here would change the file there. */
function assertOurs(path: string, file: number): void {
  const found = fstatSync(file)
  if (!found.isFile() || found.nlink > 1) throw notOurs(path)
}

const notOurs = (path: string): Error =>
  new Error(`${path} is not a regular file of its own. Find out who put it there, then move it away.`)
