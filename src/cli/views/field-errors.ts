import { span } from '../../terminal/text.ts'

interface FieldError {
  readonly field: string
  readonly message: string
}

/** What a person types for each field of the API. */
const FLAGS: readonly (readonly [field: RegExp, typed: string])[] = [
  [/^(?:zone|subdomain)$/, 'The host'],
  [/^host$/, 'The host'],
  [/^planId$/, 'The plan id'],
  [/^expiresIn$/, '--expires-in'],
  [/^(?:server|port|health|replaces|owner|note|limit|cursor|after|type|badge|search)$/, '--$&'],
  [/^options\.maxBody$/, '--max-body'],
  [/^options\.timeouts\.connect$/, '--connect-timeout'],
  [/^options\.timeouts(?:\..*)?$/, '--timeout'],
  [/^options\.headers(?:\..*)?$/, '--header'],
  [/^options\.allow(?:\..*)?$/, '--allow'],
  [/^options\.basicAuth$/, '--basic-auth'],
  [/^options\.backends(?:\..*)?$/, '--backend'],
  [/^options\.backendTls\.name$/, '--backend-name'],
  [/^options\.backendTls(?:\..*)?$/, '--backend-ca'],
  [/^options\.snippets(?:\..*)?$/, '--snippet'],
  [/^options\.maintenance(?:\..*)?$/, '--retry-after'],
]

const typedAs = (field: string): string => {
  const [pattern, typed] = FLAGS.find(([pattern]) => pattern.test(field)) ?? []
  return pattern && typed !== undefined ? field.replace(pattern, typed) : field
}

/** Fields in seconds that a person types as 30m or 2h. */
const DURATIONS = /^(?:expiresIn|options\.timeouts\..*|options\.maintenance\.retryAfter)$/

const inWords = (field: string, message: string): string =>
  message.replace(/^must be ([<>])= (\d+)$/, (_, sign: string, bound: string) => {
    const value = DURATIONS.test(field) ? span(Number(bound) * 1000) : bound
    return `must be ${sign === '>' ? 'at least' : 'at most'} ${value}`
  })

/** One sentence per wrong value, in the words of the command line. A whole sentence of the service stays as it is. */
export const fieldSentences = (errors: readonly FieldError[]): readonly string[] => [
  ...new Set(
    errors.map(({ field, message }) =>
      /^[A-Z]/.test(message) ? message : `${typedAs(field)} ${inWords(field, message)}`,
    ),
  ),
]
