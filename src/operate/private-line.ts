import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { Socket } from 'node:net'
import type { Clock } from '../primitives/clock.ts'
import { errorCode } from '../primitives/durable-file.ts'
import { UsageError } from '../terminal/declare.ts'

const LONGEST = 65_536
/** Limits the wait for a pipe without a writer. */
const PATIENCE_MS = 30_000

/**
 * The first line of a file that only its owner may read, or of a pipe: /dev/stdin, or <(…) of a shell. `what` names the file in a
 * refusal. Nothing of its content is part of an error.
 */
export async function privateLine(file: string, what: string, clock: Clock): Promise<string> {
  const descriptor = opened(file, what)
  const stats = fstatSync(descriptor)
  const fault = faultOf(descriptor, stats)
  if (fault !== undefined || stats.isFile()) {
    const text = fault === undefined ? readFileSync(descriptor, 'utf8') : ''
    closeSync(descriptor)
    if (fault !== undefined) throw new UsageError(`The ${what} ${file} ${fault.replaceAll('FILE', file)}`)
    return firstLine(text)
  }
  const text = await lineFrom(new Socket({ fd: descriptor, readable: true, writable: false }), clock)
  if (text !== undefined) return firstLine(text)
  throw new UsageError(
    `The ${what} ${file} is a pipe to which nobody has written a line within ${PATIENCE_MS / 1_000} s.`,
  )
}

const firstLine = (text: string): string => text.split(/\r?\n/)[0] ?? ''

/** Why it is not read. The owner of a file can exchange its text, and others who may read it know it. */
function faultOf(descriptor: number, stats: Stats): string | undefined {
  if (!stats.isFile() && !stats.isFIFO() && !stats.isSocket()) return 'is neither a regular file nor a pipe.'
  // Only the processes of this command line have access to a pipe without a name.
  if (/^(?:pipe|socket):/.test(readlinkSync(`/proc/self/fd/${descriptor}`))) return undefined
  if (stats.mode & 0o077) return 'is open to other users than its owner. Run: chmod 0600 FILE'
  const own = process.geteuid?.() ?? 0
  return stats.uid === own || stats.uid === 0
    ? undefined
    : `belongs to another user (uid ${stats.uid}). Run: chown ${own} FILE`
}

/** Undefined if no line comes in time. */
async function lineFrom(pipe: Socket, clock: Clock): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  let text = ''
  pipe.setEncoding('utf8').on('data', (more: string) => {
    text += more
    if (text.includes('\n') || text.length > LONGEST) resolve(text)
  })
  pipe.once('error', () => resolve(undefined)).once('end', () => resolve(text))
  const timer = clock.after(PATIENCE_MS, () => resolve(undefined))
  return promise.finally(() => {
    timer.cancel()
    pipe.destroy()
  })
}

const STANDARD_INPUT = ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']

/** Does not wait for a pipe. */
function opened(file: string, what: string): number {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    // A socket cannot be opened by its path.
    if (errorCode(error) === 'ENXIO' && STANDARD_INPUT.includes(file) && fstatSync(0).isSocket()) return 0
    throw new UsageError(`The ${what} ${file} cannot be read (${errorCode(error) ?? 'unknown reason'}).`)
  }
}
