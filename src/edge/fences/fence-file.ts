import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { type FenceLine, lineIn } from './fence-lines.ts'

const { O_NOFOLLOW, O_NONBLOCK } = constants

export const HEADER_LENGTH = 32
export const newHeader = (): string =>
  `# Fences ${randomBytes(16).toString('hex')}: epoch, number, host and store of the newest runs. Do not edit.\n`

/** The complete lines from an offset on, and where they end. */
export function linesFrom(descriptor: number, offset: number): { lines: FenceLine[]; end: number } {
  const bytes = bytesAt(descriptor, offset, Math.max(0, fstatSync(descriptor).size - offset))
  const length = bytes.lastIndexOf('\n') + 1
  const texts = bytes.toString('latin1', 0, length).split('\n')
  return { lines: texts.flatMap((text) => lineIn(text) ?? []), end: offset + length }
}

/** What identifies the file: the system may give the number of a removed inode to a new one. */
export const headerOf = (descriptor: number): string => bytesAt(descriptor, 0, HEADER_LENGTH).toString('latin1')

function bytesAt(descriptor: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset))
}

export function withOpened<T>(path: string, flags: number, work: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK)
  try {
    return work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function statOf(path: string): { ino: number; size: number; ctimeMs: number; isFile: boolean } {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found ? { ...found, isFile: found.isFile() } : { ino: 0, size: 0, ctimeMs: 0, isFile: true }
}
