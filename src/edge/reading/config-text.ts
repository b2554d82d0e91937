import { draftServer } from './server-draft.ts'
import { type ParsedText, parse, type Statement } from './statements.ts'

/** What is kept of a file. Servers that include nothing are drafted at once, and their statements forgotten. */
export function parseFile(text: string, path: string): ParsedText {
  const { statements, fault } = parse(text)
  return { statements: drafted(statements, path), fault }
}

const drafted = (statements: readonly Statement[], path: string): readonly Statement[] =>
  statements.map((statement) => {
    const { name, args, line, block } = statement
    if (!block) return statement
    if (name === 'http') return { name, args, line, block: drafted(block, path) }
    if (name !== 'server' || hasInclude(block)) return statement
    return { name, args, line, block: undefined, draft: draftServer(statement, path, inItself) }
  })

const inItself = ({ block = [] }: Statement): readonly Statement[] => block

const hasInclude = (block: readonly Statement[]): boolean =>
  block.some(({ name, block: inner }) => name === 'include' || (inner !== undefined && hasInclude(inner)))
