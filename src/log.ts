import { pino } from 'pino'
import { CAPABILITY_ANYWHERE } from './authorize/capability.ts'
import type { Secret } from './config/secret.ts'

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

/** Replaces every capability and every configured secret, as written and as JSON would write it. */
export function scrubber(secrets: readonly Secret[]): (text: string) => string {
  const literals = secrets
    .flatMap((secret) => [secret.reveal(), JSON.stringify(secret.reveal()).slice(1, -1)])
    .filter((literal, index, all) => literal !== '' && all.indexOf(literal) === index)
  return (text) =>
    literals.reduce(
      (line, literal) => line.replaceAll(literal, '[secret]'),
      text.replace(CAPABILITY_ANYWHERE, '[capability]'),
    )
}
