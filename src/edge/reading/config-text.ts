import { draftServer } from './server-draft.ts'
import { type Content, type ParsedText, parse, type Statement } from './statements.ts'

/** What is kept of a file. Servers that include nothing are drafted at once, and their statements forgotten. */
export const parseFile = (text: string, content: Content, path: string): ParsedText =>
  parse(text, content, (ended) => {
    const { name, args, line, block = [] } = ended
    if (name !== 'server' || hasInclude(block)) return ended
    return { name, args, line, block: undefined, draft: draftServer(ended, path, inItself) }
  })

const inItself = ({ block = [] }: Statement): readonly Statement[] => block

const hasInclude = (block: readonly Statement[]): boolean =>
  block.some(({ name, block: inner }) => name === 'include' || (inner !== undefined && hasInclude(inner)))
