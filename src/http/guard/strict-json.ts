import { Problem } from '../../model/errors.ts'

/** Parses JSON from callers: UTF-8 only, no duplicate key in an object, no key that could change a prototype. */
export function parseStrictJson(bytes: Buffer): unknown {
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notJson('The body is not valid JSON.')
  }
  refuseUnsafeKeys(text)
  return value
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw notJson('The body is not valid UTF-8.')
  }
}

/** Scans text that is valid JSON. A string before a colon is a key. Braces begin and end the keys of an object. */
function refuseUnsafeKeys(text: string): void {
  const open: Set<string>[] = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}]/gs)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token.endsWith(':')) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string
      const keys = open.at(-1)
      if (keys?.has(key)) throw notJson(`The key ${quoted(key)} is twice in one object.`)
      if (key === '__proto__' || key === 'constructor') throw notJson(`The key ${quoted(key)} is not allowed.`)
      keys?.add(key)
    }
  }
}

const quoted = (key: string): string => JSON.stringify(key.slice(0, 64))

function notJson(detail: string): Problem {
  return new Problem('invalid_request', detail, { errors: [{ field: 'body', message: detail }] })
}
