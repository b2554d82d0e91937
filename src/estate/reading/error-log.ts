import { open, stat } from 'node:fs/promises'
import { type Refusal, refusalIn, refusalSentence } from './refusal.ts'

/** Enough for the messages of a failed reload. */
const MAX_BYTES = 256 * 1024

/** The current size of the log; zero when there is no log. */
export const endOfLog = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )

/**
 * Why the master has rejected its configuration since `from`, without text of the log. Undefined if it has not. nginx retries a
 * port that is in use, so a message about such a port alone is not final.
 */
export async function refusalSince(file: string, from: number, master: number): Promise<string | undefined> {
  const lines = (await textSince(file, from)).split('\n').filter((line) => isEmergency(line, master))
  const isFinal = lines.some((line) => !/ (?:bind|listen)\(\) to .* failed \(98: /.test(line))
  return isFinal ? refusalSentence(refusalIn(lines.join('\n'))) : undefined
}

/** `at`: the time of the log line in milliseconds, rounded down to the second. */
export interface LoggedRefusal extends Refusal {
  readonly at: number
}

/** Why nginx last rejected its configuration: the newest message of the running master. Without a master, the last line of the log. */
export async function lastRefusal(file: string, master: number | undefined): Promise<LoggedRefusal | undefined> {
  const lines = (await newestText(file)).split('\n').filter((line) => line !== '')
  const line =
    master === undefined
      ? lines.slice(-1).find((text) => text.includes(' [emerg] '))
      : lines.findLast((text) => isEmergency(text, master))
  if (line === undefined) return undefined
  const refusal = refusalIn(line)
  // The file at fault no longer exists, so the message is out of date.
  if (refusal.file === undefined && / in \/[^"]+:\d+$/.test(line)) return undefined
  return { ...refusal, at: timeOf(line) }
}

/** nginx writes local time without fractions of a second. */
export const timeOf = (line: string): number => {
  const [, year, month, day, time] = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d) /.exec(line) ?? []
  return Date.parse(`${year}-${month}-${day}T${time}`)
}

/** The end of the log. */
export const newestText = async (file: string): Promise<string> =>
  textSince(file, Math.max(0, (await endOfLog(file)) - MAX_BYTES))

const isEmergency = (line: string, master: number): boolean => line.includes(` [emerg] ${master}#${master}: `)

async function textSince(path: string, from: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const start = size < from ? 0 : from // a log that shrank was rotated
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size - start, MAX_BYTES)), 0, null, start)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
