import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { errorCode } from '../primitives/durable-file.ts'
import { UsageError } from '../terminal/declare.ts'

/** The first line of a file that only its owner may read. `what` names the file in a refusal. Nothing of its content is part of an error. */
export function privateLine(file: string, what: string): string {
  const descriptor = opened(file, what)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new UsageError(`The ${what} ${file} is not a regular file.`)
    if (stats.mode & 0o077)
      throw new UsageError(`The ${what} ${file} is open to other users than its owner. Run: chmod 0600 ${file}`)
    return readFileSync(descriptor, 'utf8').split(/\r?\n/)[0] ?? ''
  } finally {
    closeSync(descriptor)
  }
}

/** Does not wait for a pipe. */
function opened(file: string, what: string): number {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw new UsageError(`The ${what} ${file} cannot be read (${errorCode(error) ?? 'unknown reason'}).`)
  }
}
