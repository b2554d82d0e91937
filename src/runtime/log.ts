import { pino } from 'pino'
import { hideCapabilities } from '../authorize/credentials.ts'
import type { Secret } from '../config/secret.ts'
import { derived } from '../primitives/derived.ts'

export type Log = ReturnType<typeof createLog>

/**
 * Writes one JSON line per event to standard output. Secrets are removed from the finished line, not from the object, so
 * that a secret is found at any depth: in a key, a message or the text of an error. The list of secrets may grow: a reload adds to it.
 */
export function createLog(level: string, secrets: readonly Secret[], sink?: { write(line: string): void }) {
  const scrub = scrubber(secrets)
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serialized },
    hooks: { streamWrite: scrub },
  }
  return sink ? pino(options, sink) : pino(options)
}

const MOST_CAUSES = 8

/** Like pino's serializer, but the message of a cause follows as a sentence of its own. */
function serialized(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  return Object.assign(pino.stdSerializers.err(error), { message: messageOf(error, MOST_CAUSES) })
}

function messageOf({ message, cause }: Error, deeper: number): string {
  if (!(cause instanceof Error) || deeper === 0) return message
  return `${message}${/[.!?]$/.test(message) ? ' Cause' : ''}: ${messageOf(cause, deeper - 1)}`
}

/**
 * Replaces every capability and every configured secret in a line of JSON. Searches a secret in its JSON escape, and escaped twice,
 * for a text that was JSON before. Longer secrets go first, because one can be a part of another.
 */
function scrubber(secrets: readonly Secret[]): (line: string) => string {
  const literals = derived(
    () => secrets.length,
    () =>
      secrets
        .flatMap((secret) => [asJson(secret.reveal()), asJson(asJson(secret.reveal()))])
        .filter((literal, index, all) => literal !== '' && all.indexOf(literal) === index)
        .sort((a, b) => b.length - a.length),
  )
  return (line) =>
    literals().reduce((scrubbed, literal) => scrubbed.replaceAll(literal, '[secret]'), hideCapabilities(line))
}

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1)
