import { visit } from '../nginx-text.ts'
import { type Token, UnreadableText, wordIn } from '../nginx-tokens.ts'
import type { ServerDraft } from './drafts.ts'

/** One directive of a file, and what is in its block. Of the many that there are, those that say who serves what. */
export interface Statement {
  readonly name: string
  readonly args: readonly string[]
  readonly line: number
  readonly block: readonly Statement[] | undefined
  /** In place of its block, where a server is all in one file. */
  readonly draft?: ServerDraft | undefined
}

export interface ParsedText {
  /** All up to the fault, where there is one. */
  readonly statements: readonly Statement[]
  readonly fault: UnreadableText | undefined
}

const KEPT = new Map(
  [
    'http',
    'include',
    'server',
    'listen',
    'server_name',
    'ssl',
    'location',
    'if',
    'limit_except',
    'proxy_pass',
    'return',
    'set',
    'upstream',
    'map',
  ].map((name) => [name, name]),
)

interface OpenBlock {
  /** Undefined: nothing of it is kept. */
  readonly statements: Statement[] | undefined
  /** What stands in a map are not directives. */
  readonly isMap: boolean
}

/** Never throws: a fault is told beside what could be read. */
export function parse(text: string): ParsedText {
  const top: OpenBlock = { statements: [], isMap: false }
  const blocks = [top]
  const add = ([first, ...rest]: readonly Token[], block?: Statement[]): string | undefined => {
    const { statements, isMap } = blocks.at(-1) ?? top
    const name = first && (isMap ? ownWord(text, first) : KEPT.get(wordIn(text, first)))
    if (!statements || name === undefined) return undefined
    statements.push({ name, args: rest.map((word) => ownWord(text, word)), line: first?.line ?? 0, block })
    return name
  }
  const open = (words: readonly Token[]): void => {
    const statements: Statement[] = []
    const name = add(words, statements)
    blocks.push({ statements: name === undefined ? undefined : statements, isMap: name === 'map' })
  }
  const statements = top.statements ?? []
  try {
    visit(text, { directive: (words) => add(words), open, close: () => blocks.pop() })
  } catch (error) {
    if (!(error instanceof UnreadableText)) throw error
    return { statements, fault: error }
  }
  return { statements, fault: undefined }
}

/** A copy: a slice would keep the whole text in memory for as long as it lives. */
function ownWord(text: string, token: Token): string {
  const word = wordIn(text, token)
  return word.length < LONGEST_COPY ? word : Buffer.from(word).toString()
}

/** Shorter slices are copies anyway. */
const LONGEST_COPY = 13
