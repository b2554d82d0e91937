/**
 * What is wrong with a key in a text that is valid JSON: it is twice in one object, so that two readers could take different values, or
 * it could change a prototype. Undefined if nothing is. A string before a colon is a key. Braces begin and end the keys of an object.
 */
export function unsafeKeyIn(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}]/gs)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token.endsWith(':')) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string
      const keys = open.at(-1)
      if (keys?.has(key)) return `The key ${quoted(key)} is twice in one object.`
      if (key === '__proto__' || key === 'constructor') return `The key ${quoted(key)} is not allowed.`
      keys?.add(key)
    }
  }
  return undefined
}

const quoted = (key: string): string => JSON.stringify(key.slice(0, 64))
