import { Problem } from '../../model/errors.ts'
import { unsafeKeyIn } from '../../primitives/json-keys.ts'

/** Parses JSON from callers: UTF-8 only, no duplicate key in an object, no key that could change a prototype. */
export function parseStrictJson(bytes: Buffer): unknown {
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notJson('The body is not valid JSON.')
  }
  const unsafe = unsafeKeyIn(text)
  if (unsafe !== undefined) throw notJson(unsafe)
  return value
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw notJson('The body is not valid UTF-8.')
  }
}

function notJson(detail: string): Problem {
  return new Problem('invalid_request', detail, { errors: [{ field: 'body', message: detail }] })
}
