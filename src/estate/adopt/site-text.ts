import { isLuaBlock } from '../reading/text/lua.ts'
import { Tokens, UnreadableText } from '../reading/text/tokens.ts'

/** One directive of a site with its position. `block`: its content, with every include replaced by the content of its files. */
export interface SiteDirective {
  readonly name: string
  readonly args: readonly string[]
  readonly path: string
  readonly line: number
  readonly block: readonly SiteDirective[] | undefined
  /** Its range in the text of its file, including its `;` or `}`. */
  readonly start: number
  readonly end: number
  /** The directive includes a file that was not read. The value is the reason, as a clause. The content of the file is unknown. */
  readonly unread?: string | undefined
}

/**
 * The content of the files that an include names, in the order of nginx. For a file that was not read, the include itself is
 * returned, marked as `unread`: a judgement must not treat the block as empty.
 */
export type Included = (pattern: string, include: SiteDirective) => readonly SiteDirective[]

/** Blocks are read by recursion, so their depth is limited. */
const MAX_DEPTH = 200

/** Every directive of a text, blocks with their content. Throws UnreadableText. */
export function readSite(path: string, text: string, include: Included): SiteDirective[] {
  const tokens = new Tokens(text)
  const read = (depth: number): { readonly found: SiteDirective[]; readonly end: number } => {
    if (depth > MAX_DEPTH) throw new UnreadableText('blocks are nested too deeply', tokens.line)
    const isInside = depth > 0
    const found: SiteDirective[] = []
    while (tokens.next()) {
      if (tokens.kind === '}' && isInside) return { found, end: tokens.end }
      const { kind, start, line } = tokens
      if (kind !== 'word') throw new UnreadableText(`a ${kind} is in the place of a directive`, line)
      const name = tokens.word()
      const args = argumentsIn(tokens)
      const opens = (tokens.kind as string) === '{'
      const content = opens ? (isLuaBlock(name) ? luaIn(tokens) : read(depth + 1)) : undefined
      const directive = { name, args, path, line, start, block: content?.found, end: content?.end ?? tokens.end }
      if (name !== 'include') found.push(directive)
      else for (const each of include(args[0] ?? '', directive)) found.push(each)
    }
    if (isInside) throw new UnreadableText('the file ends inside a block', tokens.line)
    return { found, end: text.length }
  }
  return read(0).found
}

/** Skips a program of Lua by the rules of Lua. The name of the directive is enough for a judgement. */
function luaIn(tokens: Tokens): { readonly found: SiteDirective[]; readonly end: number } {
  tokens.skipLua()
  return { found: [], end: tokens.end }
}

/** The words up to the `;` or `{` that ends the directive. */
function argumentsIn(tokens: Tokens): string[] {
  const args: string[] = []
  while (tokens.next()) {
    if (tokens.kind === ';' || tokens.kind === '{') return args
    if (tokens.kind === '}') throw new UnreadableText('a } has no matching {', tokens.line)
    args.push(tokens.word())
  }
  throw new UnreadableText('the file ends inside a directive', tokens.line)
}
