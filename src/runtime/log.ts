import { pino } from 'pino'
import { hideCapabilities } from '../authorize/credentials.ts'
import type { Secret } from '../config/secret.ts'

export type Log = ReturnType<typeof createLog>

/**
 * One JSON line per event on standard output. The finished line is scrubbed, not the object: whatever depth a secret
 * hides at, in a key, a message or an error's text, it goes through here.
 */
export function createLog(level: string, secrets: readonly Secret[], sink?: { write(line: string): void }) {
  const scrub = scrubber(secrets)
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: scrub },
  }
  return sink ? pino(options, sink) : pino(options)
}

/**
 * Replaces every capability and every configured secret in a line of JSON. A secret stands in it as JSON writes it, and
 * inside a text that was JSON already as JSON writes that. The longest go first: one may be a part of another.
 */
function scrubber(secrets: readonly Secret[]): (line: string) => string {
  const literals = secrets
    .flatMap((secret) => [asJson(secret.reveal()), asJson(asJson(secret.reveal()))])
    .filter((literal, index, all) => literal !== '' && all.indexOf(literal) === index)
    .sort((a, b) => b.length - a.length)
  return (line) =>
    literals.reduce((scrubbed, literal) => scrubbed.replaceAll(literal, '[secret]'), hideCapabilities(line))
}

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1)
