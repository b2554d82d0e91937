const NEW_LINE = 10
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const HYPHEN = 45
const EQUALS = 61
const OPEN_BRACKET = 91
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** Whether the block of a directive contains Lua instead of directives. */
export const isLuaBlock = (directive: string): boolean => directive.endsWith('_by_lua_block')

/**
 * The index after the `}` that ends a block of Lua, as OpenResty finds it: braces in strings, long brackets and comments do not count.
 * `start` is the index after the `{`. Undefined when the block does not end.
 */
export function endOfLua(text: string, start: number): number | undefined {
  let depth = 1
  for (let at = start; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === OPEN_BRACE) depth += 1
    else if (code === CLOSE_BRACE) depth -= 1
    if (depth === 0) return at + 1
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) at = afterQuotation(text, at, code)
    else if (code === OPEN_BRACKET) at = afterLongBracket(text, at) ?? at + 1
    else if (code === HYPHEN && text.charCodeAt(at + 1) === HYPHEN) at = afterComment(text, at)
    else at += 1
  }
  return undefined
}

/** A quotation ends on its line, unless the line feed is escaped. An unclosed quotation mark does not start a quotation. */
function afterQuotation(text: string, start: number, quote: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    if (code === BACKSLASH) at += 1
    else if (code === NEW_LINE) break
  }
  return start + 1
}

/** `[[ … ]]`, `[=[ … ]=]`. Undefined if no long bracket begins here. An unclosed long bracket extends to the end of the text. */
function afterLongBracket(text: string, start: number): number | undefined {
  let at = start + 1
  while (text.charCodeAt(at) === EQUALS) at += 1
  if (text.charCodeAt(at) !== OPEN_BRACKET) return undefined
  const closing = `]${'='.repeat(at - start - 1)}]`
  const end = text.indexOf(closing, at + 1)
  return end === -1 ? text.length : end + closing.length
}

function afterComment(text: string, start: number): number {
  const bracket = start + 2
  const long = text.charCodeAt(bracket) === OPEN_BRACKET ? afterLongBracket(text, bracket) : undefined
  if (long !== undefined) return long
  const end = text.indexOf('\n', bracket)
  return end === -1 ? text.length : end
}
