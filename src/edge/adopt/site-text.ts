import { Tokens, UnreadableText } from '../reading/text/tokens.ts'

/** One directive of a site with its place. `block`: its content, with every include replaced by the content of its files. */
export interface SiteDirective {
  readonly name: string
  readonly args: readonly string[]
  readonly path: string
  readonly line: number
  readonly block: readonly SiteDirective[] | undefined
  /** Its place in the text of its file, its `;` or `}` included. */
  readonly start: number
  readonly end: number
}

/** The content of the files that an include names, in the order of nginx. */
export type Included = (pattern: string) => readonly SiteDirective[]

/** Every directive of a text, blocks with their content. Throws UnreadableText. */
export function readSite(path: string, text: string, include: Included): SiteDirective[] {
  const tokens = new Tokens(text)
  const read = (isInside: boolean): { readonly found: SiteDirective[]; readonly end: number } => {
    const found: SiteDirective[] = []
    while (tokens.next()) {
      if (tokens.kind === '}' && isInside) return { found, end: tokens.end }
      const { kind, start, line } = tokens
      if (kind !== 'word') throw new UnreadableText(`a ${kind} is in the place of a directive`, line)
      const name = tokens.word()
      const args = argumentsIn(tokens)
      const opens = (tokens.kind as string) === '{'
      const content = opens ? read(true) : undefined
      const directive = { name, args, path, line, start, block: content?.found, end: content?.end ?? tokens.end }
      if (name !== 'include') found.push(directive)
      else found.push(...include(args[0] ?? ''))
    }
    if (isInside) throw new UnreadableText('the file ends inside a block', tokens.line)
    return { found, end: text.length }
  }
  return read(false).found
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
