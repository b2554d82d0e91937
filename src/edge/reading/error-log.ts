import { open, stat } from 'node:fs/promises'
import { type Refusal, refusalIn, refusalSentence } from './refusal.ts'

/** Enough for what a failing reload says. */
const MAX_BYTES = 256 * 1024

/** How long the log is now: what comes after this is news. Zero when there is none. */
export const endOfLog = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )

/**
 * Why the master gave up loading its configuration since then, in our words; undefined when it did not. A port that is
 * taken is tried again for a while, so only the last word on it counts.
 */
export async function refusalSince(file: string, from: number, master: number): Promise<string | undefined> {
  const lines = (await textSince(file, from)).split('\n').filter((line) => isEmergency(line, master))
  const isFinal = lines.some((line) => !/ (?:bind|listen)\(\) to .* failed \(98: /.test(line))
  return isFinal ? refusalSentence(refusalIn(lines.join('\n'))) : undefined
}

/** A refusal, and the second in which the log tells of it. */
export interface LoggedRefusal extends Refusal {
  readonly at: number
}

/** Why nginx refused its configuration last: the master's word while there is one, and otherwise what is the log's last. */
export async function lastRefusal(file: string, master: number | undefined): Promise<LoggedRefusal | undefined> {
  const lines = (await newestText(file)).split('\n').filter((line) => line !== '')
  const line =
    master === undefined
      ? lines.slice(-1).find((text) => text.includes(' [emerg] '))
      : lines.findLast((text) => isEmergency(text, master))
  if (line === undefined) return undefined
  const refusal = refusalIn(line)
  // The file that was at fault is gone, and the fault with it.
  if (refusal.file === undefined && / in \/[^"]+:\d+$/.test(line)) return undefined
  return { ...refusal, at: timeOf(line) }
}

/** nginx writes local time, to the second. */
export const timeOf = (line: string): number => {
  const [, year, month, day, time] = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d) /.exec(line) ?? []
  return Date.parse(`${year}-${month}-${day}T${time}`)
}

/** The end of the log, however long it is. */
export const newestText = async (file: string): Promise<string> =>
  textSince(file, Math.max(0, (await endOfLog(file)) - MAX_BYTES))

const isEmergency = (line: string, master: number): boolean => line.includes(` [emerg] ${master}#${master}: `)

async function textSince(path: string, from: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const start = size < from ? 0 : from // a log that shrank was begun anew
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size - start, MAX_BYTES)), 0, null, start)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
