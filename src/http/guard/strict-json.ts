import { Problem } from '../../model/errors.ts'

/** JSON as callers must send it: UTF-8, no key twice in one object, no key that reaches a prototype. */
export function parseStrictJson(bytes: Buffer): unknown {
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notJson('The body is not valid JSON.')
  }
  refuseTreacherousKeys(text)
  return value
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw notJson('The body is not valid UTF-8.')
  }
}

/** Walks text that is known to be JSON. A string followed by a colon is a key; braces open and close sets of them. */
function refuseTreacherousKeys(text: string): void {
  const open: Set<string>[] = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}]/gs)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token.endsWith(':')) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string
      const keys = open.at(-1)
      if (keys?.has(key)) throw notJson(`The key ${quoted(key)} stands twice in one object.`)
      if (key === '__proto__' || key === 'constructor') throw notJson(`The key ${quoted(key)} is not allowed.`)
      keys?.add(key)
    }
  }
}

const quoted = (key: string): string => JSON.stringify(key.slice(0, 64))

function notJson(detail: string): Problem {
  return new Problem('invalid_request', detail, { errors: [{ field: 'body', message: detail }] })
}
